"""Input of the estimators: arrays in memory, sparse matrices and arrays in files, prepared in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lssc.linalg.scaling import unit_rows
from lssc.types import Array, IndexArray, Rows, StoredRows

# Beyond this size squares overflow, and compiled code crashes on infinity.
MAX_MAGNITUDE = 1e100
# Rows, and numbers (64 MB), that `transform` prepares and codes at a time.
ROWS_PER_BLOCK, NUMBERS_PER_BLOCK = 2**16, 2**23


def is_stored(X: Any) -> bool:
    """Whether X is an array outside of memory: an HDF5 dataset, a Zarr array, or anything with their interface."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return False
    sized = isinstance(getattr(X, "dtype", None), np.dtype) and len(getattr(X, "shape", ())) > 1
    return sized and hasattr(X, "__getitem__")


def stored_rows(X: Any, least: int, name: str) -> StoredRows:
    """X by rows; the errors that scikit-learn raises for arrays, by the shape and type alone."""
    if len(X.shape) != 2:
        raise ValueError(f"Found array with dim {len(X.shape)}, while {name} expected 2.")
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{name} takes numbers; X holds {X.dtype}")
    for size, minimum, what in ((X.shape[0], least, "sample"), (X.shape[1], 1, "feature")):
        if size < minimum:
            found = f"Found array with {size} {what}(s) (shape={X.shape})"
            raise ValueError(f"{found} while a minimum of {minimum} is required by {name}.")
    return StoredRows(X)


def row_blocks(n: int, row: int) -> list[slice]:
    """Slices of n rows of `row` numbers each."""
    size = max(1, min(ROWS_PER_BLOCK, NUMBERS_PER_BLOCK // row))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


class PreparedRows:
    """The points of X as float64 rows, checked and scaled at each access: X is never copied as a whole.

    `affine` adds a coordinate that is 1 for every point, `unit_norm` then scales the points to unit norm. `progress` is
    called with the share of rows that lie before each slice.
    """

    dtype = np.dtype(np.float64)

    def __init__(
        self, source: Rows, *, affine: bool, unit_norm: bool, progress: Callable[[float], None] | None = None
    ) -> None:
        self._source, self._affine, self._unit_norm, self._progress = source, affine, unit_norm, progress
        self.shape = (source.shape[0], source.shape[1] + affine)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | IndexArray) -> Array:
        if self._progress and isinstance(rows, slice):
            self._progress((rows.start or 0) / len(self))
        points = self._source[rows]
        points = np.require(points.toarray() if sparse.issparse(points) else points, np.float64, "C")
        self._require_sound(points, rows)
        if self._affine:
            # Affine subspaces of R^D are linear ones of R^(D + 1) at height 1.
            points = np.column_stack([points, np.ones(len(points))])
        return unit_rows(points) if self._unit_norm else points

    def _require_sound(self, points: Array, rows: slice | IndexArray) -> None:
        """ValueError naming the row unless all numbers are finite and their squares are."""
        if max(points.max(initial=0), -points.min(initial=0)) <= MAX_MAGNITUDE:
            return
        sizes = np.abs(points).max(axis=1)
        first = int(np.argmin(sizes <= MAX_MAGNITUDE))
        row = np.arange(len(self))[rows][first]
        if np.isnan(sizes[first]):
            raise ValueError(f"Input X contains NaN, first in row {row}.")
        if np.isinf(sizes[first]):
            raise ValueError(f"Input X contains infinity, first in row {row}.")
        raise ValueError(
            f"Input X contains values beyond {MAX_MAGNITUDE:g}, first in row {row}; their squares overflow, scale X"
        )
