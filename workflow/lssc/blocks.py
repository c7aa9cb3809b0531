"""n rows of points, codes or coordinates, taken block by block: from memory, from a file, or on a cluster's workers.

A part that needs only sums over the rows, and results of each row by itself, is written once with `Blocks` and runs
wherever the rows are.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lssc.types import NUMBERS_PER_BLOCK, Array, IndexArray, RowBlocks, block_slices, fits_in_memory

Sums = tuple[np.ndarray, ...]
# Rows of a sparse matrix in a block: they hold few numbers each.
SPARSE_ROWS_PER_BLOCK = 2**17


class Blocks(ABC):
    """n rows in blocks. Functions are applied to the blocks; only sums and a few rows are brought together."""

    shape: tuple[int, ...]
    dtype: np.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: IndexArray) -> Array:
        """A few rows, in memory."""
        return self.gather(_take_rows, rows)

    @abstractmethod
    def gather(self, function: Callable[..., Any], rows: IndexArray, *beside: Any) -> Any:
        """What the function returns for a few rows, brought to one place; it gets the same rows of `beside`."""

    @abstractmethod
    def sum(self, function: Callable[..., Sums], *beside: Any) -> Sums:
        """The sum over all blocks of what the function returns for a block: a tuple of arrays, each added up.

        `beside` are other arrays or blocks of n rows; the function gets the same rows of them.
        """

    @abstractmethod
    def map(
        self, function: Callable[..., np.ndarray], *beside: Any, row: tuple[int, ...], dtype: Any, again: bool = False
    ) -> Any:
        """What the function returns for all blocks, as one array of n rows, where these are: `row` is a row's shape.

        A large one can be read once only, unless it is needed `again`.
        """


class LocalBlocks(Blocks):
    """Rows of an array or sparse matrix in memory, or of a file; `slices` of the rows are blocks, if they have any."""

    def __init__(self, rows: Any, numbers: int | None = None) -> None:
        self._numbers = numbers or NUMBERS_PER_BLOCK
        self._rows, self.shape, self.dtype = rows, rows.shape, rows.dtype

    def gather(self, function: Callable[..., Any], rows: IndexArray, *beside: Any) -> Any:
        # A slice copies nothing.
        place = slice(0, len(self)) if len(rows) == len(self) and (np.diff(rows) == 1).all() else rows
        return function(*(array[place] for array in self._with(beside)))

    def sum(self, function: Callable[..., Sums], *beside: Any) -> Sums:
        totals: Sums | None = None
        for block in self._each(function, *beside):
            if totals is None:
                totals = block
            else:
                for total, part in zip(totals, block, strict=True):
                    np.add(total, part, out=total)
        assert totals is not None
        return totals

    def map(
        self, function: Callable[..., np.ndarray], *beside: Any, row: tuple[int, ...], dtype: Any, again: bool = False
    ) -> Any:
        """An array in memory, or one that is made block by block if it is large."""
        blocks = RowBlocks((len(self), *row), np.dtype(dtype), self._each(function, *beside))
        return blocks.whole() if again or fits_in_memory(blocks.shape) else blocks

    def _each(self, function: Callable[..., Any], *beside: Any) -> Iterator[Any]:
        for rows in self._slices():
            # A block of all rows is the array itself: SciPy would copy a matrix.
            whole = rows == slice(0, len(self))
            yield function(
                *(array if whole and hasattr(array, "tocsr") else array[rows] for array in self._with(beside))
            )

    def _with(self, beside: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._rows, *(array._rows if isinstance(array, LocalBlocks) else array for array in beside)

    def _slices(self) -> list[slice]:
        if known := getattr(self._rows, "slices", None):
            return known
        if hasattr(self._rows, "tocsr"):
            return block_slices(len(self), 1, SPARSE_ROWS_PER_BLOCK)
        return block_slices(len(self), math.prod(self.shape[1:]), self._numbers)


def _take_rows(rows: Array) -> Array:
    return rows


def sample_rows(n: int, size: int, *, rng: np.random.Generator) -> IndexArray:
    """The numbers of all rows if there are at most `size`, else of as many at random, in order."""
    return np.arange(n) if n <= size else np.sort(rng.choice(n, size, replace=False))


def as_blocks(rows: Any, numbers: int | None = None) -> Blocks:
    """The rows as blocks, of so many numbers each, if they are not."""
    return rows if isinstance(rows, Blocks) else LocalBlocks(rows, numbers)
