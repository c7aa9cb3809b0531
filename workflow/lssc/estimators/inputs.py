"""Input of the estimators: arrays in memory, sparse matrices and arrays in files, prepared in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lssc.parts.preparing import prepare_points
from lssc.types import Array, IndexArray, Rows

# Rows, and numbers (64 MB), that `transform` prepares and codes at a time.
ROWS_PER_BLOCK, NUMBERS_PER_BLOCK = 2**16, 2**23


def require_rows(X: Any, least: int, name: str) -> None:
    """The errors that scikit-learn raises for arrays, by the shape and type alone."""
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


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array; does not import Dask."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "chunks")


def row_blocks(n: int, row: int) -> list[slice]:
    """Slices of n rows of `row` numbers each."""
    size = max(1, min(ROWS_PER_BLOCK, NUMBERS_PER_BLOCK // row))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


class PreparedRows:
    """The points of X as float64 rows, checked and scaled at each access: X is never copied as a whole.

    `progress` is called with the share of rows that lie before each slice.
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
        places = range(len(self))[rows] if isinstance(rows, slice) else rows
        return prepare_points(self._source[rows], places, affine=self._affine, unit_norm=self._unit_norm)
