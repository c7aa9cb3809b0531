"""Run a selector on a sample of the points."""

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
    """m distinct landmarks by `select`, from a uniform sample of max(m, max_points) points if there are more."""
    n, size = len(X), max(m, max_points)
    pool = np.arange(n) if n <= size else np.sort(rng.choice(n, size, replace=False))
    # A slice copies nothing.
    chosen, info = select(X[0:n] if n <= size else X[pool], m, rng=rng, **options)
    indices = pool[np.unique(np.asarray(chosen, dtype=np.int64))]
    # Among duplicates one point can be the medoid of two clusters: fill up to m with other points.
    if len(indices) < m:
        spare = np.setdiff1d(pool, indices)
        indices = np.union1d(indices, rng.choice(spare, m - len(indices), replace=False))
    return Landmarks(indices, {**info, "sampled": len(pool)})
