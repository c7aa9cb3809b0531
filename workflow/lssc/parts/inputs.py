"""Checks of the arguments of a part, made when it is called: bad input ends in one InputError that names the part.

An array of float64 in C order is passed on as it is. Lists, data frames and numbers of other types become such arrays,
so float32 points give exactly what their float64 copy gives. Parts that work by rows read other arrays, memory maps,
sparse matrices and stored rows block by block: each block is converted and checked when it is read, and never copied
as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from lssc.blocks import Blocks, as_blocks
from lssc.errors import InputError
from lssc.parts.registry import Component
from lssc.types import Array, IndexArray, LandmarkArray, Rows, StoredRows, is_stored

# Bound on the magnitude of numbers: squares of larger ones are not finite, and compiled code crashes on these. Compare
# with it in double precision: NumPy 2 would round it to infinity in single precision.
MAX_MAGNITUDE = 1e100


def is_sound(array: np.ndarray) -> bool:
    """Whether all numbers are finite and within the bound; makes no temporary array."""
    return array.size == 0 or (float(array.min()) >= -MAX_MAGNITUDE and float(array.max()) <= MAX_MAGNITUDE)


@dataclass
class Call:
    """One call of a part: the sizes known so far."""

    part: Component
    n: int = 0
    D: int = 0
    m: int = 0
    n_clusters: int | None = None

    def error(self, problem: str) -> InputError:
        return InputError(f"{self.part.kind} {self.part.name!r}: {problem}")

    def require(self, holds: bool, problem: str) -> None:
        if not holds:
            raise self.error(problem)


def check_arguments(part: Component, arguments: dict[str, Any]) -> Call:
    """Check and convert the arguments of a part, in place, all but its parameters; InputError says what is wrong."""
    call = Call(part)
    for name in ("n_clusters", "threads"):
        if name in arguments:
            arguments[name] = check_count(call, name, arguments[name])
    if isinstance(part.hints.get("rng"), type) and not isinstance(arguments.get("rng"), part.hints["rng"]):
        raise call.error(f"rng={arguments.get('rng')!r} must be a generator, such as numpy.random.default_rng(0)")
    call.n_clusters = arguments.get("n_clusters")
    for name, check in zip(part.positional, CHECKS.get(part.kind, ()), strict=False):
        arguments[name] = check(call, name, arguments[name])
    if "coordinates" in arguments:
        arguments["coordinates"] = check_coordinates(call, "coordinates", arguments["coordinates"])
    if arguments.get("landmark_indices") is not None:
        arguments["landmark_indices"] = check_columns(call, "landmark_indices", arguments["landmark_indices"])
    few = call.n_clusters is not None and call.n_clusters > call.n
    call.require(not few, f"n_clusters={call.n_clusters} must be at most the number of points, {call.n}")
    return call


def check_count(call: Call, name: str, value: Any) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    call.require(whole and value >= 1, f"{name}={value!r} must be a whole number from 1 on")
    return int(value)


def check_n(call: Call, name: str, value: Any) -> int:
    """The number of points to draw."""
    call.n = check_count(call, name, value)
    return call.n


def check_m(call: Call, name: str, value: Any) -> int:
    """The number of landmarks to select."""
    call.m = check_count(call, name, value)
    call.require(call.m <= call.n, f"{name}={call.m} landmarks requested of {call.n} points; need {name} <= {call.n}")
    call.require(call.m == call.n or not call.part.needs_all, f"{name}={call.m} must be the number of points, {call.n}")
    return call.m


def check_points(call: Call, name: str, value: Any) -> Array | Rows | Blocks:
    """n points as float64 rows in C order; parts that work by rows get other arrays as rows that are read in blocks."""
    if isinstance(value, Blocks):
        call.require(
            call.part.by_rows, f"{name} comes in blocks, which this part cannot use; it needs all rows at once"
        )
        call.n, call.D = value.shape
        return value
    if hasattr(value, "tocsr"):
        hint = f"{name} is a sparse matrix, which this part cannot use; pass {name}.toarray()"
        call.require(call.part.by_rows, hint)
        rows: Rows = CheckedRows(call, name, SparseRows(check_csr(call, name, value)))
    elif is_stored(value):
        rows = CheckedRows(call, name, StoredRows(value))
    elif call.part.by_rows and isinstance(value, np.memmap):
        # Checked as it is read, not in a pass of its own.
        rows = CheckedRows(call, name, value)
    else:
        array = as_numbers(call, name, value)
        require_shape(call, name, array.shape)
        require_sound(call, name, array)
        ready = array.dtype == np.float64 and array.flags.c_contiguous and array.flags.aligned
        rows = array if ready else CheckedRows(call, name, array)
    call.n, call.D = rows.shape
    return rows if call.part.by_rows or isinstance(rows, np.ndarray) else rows[0 : call.n]


def check_landmarks(call: Call, name: str, value: Any) -> LandmarkArray:
    """Different rows of X, all of them in order if the part needs every point as a landmark; or points of their own."""
    # The annotation says whether the part takes points.
    if call.part.hints.get(name) == LandmarkArray and getattr(value, "ndim", 1) == 2:
        return check_landmark_points(call, name, value)
    indices = as_whole_numbers(call, name, value, f"row numbers from 0 to {call.n - 1}")
    call.m = len(indices)
    call.require(call.m > 0, f"{name} is empty; at least one landmark is needed")
    low, high = indices.min(), indices.max()
    call.require(low >= 0 and high < call.n, f"{name} from {low} to {high}; rows of X are 0 to {call.n - 1}")
    call.require(len(np.unique(indices)) == call.m, f"{name} repeat a point; each row of X can be a landmark once")
    if call.part.needs_all:
        in_order = call.m == call.n and bool((np.diff(indices) == 1).all())
        call.require(in_order, f"{name} must be every point in order: numpy.arange({call.n})")
    return indices


def check_columns(call: Call, name: str, value: Any) -> IndexArray:
    """The row of X that each column of the codes stands for."""
    m = call.m
    indices = check_landmarks(call, name, value)
    call.require(len(indices) == m, f"{len(indices)} {name} for codes of {m} columns; give one per column")
    return indices


def check_landmark_points(call: Call, name: str, value: Any) -> Array:
    """m points of as many coordinates as X has."""
    # Writable: Numba would compile another version for read-only arrays.
    array = np.require(as_numbers(call, name, value), np.float64, ["C", "A", "W"])
    size = " x ".join(map(str, array.shape))
    what = f"row numbers from 0 to {call.n - 1}, or points of {call.D} coordinates, one per row"
    call.require(array.shape[1:] == (call.D,) and len(array) > 0, f"{name} of {size} must be {what}")
    require_sound(call, name, array)
    call.m = len(array)
    return array


def check_labels(call: Call, name: str, value: Any) -> IndexArray | Blocks:
    """A cluster from 0 to K - 1 for every point."""
    if isinstance(value, Blocks | StoredRows):
        return as_blocks(value)
    top = (call.n_clusters or call.n) - 1
    labels = as_whole_numbers(call, name, value, f"whole numbers from 0 to {top}, one per point")
    call.require(len(labels) == call.n, f"{len(labels)} {name} for {call.n} points; give one per point")
    low, high = labels.min(), labels.max()
    call.require(low >= 0 and high <= top, f"{name} from {low} to {high}; clusters are 0 to {top}")
    return labels


def check_coordinates(call: Call, name: str, value: Any) -> Array | Blocks:
    """A row of numbers for every point, in memory or in blocks."""
    if isinstance(value, Blocks | StoredRows):
        return as_blocks(value)
    array = np.require(as_numbers(call, name, value), np.float64, ["C", "A"])
    require_shape(call, name, array.shape)
    call.require(len(array) == call.n, f"{len(array)} rows of {name} for {call.n} points; give one per point")
    require_sound(call, name, array)
    return array


def check_codes(call: Call, name: str, value: Any) -> Any:
    """Codes (n x m) as a CSR matrix, whose arrays are not copied, or as blocks."""
    if isinstance(value, Blocks):
        check_points(call, name, value)
        call.m = value.shape[1]
        return value
    if not hasattr(value, "tocsr"):
        rows = check_points(call, name, value)
        value = rows if isinstance(rows, np.ndarray) else rows[0 : call.n]
    codes = check_csr(call, name, value)
    call.n, call.m = codes.shape
    return codes


def check_images(call: Call, name: str, value: Any) -> np.ndarray:
    """Grey values from 0 to 255 of n images, n x height x width, as bytes."""
    images = as_numbers(call, name, value)
    shape = " x ".join(map(str, images.shape))
    call.require(images.ndim == 3 and images.size > 0, f"{name} of {shape} are no images; give n x height x width")
    sound = images.dtype.kind in "iu" and images.min() >= 0 and images.max() <= 255
    call.require(sound, f"{name} must be whole numbers from 0 to 255")
    return images.astype(np.uint8, copy=False)


# Kind of part -> checks of its positional arguments.
CHECKS: dict[str, tuple[Callable[[Call, str, Any], Any], ...]] = {
    "dataset": (check_n,),
    "features": (check_images,),
    "selector": (check_points, check_m),
    "coder": (check_points, check_landmarks),
    "embedder": (check_codes,),
    "clusterer": (check_points,),
    "refiner": (check_points, check_labels),
    "method": (check_points,),
}


class CheckedRows:
    """Rows of an array as float64, converted and checked as they are read."""

    dtype = np.dtype(np.float64)

    def __init__(self, call: Call, name: str, rows: Any) -> None:
        self._call, self._name, self._rows = call, name, rows
        self.shape = tuple(rows.shape)
        require_shape(call, name, self.shape)
        require_real(call, name, rows.dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | np.ndarray) -> Array:
        block = np.asarray(self._rows[rows])
        require_sound(self._call, self._name, block, range(len(self))[rows] if isinstance(rows, slice) else rows)
        return np.require(block, np.float64, ["C", "A"])


class SparseRows:
    """Rows of a sparse matrix as dense blocks."""

    def __init__(self, matrix: Any) -> None:
        self._matrix, self.shape, self.dtype = matrix, matrix.shape, matrix.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return self._matrix[rows].toarray()


def as_numbers(call: Call, name: str, value: Any) -> np.ndarray:
    """An array of real numbers, of any type."""
    masked = isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value)
    call.require(not masked, f"{name} has masked values; fill or remove them")
    try:
        array = np.asarray(value)
        if array.dtype == object:
            array = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        reason = str(error).partition("\n")[0]
        raise call.error(f"{name} is no array of numbers ({reason}); give rows of equal length") from None
    require_real(call, name, array.dtype)
    return array


def as_whole_numbers(call: Call, name: str, value: Any, what: str) -> IndexArray:
    """A list of whole numbers as int64."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise call.error(f"{name} must be {what}") from None
    fits = array.ndim == 1 and (array.dtype.kind in "iu" or array.size == 0)
    call.require(fits, f"{name} of type {array.dtype} and {array.ndim} dimensions must be {what}")
    return array.astype(np.int64, copy=False)


