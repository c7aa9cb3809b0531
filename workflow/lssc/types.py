"""The values that pass between the steps of a method. Glossary: X points, C codes, K clusters, m landmarks."""

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
# What a coder takes as landmarks: row numbers of X (m), or points of their own (m x D).
LandmarkArray: TypeAlias = IndexArray | Array

# Numbers of an array that is held in memory (512 MB); times of larger ones include drawing or reading.
MAX_IN_MEMORY = 2**26
# Numbers in a block of rows (8 MB): small beside the rest of a job, large beside the cost of a call.
NUMBERS_PER_BLOCK = 2**20


class Rows(Protocol):
    """An array that need not be in memory: it has a shape, and gives rows by a slice or by indices in any order."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype: ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice | np.ndarray, /) -> np.ndarray: ...


def is_stored(value: Any) -> bool:
    """Whether rows are read from a file: an HDF5 dataset, a Zarr array, or anything with their interface."""
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "tocsr"):
        return False
    sized = isinstance(getattr(value, "dtype", None), np.dtype) and len(getattr(value, "shape", ())) > 1
    return sized and hasattr(value, "__getitem__")


class StoredRows:
    """Rows of an array in an open file, such as an HDF5 dataset or a Zarr array, read at each access."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self.shape, self.dtype = data.shape, data.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        if isinstance(rows, slice):
            return np.asarray(self._data[rows])
        if not isinstance(rows, np.ndarray) or rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise TypeError(f"stored rows take a slice or an array of indices, not {rows!r}")
        # HDF5 takes increasing indices only, each once. Zarr selects rows by `oindex`.
        distinct, place = np.unique(rows, return_inverse=True)
        if len(distinct) and not 0 <= distinct[0] <= distinct[-1] < len(self):
            raise IndexError(f"rows {distinct[0]} to {distinct[-1]} requested; there are {len(self)}")
        return np.asarray(getattr(self._data, "oindex", self._data)[distinct])[place]


class ImageFeatures(Protocol):
    """Features of images: the class of each image, and features by row indices.

    `variances` are those of the columns, if these are principal components of all images.
    """

    @property
    def labels(self) -> np.ndarray: ...

    @property
    def variances(self) -> np.ndarray: ...

    def rows(self, indices: IndexArray, /) -> np.ndarray: ...


@dataclass(frozen=True)
class RowBlocks:
    """An array made block by block, from the first row on. The blocks can be iterated once."""

    shape: tuple[int, ...]
    dtype: np.dtype
    blocks: Iterator[np.ndarray]

    def __len__(self) -> int:
        return self.shape[0]

    def placed(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Each block with its rows; ValueError unless the blocks make up an array of this shape and dtype."""
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


def fits_in_memory(shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape is small enough to be held in memory."""
    return math.prod(shape) <= MAX_IN_MEMORY


def block_sizes(n: int, row: int) -> list[int]:
    """The number of rows in each block of an array of n rows of `row` numbers."""
    return [block.stop - block.start for block in block_slices(n, row, NUMBERS_PER_BLOCK)]


def block_slices(n: int, row: int, numbers: int) -> list[slice]:
    """Blocks of n rows of `row` numbers each, so many numbers in a block."""
    size = max(1, numbers // max(1, row))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


@dataclass(frozen=True)
class Points:
    """n points as rows of X, with the cluster of each, if known; `origin` holds their rows in a larger collection.

    X comes in blocks if it is too large for memory.
    """

    X: Array | RowBlocks
    labels: IndexArray | None
    origin: IndexArray | None = None


@dataclass(frozen=True)
class Landmarks:
    """The rows of X that are landmarks; if `points` (m x D) are the landmarks instead, rows near them."""

    indices: IndexArray
    info: Info = field(default_factory=dict)
    points: Array | None = None

    @property
    def for_coder(self) -> LandmarkArray:
        """The points if there are any, else the row numbers."""
        return self.indices if self.points is None else self.points


@dataclass(frozen=True)
class Codes:
    """Row j of `matrix` (n x m, CSR or in blocks) is the code of point j: the paper's column c_j."""

    matrix: Any
    info: Info = field(default_factory=dict)


@dataclass(frozen=True)
class CodeBlocks:
    """Codes (n x m) made block by block, from the first point on. The blocks can be iterated once."""

    shape: tuple[int, int]
    blocks: Iterator[Codes]


@dataclass(frozen=True)
class Projection:
    """Maps the code c of any point to coordinates: a / sqrt(a'weights) times `basis` (m x coordinates).

    a holds the `top` largest |c| (all if 0) to the `power`, each times the `landmark_scale` of its landmark, if any.
    """

    weights: Array
    basis: Array
    scale_rows: bool
    top: int = 0
    power: float = 1.0
    landmark_scale: Array | None = None


@dataclass(frozen=True)
class Embedding:
    """One row of coordinates per point, with the eigenvalues or singular values they belong to.

    `projection` maps codes of new points, if the embedder can.
    """

    vectors: Array
    values: Array
    info: Info = field(default_factory=dict)
    projection: Projection | None = None

    @property
    def spectrum(self) -> Array:
        """The values, with a 1 for each first vector that was left out."""
        return np.concatenate([np.ones(self.info.get("n_dropped", 0)), self.values])


@dataclass(frozen=True)
class Subspaces:
    """An affine subspace of dimension d for each cluster: x = mean + basis z + noise.

    `variances` (K x d) are those of the coordinates z, `noise` (K) is the mean variance on the other axes, `counts` (K)
    the points of each cluster.
    """

    means: Array
    bases: Array
    variances: Array
    noise: Array
    counts: Array


@dataclass(frozen=True)
class Clusters:
    """A cluster for every point, counted from zero, with the centres (K x coordinates) or subspaces, if any.

    `dictionary` (K x d x D) holds d atoms for each cluster, if the method has any.
    """

    labels: IndexArray
    info: Info
    centres: Array | None = None
    subspaces: Subspaces | None = None
    dictionary: Array | None = None
