"""Run a selector on at most so many points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lssc.types import IndexArray, Info, Landmarks, Rows


def on_sample(
    select: Callable[..., tuple[IndexArray, Info]],
    X: Rows,
    m: int,
    *,
    max_points: int,
    rng: np.random.Generator,
    **options: Any,
) -> Landmarks:
    """m distinct landmarks by `select`, from all points or, if they are more than max_points, from a uniform sample."""
    n, size = len(X), max(m, max_points)
    pool = np.arange(n) if n <= size else np.sort(rng.choice(n, size, replace=False))
    # A slice of an array is no copy.
    chosen, info = select(X[0:n] if n <= size else X[pool], m, rng=rng, **options)
    indices = pool[np.unique(np.asarray(chosen, dtype=np.int64))]
    # Duplicate points can make one of them the medoid of two clusters: fill up to m with points not yet chosen.
    if len(indices) < m:
        spare = np.setdiff1d(pool, indices)
        indices = np.union1d(indices, rng.choice(spare, m - len(indices), replace=False))
    return Landmarks(indices, {**info, "sampled": len(pool)})
