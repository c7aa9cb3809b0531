"""Points of one's own file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from lssc.data.files.content import content_of
from lssc.data.files.points import PointsFile
from lssc.data.preparing import Preparation
from lssc.errors import InputError
from lssc.parts.params import AtLeast, AtMost, Text
from lssc.parts.registry import component
from lssc.types import IndexArray, Points, fits_in_memory

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
    shrink: Annotated[int, AtLeast(1), AtMost(64)] = 1,
    standardise: bool = False,
    centre: bool = False,
    dim: Annotated[int, AtLeast(0), AtMost(100_000)] = 0,
    whiten: bool = False,
    content: Text = ANY,
    rng: np.random.Generator,
) -> Points:
    """n random rows of a .npy, .npz, .csv, .parquet, .h5 or .mat file or of a folder; all rows if there are n.

    A folder holds pictures, one point each, or a motion sequence of Hopkins 155 (*_truth.mat). Labels of pictures are
    the `folder` of each or its `name` up to the last number; `shrink` averages squares of so many pixels a side.
    `key` names the array of points where a file holds several. `labels` is an array or column of the same file, a
    column also by its number, or another file, of which `labels_key` names the array or column. `standardise`
    brings each column of the n points to mean 0 and variance 1, `centre` to mean 0; `dim` reduces them to so many
    principal components (0: as they are); `whiten` centres them, and scales each component to unit variance. `content`
    is the SHA-256 of the file, so that a changed file counts as another dataset.
    """
    points = PointsFile(Path(path), key, labels, labels_key, header, shrink)
    if content not in (ANY, now := content_of(points.paths)):
        raise InputError(f"{path}: has changed: its SHA-256 is {now}, not {content} as config says; run again")
    rows = choose_rows(points, n, rng)
    preparation = Preparation(standardise, centre, dim, whiten)
    X = preparation.apply(lambda: points.blocks(rows), n, points.shape[1])
    classes = points.labels and points.labels.numbers[rows]
    return Points(X.whole() if fits_in_memory(X.shape) else X, classes, rows)


def points_file(params: Mapping[str, Any]) -> PointsFile:
    """The file that these parameters of the dataset name."""
    return PointsFile(
        Path(params["path"]), *(params[name] for name in ("key", "labels", "labels_key", "header", "shrink"))
    )


def choose_rows(points: PointsFile, n: int, rng: np.random.Generator) -> IndexArray:
    """The rows of a trial, increasing."""
    total = points.shape[0]
    if n > total:
        raise InputError(f"{points.path}: has {total} rows; n={n} must be at most as many")
    return np.arange(total) if n == total else np.sort(rng.choice(total, n, replace=False))
