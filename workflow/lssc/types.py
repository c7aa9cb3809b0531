"""The values that pass between the stages of a method. Glossary: X points, C codes, K clusters, m landmarks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
IndexArray: TypeAlias = NDArray[np.int64]
Info: TypeAlias = dict[str, Any]

# Arrays of up to so many numbers (512 MB) are simply held: up to there no timing contains drawing or reading.
HELD = 2**26
# Numbers in a block: 8 MB, small beside everything else and large beside the cost of a call.
BLOCK = 2**20


class Rows(Protocol):
    """What a part that works by rows may ask of X: its size, and rows by a slice or by indices in any order."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype: ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice | np.ndarray, /) -> np.ndarray: ...


class ImageFeatures(Protocol):
    """What a dataset of images may ask of their features: the class of each image, and features by row indices."""

    @property
    def labels(self) -> np.ndarray: ...

    def rows(self, indices: IndexArray, /) -> np.ndarray: ...


@dataclass(frozen=True)
class RowBlocks:
    """An array that comes as blocks of its rows, from the top. They can be gone through once."""

    shape: tuple[int, ...]
    dtype: np.dtype
    blocks: Iterator[np.ndarray]

    def __len__(self) -> int:
        return self.shape[0]

    def placed(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Each block with the rows it fills; ValueError unless all together are the array that was promised."""
        start = 0
        for block in self.blocks:
            stop = start + len(block)
            if block.dtype != self.dtype or block.shape[1:] != self.shape[1:] or stop > len(self):
                raise ValueError(f"{block.dtype} {block.shape} at row {start} is no block of {self.dtype} {self.shape}")
            yield slice(start, stop), block
            start = stop
        if start < len(self):
            raise ValueError(f"blocks end at row {start} of {len(self)}")

    def whole(self) -> np.ndarray:
        """All rows in memory."""
        array = np.empty(self.shape, self.dtype)
        for place, block in self.placed():
            array[place] = block
        return array


def is_held(shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape is small enough to be held whole."""
    return math.prod(shape) <= HELD


def block_sizes(n: int, row: int) -> list[int]:
    """How many rows each block has of n rows of so many numbers."""
    size = max(1, BLOCK // row)
    return [min(size, n - start) for start in range(0, n, size)]


@dataclass(frozen=True)
class Points:
    """n points as rows of X, with the cluster each was drawn from; `origin` is their place in a larger collection.

    X comes in blocks where it is too large to hold.
    """

    X: Array | RowBlocks
    labels: IndexArray
    origin: IndexArray | None = None


@dataclass(frozen=True)
class Landmarks:
    """Which rows of X are landmarks."""

    indices: IndexArray
    info: Info = field(default_factory=dict)


@dataclass(frozen=True)
class Codes:
    """Row j of `matrix` (n x m, CSR) is the code of point j: the paper's column c_j."""

    matrix: Any
    info: Info = field(default_factory=dict)


@dataclass(frozen=True)
class Embedding:
    """One row of coordinates per point, with the eigenvalues or singular values they belong to."""

    vectors: Array
    values: Array
    info: Info = field(default_factory=dict)


@dataclass(frozen=True)
class Clusters:
    """A cluster for every point, counted from zero."""

    labels: IndexArray
    info: Info
