"""Dask arrays as points, and their codes by landmarks."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from dask import array as da

from lssc.distributed.blocks import DaskBlocks
from lssc.parts.coding import code_block
from lssc.parts.preparing import prepare_points
from lssc.shards import Shard
from lssc.types import Array, Codes, LandmarkArray

# Rows, and numbers (64 MB), of a block. Blocks do not depend on the chunks of X, so that results do not, either.
ROWS_PER_BLOCK, NUMBERS_PER_BLOCK = 2**18, 2**23


def rows_in_one_chunk(X: da.Array) -> da.Array:
    """X with all columns in one chunk; ValueError unless its size is known."""
    if any(np.isnan(size) for size in X.shape):
        raise ValueError("X has chunks of unknown size; call X.compute_chunk_sizes() first")
    if len(X.chunks[1]) > 1:
        message = f"X has its {X.shape[1]} columns in {len(X.chunks[1])} chunks; it is rechunked to whole rows"
        warnings.warn(message, UserWarning, stacklevel=2)
        X = X.rechunk({1: -1})
    return X


def as_points(X: da.Array, *, affine: bool, unit_norm: bool) -> DaskBlocks:
    """The points of X, checked and scaled whenever a task needs them; X itself is not kept."""
    X, D = rows_in_one_chunk(X), X.shape[1]
    X = X.rechunk({0: max(1, min(ROWS_PER_BLOCK, NUMBERS_PER_BLOCK // D)), 1: -1})
    raw = DaskBlocks(X.to_delayed().ravel(), X.chunks[0], (D,), X.dtype)
    prepare = partial(_prepare_points, affine=affine, unit_norm=unit_norm)
    return raw.map_with_start(prepare, row=(D + affine,), dtype=np.float64)


def _prepare_points(block: Any, start: int, *, affine: bool, unit_norm: bool) -> Array:
    points = np.asarray(block.toarray() if hasattr(block, "toarray") else block)
    places = range(start, start + len(points))
    return prepare_points(points, places, affine=affine, unit_norm=unit_norm)


def apply_to_rows(
    function: Callable[[Array], np.ndarray], X: da.Array, *, row: tuple[int, ...], dtype: Any
) -> da.Array:
    """The function of each chunk of X, which has whole rows, when it is computed."""
    X = rows_in_one_chunk(X)
    shape = {"chunks": (X.chunks[0], *((k,) for k in row)), "drop_axis": [] if row else [1]}
    meta = np.empty((0,) * (1 + len(row)), dtype)
    return X.map_blocks(function, dtype=dtype, meta=meta, name=f"{function.__name__}-{uuid.uuid4().hex}", **shape)


def code_blocks(
    points: DaskBlocks, landmarks: LandmarkArray, coder: str, params: Mapping[str, Any], spill: str | None
) -> Codes:
    """The codes of all points, kept on the workers or in files of the folder `spill`, which all workers see."""
    rows = landmarks if landmarks.ndim == 1 else None
    known = points[landmarks] if rows is not None else landmarks
    code = partial(_code_points, landmarks=known, rows=rows, coder=coder, params=params, spill=spill)
    return Codes(points.map_with_start(code, row=(len(known),), dtype=np.float32).kept())


def _code_points(block: Array, start: int, *, spill: str | None, **options: Any) -> Any:
    codes = code_block(block, start, **options).matrix
    return codes if spill is None else Shard.write(spill, f"codes-{start:012d}", codes)
