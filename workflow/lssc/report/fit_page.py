"""The page of `lssc fit --report`: sizes, spectrum, embedding and examples of the clusters of one file, in one file."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from lssc import __version__
from lssc.data.files.points import PointsFile
from lssc.errors import InputError
from lssc.metrics import scores
from lssc.parts.registry import find
from lssc.parts.seeding import rng_for
from lssc.report.inlining import Inlined, inlined_figure
from lssc.report.outline import format_value
from lssc.report.pictures import MOST_POINTS, plane
from lssc.report.style import colour, set_style
from lssc.types import Array, IndexArray

TEMPLATE = Path(__file__).parent / "fit.html"
# Values beyond the K-th in the figure of the spectrum.
MORE_VALUES = 5
# Examples of each cluster, and clusters of which examples are drawn.
EXAMPLES, MOST_CLUSTERS = 10, 40
# Fewest pixels of points that are taken for images without a word.
FEWEST_PIXELS = 16

Shape = tuple[int, int]


def image_shape(text: str | None, file: PointsFile) -> Shape | None:
    """Height and width of the images that the points are; without a word, points of a square width are images."""
    D = file.shape[1]
    if text is None:
        side = math.isqrt(D)
        return (side, side) if side * side == D >= FEWEST_PIXELS else None
    if text == "none":
        return None
    if not (sizes := re.fullmatch(r"(\d+)x(\d+)", text)) or int(sizes[1]) * int(sizes[2]) != D:
        raise InputError(f"--image-shape {text}: must be HxW with H times W = {D}, the columns of {file.path}; or none")
    return int(sizes[1]), int(sizes[2])


def fit_page(
    model: Any, file: PointsFile, method: str, seconds: float, shape: Shape | None, messages: list[str]
) -> str:
    """The whole page; the template escapes everything."""
    from jinja2 import Environment, StrictUndefined

    set_style()
    # A whole method, such as k-FSC, has neither codes nor coordinates to draw.
    figures = _figures(model, file, shape) if hasattr(model, "codes_") else {}
    params = {k: v for k, v in used_params(model).items() if k not in ("n_jobs", "verbose") and np.isscalar(v)}
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        version=__version__,
        name=file.path.name,
        shape=file.shape,
        method=method,
        params={key: format_value(value) for key, value in params.items()},
        seconds=seconds,
        steps={kind: f"{value:.2f} s" for kind, value in model.seconds_.items()},
        messages=messages,
        clusters=clusters(model.labels_, model.n_clusters_, file),
        scores=scores(file.labels.numbers, model.labels_) if file.labels else {},
        uncoded=uncoded(model),
        figures=figures,
    )


def _figures(model: Any, file: PointsFile, shape: Shape | None) -> dict[str, Inlined]:
    figures = {
        "spectrum": inlined_figure(draw_spectrum(spectrum(model), len(model.cluster_centers_))),
        "embedding": inlined_figure(draw_plane(model.embedding_, model.labels_, rng_for(0, "fit_page"))),
    }
    if shape:
        figures["examples"] = inlined_figure(draw_examples(file, model, shape))
    return figures


def used_params(model: Any) -> dict[str, Any]:
    """The parameters of the model; the value that was used where one was left open."""
    params = model.get_params()
    return params | {key: getattr(model, f"{key}_") for key in ("lam", "n_landmarks", "n_clusters") if key in params}


def clusters(labels: IndexArray, n_clusters: int, file: PointsFile) -> list[dict[str, Any]]:
    """One line per cluster: its size, and its most frequent true class if classes are known."""
    rows = []
    for cluster in range(n_clusters):
        inside = labels == cluster
        row = {"cluster": cluster, "size": int(inside.sum()), "share": float(inside.mean())}
        if file.labels and row["size"]:
            counts = np.bincount(file.labels.numbers[inside])
            row["most"] = f"{file.labels.names[counts.argmax()]} ({counts.max() / row['size']:.0%})"
        rows.append(row)
    return rows


def uncoded(model: Any) -> float | None:
    """The share of points without a code; None if the method makes no codes."""
    return float((np.diff(model.codes_.indptr) == 0).mean()) if hasattr(model, "codes_") else None


def spectrum(model: Any) -> Array:
    """The first eigenvalues or singular values of the embedding, a few beyond the K-th."""
    codes, K = model.codes_, len(model.cluster_centers_)
    name, params = model._parts(codes.shape[0])["embedder"]
    count = max(K, min(K + MORE_VALUES, codes.shape[1] - 1))
    return find("embedder", name)(codes, n_clusters=count, rng=rng_for(0, "spectrum"), threads=1, **params).values


def draw_spectrum(values: Array, n_clusters: int) -> Figure:
    """Values by rank; those of the embedding are filled."""
    figure, axes = plt.subplots(figsize=(4.6, 3.2), layout="constrained")
    ranks = np.arange(1, len(values) + 1)
    for chosen, fill in ((ranks <= n_clusters, colour(0)), (ranks > n_clusters, "white")):
        axes.plot(ranks[chosen], values[chosen], "o", color=colour(0), markerfacecolor=fill)
    axes.axvline(n_clusters + 0.5, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlabel="rank", ylabel="eigenvalue or singular value")
    axes.xaxis.get_major_locator().set_params(integer=True)
    return figure


def draw_plane(vectors: Array, labels: IndexArray, rng: np.random.Generator) -> Figure:
    """The embedding along its two directions of largest variance, coloured by cluster."""
    figure, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
    some = np.sort(rng.permutation(len(vectors))[:MOST_POINTS])
    flat = plane(vectors)[some]
    for cluster in np.unique(labels[some]):
        inside = labels[some] == cluster
        axes.scatter(*flat[inside].T, s=5, alpha=0.6, linewidths=0, color=colour(int(cluster)))
        axes.text(*flat[inside].mean(axis=0), str(cluster), weight="bold", ha="center")
    axes.set(xticks=[], yticks=[], xlabel="first direction", ylabel="second direction")
    return figure


def nearest_to_centres(model: Any) -> list[IndexArray]:
    """The members of each cluster that are nearest to its centre, nearest first."""
    found = []
    for cluster, centre in enumerate(model.cluster_centers_[:MOST_CLUSTERS]):
        members = np.flatnonzero(model.labels_ == cluster)
        distances = ((model.embedding_[members] - centre) ** 2).sum(axis=1)
        found.append(members[np.argsort(distances, kind="stable")[:EXAMPLES]])
    return found


def draw_examples(file: PointsFile, model: Any, shape: Shape) -> Figure:
    """The images nearest to each centre, one row per cluster."""
    rows, (height, width) = nearest_to_centres(model), shape
    canvas = np.full((len(rows) * (height + 1), EXAMPLES * (width + 1)), np.nan)
    for place, members in enumerate(rows):
        for column, image in enumerate(file.checked_rows(members).reshape(len(members), height, width)):
            top, left = place * (height + 1), column * (width + 1)
            canvas[top : top + height, left : left + width] = image
    figure, axes = plt.subplots(figsize=(5.2, 5.2 * canvas.shape[0] / canvas.shape[1]), layout="constrained")
    axes.imshow(canvas, cmap="gray_r", interpolation="nearest")
    axes.set_yticks(np.arange(len(rows)) * (height + 1) + height / 2, [str(k) for k in range(len(rows))])
    axes.set_xticks([])
    axes.grid(visible=False)
    axes.set(ylabel="cluster", frame_on=False)
    return figure