def check_csr(call: Call, name: str, value: Any) -> Any:
    """A CSR matrix of finite float64 with indices in range, which shares the arrays of `value` if it can."""
    from scipy import sparse

    require_shape(call, name, value.shape)
    require_real(call, name, value.dtype)
    plain = sparse.isspmatrix_csr(value) and value.dtype == np.float64
    matrix = value if plain else sparse.csr_matrix(value, dtype=np.float64)
    indices, ends = matrix.indices[: matrix.indptr[-1]], matrix.indptr
    in_range = not indices.size or (indices.min() >= 0 and indices.max() < matrix.shape[1])
    increasing = ends[0] == 0 and ends[-1] <= len(matrix.indices) and not (ends[1:] < ends[:-1]).any()
    call.require(in_range and increasing, f"{name} is a CSR matrix with indices out of range")
    sound = is_sound(matrix.data)
    call.require(sound, f"{name} holds NaN, infinity or numbers beyond {MAX_MAGNITUDE:g}; remove them or scale {name}")
    return matrix


def require_real(call: Call, name: str, dtype: np.dtype) -> None:
    call.require(dtype.kind in "fiub", f"{name} holds values of type {dtype}; give real numbers")


def require_shape(call: Call, name: str, shape: tuple[int, ...]) -> None:
    """InputError unless there are rows and columns."""
    size = " x ".join(map(str, shape)) or "a single number"
    call.require(len(shape) == 2, f"{name} is {size}; give two dimensions, one row per point")
    call.require(min(shape) > 0, f"{name} is {size}, which is empty; give at least one row and one column")


def require_sound(call: Call, name: str, block: np.ndarray, places: Any = None) -> None:
    """InputError unless all numbers of the block can be used."""
    if problem := sound_problem(name, block, places):
        raise call.error(problem)


def sound_problem(name: str, block: np.ndarray, places: Any = None) -> str | None:
    """The first place of a number that cannot be used; row i of the block is row places[i]. None if all can."""
    if is_sound(block):
        return None
    row, column = np.argwhere(~(np.abs(block, dtype=np.float64) <= MAX_MAGNITUDE))[0]
    value = block[row, column]
    place = f"{name} holds {value:g} at row {row if places is None else places[row]}, column {column}"
    if np.isfinite(value):
        return f"{place}; scale {name} to at most {MAX_MAGNITUDE:g}, as squares of larger numbers overflow"
    return f"{place}; remove or fill such values"
