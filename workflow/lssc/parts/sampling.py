"""Select landmarks from a sample of the points."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lssc.blocks import as_blocks, sample_rows
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
    pool = sample_rows(len(X), max(m, max_points), rng=rng)
    return as_blocks(X).gather(partial(_select, select=select, pool=pool, m=m, rng=rng, options=options), pool)


def _select(
    sample: Array,
    *,
    select: Callable[..., tuple[IndexArray, Info]],
    pool: IndexArray,
    m: int,
    rng: np.random.Generator,
    options: dict[str, Any],
) -> Landmarks:
    chosen, info = select(sample, m, rng=rng, **options)
    return Landmarks(distinct_rows(pool, chosen, m, rng=rng), {**info, "sampled": len(pool)})


def distinct_rows(pool: IndexArray, chosen: IndexArray, m: int, *, rng: np.random.Generator) -> IndexArray:
    """The m rows pool[chosen]; repeated ones are replaced by others of the pool."""
    rows = pool[np.unique(np.asarray(chosen, dtype=np.int64))]
    # Among duplicates one point can be the medoid of two clusters: fill up to m with other points.
    if len(rows) < m:
        spare = np.setdiff1d(pool, rows)
        rows = np.union1d(rows, rng.choice(spare, m - len(rows), replace=False))
    return rows
