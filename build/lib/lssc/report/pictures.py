"""Pictures of one trial on images: landmarks, clusters, confusion matrix and a 2-D view of the embedding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from lssc.data.idx import Bytes
from lssc.report.style import as_text, set_style
from lssc.types import Array, IndexArray

IMAGES_PER_ROW = 30
EXAMPLES_PER_CLUSTER = 24
# Points in a scatter plot; more would hide each other.
MOST_POINTS = 4000
FRAME_COLOUR = "#d55e00"


@dataclass(frozen=True)
class PicturedTrial:
    """One method's trial: the images in the order of the points, with the true class and the cluster of each."""

    label: str
    pixels: Bytes
    truth: IndexArray
    clusters: IndexArray
    landmarks: IndexArray
    vectors: Array
    names: Sequence[str]

    @property
    def n_clusters(self) -> int:
        return len(self.names)


def matched(truth: IndexArray, clusters: IndexArray, n_clusters: int) -> IndexArray:
    """Clusters numbered after the classes, so that as many points as possible have the number of their class."""
    from scipy.optimize import linear_sum_assignment

    true, other = linear_sum_assignment(_counts(truth, clusters, n_clusters), maximize=True)
    name = np.empty(n_clusters, dtype=np.int64)
    name[other] = true
    return name[clusters]


def _counts(truth: IndexArray, clusters: IndexArray, n_clusters: int) -> IndexArray:
    """Points of class i in cluster j. Empty clusters count as well, unlike in the scores."""
    table = np.zeros((n_clusters, n_clusters), dtype=np.int64)
    np.add.at(table, (truth, clusters), 1)
    return table


def draw_landmarks(trials: Sequence[PicturedTrial]) -> Figure:
    """The landmarks of each method, one class after the other."""
    set_style()
    rows = [
        [_rows(trial.landmarks[trial.truth[trial.landmarks] == k]) for k in range(trial.n_clusters)] for trial in trials
    ]
    heights = [sum(max(len(r), 1) for r in groups) for groups in rows]
    figure, panels = _stacked(heights)
    for axes, trial, groups in zip(panels, trials, rows, strict=True):
        counts = np.bincount(trial.truth[trial.landmarks], minlength=trial.n_clusters)
        labels = [as_text(f"{name} ({count})") for name, count in zip(trial.names, counts, strict=True)]
        _mosaic(axes, trial.pixels, groups, labels)
        axes.set_title(as_text(f"{trial.label}: {len(trial.landmarks):,} landmarks"), loc="left")
    return figure


def draw_clusters(trials: Sequence[PicturedTrial], rng: np.random.Generator) -> Figure:
    """Random members of each cluster; those of another class are framed."""
    set_style()
    figure, panels = _stacked([trial.n_clusters for trial in trials])
    for axes, trial in zip(panels, trials, strict=True):
        members = [np.flatnonzero(trial.clusters == k) for k in range(trial.n_clusters)]
        drawn = [[rng.permutation(rows)[:EXAMPLES_PER_CLUSTER]] for rows in members]
        right = [float((trial.truth[rows] == k).mean()) if len(rows) else 0.0 for k, rows in enumerate(members)]
        labels = [
            as_text(f"{name}: {len(rows):,}, {share:.0%} right")
            for name, rows, share in zip(trial.names, members, right, strict=True)
        ]
        _mosaic(axes, trial.pixels, drawn, labels, columns=EXAMPLES_PER_CLUSTER, framed=trial.truth != trial.clusters)
        axes.set_title(as_text(trial.label), loc="left")
    frame = Rectangle((0, 0), 1, 1, fill=False, edgecolor=FRAME_COLOUR, linewidth=1.5, label="of another class")
    panels[0].legend(handles=[frame], loc="lower right", bbox_to_anchor=(1, 1), frameon=False, borderaxespad=0.2)
    return figure


def draw_confusion(trials: Sequence[PicturedTrial]) -> Figure:
    """The number of images of each class in each cluster."""
    set_style()
    size = max(2.6, 0.42 * trials[0].n_clusters + 0.9)
    figure, panels = plt.subplots(1, len(trials), figsize=(size * len(trials) + 0.4, size + 0.5), squeeze=False)
    for axes, trial in zip(panels.flat, trials, strict=True):
        table = _counts(trial.truth, trial.clusters, trial.n_clusters)
        look = {"cmap": "Blues", "cbar": False, "square": True, "linewidths": 0.5}
        small = {"size": 8 if trial.n_clusters <= 5 else 6}
        # Colour by share of the class, so that small classes show as well.
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
        names = list(map(as_text, trial.names))
        sns.heatmap(
            share, annot=table, fmt=",d", annot_kws=small, ax=axes, xticklabels=names, yticklabels=names, **look
        )
        accuracy = (trial.truth == trial.clusters).mean()
        axes.set_title(as_text(f"{trial.label}: {accuracy:.3f}"), fontsize="medium")
        axes.set(xlabel="cluster", ylabel="class" if axes is panels.flat[0] else "")
        axes.tick_params(axis="y", rotation=0)
        if max(map(len, names)) > 3:
            axes.tick_params(axis="x", rotation=90)
    figure.tight_layout()
    return figure


