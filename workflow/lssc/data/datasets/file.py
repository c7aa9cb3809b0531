"""Points of one's own file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from lssc.data.files.content import content_of
from lssc.data.files.points import PointsFile
from lssc.errors import InputError
from lssc.linalg.pca import fit_pca
from lssc.parts.params import AtLeast, AtMost, Text
from lssc.parts.registry import component
from lssc.types import Array, IndexArray, Points, RowBlocks, fits_in_memory

# Stands for a file whose content is not known yet; a run fills it in when it starts.
ANY = "any"


@component("dataset", "file")
def file(
    n: int,
    *,
    path: Text,
    key: Text = "auto",
    labels: Text = "none",
    labels_key: Text = "auto",
    header: Literal["auto", "first_row", "none"] = "auto",
    centre: bool = False,
    dim: Annotated[int, AtLeast(0), AtMost(100_000)] = 0,
    whiten: bool = False,
    content: Text = ANY,
    rng: np.random.Generator,
) -> Points:
    """n random rows of a .npy, .npz, .csv, .parquet, .h5 or .mat file, in their order; all rows if there are n.

    `key` names the array of points where a file holds several. `labels` is an array or column of the same file, a
    column also by its number, or another file, of which `labels_key` names the array or column. `centre` subtracts the
    mean of the n points; `dim` reduces them to so many principal components (0: as they are); `whiten` centres them,
    and scales each component to unit variance. `content` is the SHA-256 of the file, so that a changed file counts as
    another dataset.
    """
    points = PointsFile(Path(path), key, labels, labels_key, header)
    if content not in (ANY, now := content_of(points.paths)):
        raise InputError(f"{path}: has changed: its SHA-256 is {now}, not {content} as config says; run again")
    rows = choose_rows(points, n, rng)
    X = _prepared(points, rows, centre=centre, dim=dim, whiten=whiten)
    classes = points.labels and points.labels.numbers[rows]
    return Points(X.whole() if fits_in_memory(X.shape) else X, classes, rows)


def points_file(params: Mapping[str, Any]) -> PointsFile:
    """The file that these parameters of the dataset name."""
    return PointsFile(Path(params["path"]), *(params[name] for name in ("key", "labels", "labels_key", "header")))


def choose_rows(points: PointsFile, n: int, rng: np.random.Generator) -> IndexArray:
    """The rows of a trial, increasing."""
    total = points.shape[0]
    if n > total:
        raise InputError(f"{points.path}: has {total} rows; n={n} must be at most as many")
    return np.arange(total) if n == total else np.sort(rng.choice(total, n, replace=False))


def _prepared(points: PointsFile, rows: IndexArray, *, centre: bool, dim: int, whiten: bool) -> RowBlocks:
    """The chosen points, centred, reduced and whitened, in blocks."""
    n, D = len(rows), points.shape[1]
    if dim or whiten:
        pca = fit_pca(points.blocks(rows), dim=dim or D, centre=centre or whiten)
        return _blocks(n, dim or D, map(pca.whiten if whiten else pca.project, points.blocks(rows)))
    if centre:
        mean = sum(block.sum(axis=0) for block in points.blocks(rows)) / n
        return _blocks(n, D, (block - mean for block in points.blocks(rows)))
    return _blocks(n, D, points.blocks(rows))


def _blocks(n: int, D: int, blocks: Iterable[Array]) -> RowBlocks:
    iterator: Iterator[Array] = iter(blocks)
    return RowBlocks((n, D), np.dtype(np.float64), iterator)
