"""Points of a table, fetched from a package or a folder."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.data.preparing import Preparation
from lssc.errors import InputError
from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import ImageFeatures, Points


@component("dataset", "table")
def table(
    n: int,
    *,
    table: str,
    standardise: bool = False,
    centre: bool = False,
    dim: Annotated[int, AtLeast(0), AtMost(100_000)] = 0,
    whiten: bool = False,
    features: ImageFeatures,
    rng: np.random.Generator,
) -> Points:
    """n random points of a table, in their order; all points if there are n.

    `standardise` brings each column of these points to mean 0 and variance 1, `centre` to mean 0; `dim` reduces them to
    so many principal components (0: as they are); `whiten` centres them, and scales each component to unit variance.
    """
    labels = features.labels
    if n > len(labels):
        raise InputError(f"table {table!r} has {len(labels)} points; n={n} must be at most as many")
    rows = np.arange(len(labels)) if n == len(labels) else np.sort(rng.choice(len(labels), n, replace=False))
    X = features.rows(rows).astype(np.float64)
    prepared = Preparation(standardise, centre, dim, whiten).apply(lambda: [X], *X.shape)
    return Points(prepared.whole(), labels[rows].astype(np.int64), rows)