def draw_embedding(trials: Sequence[PicturedTrial], rng: np.random.Generator) -> Figure:
    """The embedding along its two directions of largest variance."""
    set_style()
    figure, panels = plt.subplots(1, len(trials), figsize=(3.3 * len(trials), 3.6), squeeze=False)
    palette = sns.color_palette("colorblind", 10)
    for axes, trial in zip(panels.flat, trials, strict=True):
        plane = _plane(trial.vectors)
        some = np.sort(rng.permutation(len(plane))[:MOST_POINTS])
        wrong = trial.truth[some] != trial.clusters[some]
        colours = np.array(palette)[trial.truth[some] % 10]
        axes.scatter(*plane[some[~wrong]].T, c=colours[~wrong], s=4, alpha=0.5, linewidths=0)
        axes.scatter(*plane[some[wrong]].T, c=colours[wrong], s=14, marker="x", linewidths=0.9)
        axes.set_title(as_text(f"{trial.label}: {(trial.truth == trial.clusters).mean():.3f}"), fontsize="medium")
        axes.set(xticks=[], yticks=[], xlabel="first direction", ylabel="second" if axes is panels.flat[0] else "")
    names = map(as_text, trials[0].names)
    handles = [
        Line2D([], [], marker="o", linestyle="", color=palette[k % 10], label=name) for k, name in enumerate(names)
    ]
    handles.append(Line2D([], [], marker="x", linestyle="", color="grey", label="in a cluster of another class"))
    figure.tight_layout()
    figure.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncol=6, frameon=False)
    return figure


def _plane(vectors: Array) -> Array:
    """Coordinates along the two directions of largest variance."""
    # One cluster has one coordinate; the second is zero.
    centred = np.pad(vectors - vectors.mean(axis=0), [(0, 0), (0, max(0, 2 - vectors.shape[1]))])
    values, axes = np.linalg.eigh(centred.T @ centred)
    return centred @ axes[:, np.argsort(-values)[:2]]


def _stacked(heights: Sequence[int]) -> tuple[Figure, Sequence[plt.Axes]]:
    """Panels above each other, with heights by their numbers of rows."""
    figure, panels = plt.subplots(
        len(heights),
        1,
        figsize=(9, sum(heights) * 0.3 + 0.45 * len(heights)),
        height_ratios=heights,
        squeeze=False,
        layout="constrained",
    )
    return figure, list(panels.flat)


def _rows(indices: IndexArray) -> list[IndexArray]:
    return [indices[i : i + IMAGES_PER_ROW] for i in range(0, len(indices), IMAGES_PER_ROW)]


def _mosaic(
    axes: plt.Axes,
    pixels: Bytes,
    groups: Sequence[Sequence[IndexArray]],
    labels: Sequence[str],
    *,
    columns: int = IMAGES_PER_ROW,
    framed: Array | None = None,
) -> None:
    """Draw images in rows; each group of rows starts with its label."""
    height, width = pixels.shape[1:]
    lines = [line for rows in groups for line in (rows or [np.zeros(0, dtype=np.int64)])]
    canvas = np.full((len(lines) * (height + 2), columns * (width + 2)), 255, dtype=np.uint8)
    for row, line in enumerate(lines):
        for column, point in enumerate(line):
            top, left = row * (height + 2) + 1, column * (width + 2) + 1
            canvas[top : top + height, left : left + width] = 255 - pixels[point]
            if framed is not None and framed[point]:
                look = {"fill": False, "edgecolor": FRAME_COLOUR, "linewidth": 1.5}
                axes.add_patch(Rectangle((left - 1, top - 1), width, height, **look))
    axes.imshow(canvas, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    starts = np.cumsum([0, *(max(len(rows), 1) for rows in groups)])[:-1]
    axes.set_yticks(starts * (height + 2) + height / 2, labels)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    sns.despine(ax=axes, left=True, bottom=True)
