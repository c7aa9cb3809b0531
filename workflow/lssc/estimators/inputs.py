"""Input of the estimators: arrays in memory, sparse matrices and arrays in files, prepared in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lssc.linalg.scaling import unit_rows
from lssc.parts.inputs import sound_problem
from lssc.types import Array, IndexArray, Rows, StoredRows

# Rows, and numbers (64 MB), that `transform` prepares and codes at a time.
ROWS_PER_BLOCK, NUMBERS_PER_BLOCK = 2**16, 2**23


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
        # Before scaling: it turns a point of 1e200 into zero.
        if problem := sound_problem("X", points, range(len(self))[rows] if isinstance(rows, slice) else rows):
            raise ValueError(problem)
        points = np.require(points, np.float64, "C")
        if self._affine:
            # Affine subspaces of R^D are linear ones of R^(D + 1) at height 1.
            points = np.column_stack([points, np.ones(len(points))])
        return unit_rows(points) if self._unit_norm else points
