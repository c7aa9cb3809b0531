"""Select landmarks from a sample of the points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lssc.types import Array, IndexArray, Info, Landmarks, Rows


def on_sample(
    select: Callable[..., tuple[IndexArray, Info]],
    X: Rows,
    m: int,
    *,
    max_points: int,
    rng: np.random.Generator,
    **options: Any,
) -> Landmarks:
    """m distinct landmarks by `select`, from a uniform sample of max(m, max_points) points if there are more."""
    sample, pool = draw_sample(X, max(m, max_points), rng=rng)
    chosen, info = select(sample, m, rng=rng, **options)
    return Landmarks(distinct_rows(pool, chosen, m, rng=rng), {**info, "sampled": len(pool)})


def draw_sample(X: Rows, size: int, *, rng: np.random.Generator) -> tuple[Array, IndexArray]:
    """All points if there are at most `size`, else as many of them at random; and their rows in X."""
    n = len(X)
    pool = np.arange(n) if n <= size else np.sort(rng.choice(n, size, replace=False))
    # A slice copies nothing.
    return X[0:n] if n <= size else X[pool], pool


def distinct_rows(pool: IndexArray, chosen: IndexArray, m: int, *, rng: np.random.Generator) -> IndexArray:
    """The m rows pool[chosen]; repeated ones are replaced by others of the pool."""
    rows = pool[np.unique(np.asarray(chosen, dtype=np.int64))]
    # Among duplicates one point can be the medoid of two clusters: fill up to m with other points.
    if len(rows) < m:
        spare = np.setdiff1d(pool, rows)
        rows = np.union1d(rows, rng.choice(spare, m - len(rows), replace=False))
    return rows
