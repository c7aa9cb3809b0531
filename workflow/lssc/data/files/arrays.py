"""Arrays in a file, known by name, shape and type before any memory is taken for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lssc.errors import InputError
from lssc.parts.registry import suggest
from lssc.types import Rows

# Stands for the only array of a file, or the only column, that can be meant.
AUTO = "auto"
# Labels of points that are the columns of a D x i x k array: the place on the last axis.
LAST_AXIS = "last_axis"
# NumPy's letters for truth values, whole numbers and floating-point numbers; the second also for text.
NUMBERS, LABELS = "biuf", "biufSUO"
# Compressed data may unpack to this many bytes, or to this many times their size if that is more.
MAX_UNPACKED_BYTES, MAX_UNPACKED_RATIO = 2**28, 200
# Names of arrays that a message lists.
NAMES_SHOWN = 10


@dataclass(frozen=True)
class StoredArray:
    """An array that a file claims to hold; `stored` counts the bytes of the file that belong to it.

    `packed` data may take fewer bytes than the array.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    stored: int
    packed: bool
    load: Callable[[], Rows]


@dataclass(frozen=True)
class ArrayFile:
    """A file of named arrays: one without a name in .npy, any number in .npz, .h5 and .mat."""

    path: Path
    arrays: Mapping[str, StoredArray]

    def points(self, key: str, labels: str | None) -> StoredArray:
        """The array of points: the named one, or the only table of numbers in the file."""
        if labels == LAST_AXIS:
            array = _columns_as_rows(self._solid(key))
        else:
            array = self._named(key) if key != AUTO else self._only_table(labels)
        where = self._where(key)
        if array.dtype.kind not in NUMBERS:
            raise InputError(f"{where} holds {kind_of(array.dtype)}; points must be numbers")
        if len(array.shape) != 2 or min(array.shape) < 1:
            raise InputError(f"{where} has shape {array.shape}; points need two dimensions, one row per point")
        require_stored(where, array)
        return array

    def labels(self, key: str) -> np.ndarray:
        """One label per point: the named array, or the only array of the file."""
        if key == AUTO and len(self.arrays) != 1:
            raise InputError(f"{self.path}: holds {self._names()}; name the array that holds the labels")
        array, where = self._named(next(iter(self.arrays)) if key == AUTO else key), self._where(key)
        if array.dtype.kind not in LABELS or not array.dtype.itemsize:
            raise InputError(f"{where} holds {kind_of(array.dtype)}; labels must be whole numbers or names")
        if len(array.shape) == 0 or math.prod(array.shape) != max(array.shape):
            raise InputError(f"{where} has shape {array.shape}; labels need one value per point")
        require_stored(where, array)
        rows = array.load()
        return np.asarray(rows[0 : len(rows)]).ravel()

    def last_axis(self, key: str) -> np.ndarray:
        """The place on the last axis of each column of the array of points."""
        _, each, classes = self._solid(key).shape
        return np.repeat(np.arange(classes), each)

    def _solid(self, key: str) -> StoredArray:
        """The named array, of three dimensions."""
        array = self._named(key)
        if len(array.shape) != 3 or min(array.shape) < 1:
            raise InputError(f"{self._where(key)} has shape {array.shape}; labels: {LAST_AXIS} needs three dimensions")
        return array

    def _named(self, key: str) -> StoredArray:
        if key in self.arrays:
            return self.arrays[key]
        if list(self.arrays) == [""]:
            raise InputError(f"{self.path}: holds one array without names, no {key!r}; labels can be in another file")
        raise InputError(f"{self.path}: has no array {key!r}; {suggest(key, self.arrays)}")

    def _only_table(self, labels: str | None) -> StoredArray:
        if list(self.arrays) == [""]:
            return self.arrays[""]
        tables = {
            name: array
            for name, array in self.arrays.items()
            if name != labels and array.dtype.kind in NUMBERS and len(array.shape) == 2 and min(array.shape) > 1
        }
        if len(tables) == 1:
            return next(iter(tables.values()))
        what = "more than one table of numbers" if tables else "no table of numbers"
        raise InputError(f"{self.path}: holds {what} ({self._names()}); name the array of the points by its key")

    def _where(self, key: str) -> str:
        return f"{self.path}: array {key!r}" if key not in (AUTO, "") else f"{self.path}: its array"

    def _names(self) -> str:
        names = list(self.arrays)
        more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        return ", ".join(names[:NAMES_SHOWN]) + more if names else "nothing"


def require_stored(where: str, array: StoredArray) -> None:
    """InputError if the file claims an array that it cannot hold, before any memory is taken."""
    needed = math.prod(array.shape) * array.dtype.itemsize
    size = " x ".join(map(str, array.shape))
    if not array.packed and needed > array.stored:
        raise InputError(
            f"{where} should hold {size} numbers of {array.dtype.itemsize} bytes, {needed:,} bytes, but the file has "
            f"{max(array.stored, 0):,}: cut short or damaged"
        )
    if array.packed and needed > max(MAX_UNPACKED_BYTES, MAX_UNPACKED_RATIO * array.stored):
        raise InputError(
            f"{where} would unpack {array.stored:,} bytes to {needed:,}, more than {MAX_UNPACKED_RATIO} times as many; "
            "refused: save it without compression"
        )


def _columns_as_rows(array: StoredArray) -> StoredArray:
    """The columns of a D x i x k array as rows (ki x D)."""
    D, each, classes = array.shape

    def load() -> np.ndarray:
        return np.asarray(array.load()[:]).transpose(2, 1, 0).reshape(classes * each, D)

    return replace(array, shape=(classes * each, D), load=load)


def kind_of(dtype: np.dtype) -> str:
    """What an array holds, in words."""
    kinds = {"O": "Python objects", "S": "text", "U": "text", "V": "records", "c": "complex numbers"}
    return kinds.get(dtype.kind, "numbers" if dtype.kind in NUMBERS else "dates or times")


def read_into(shape: tuple[int, ...], dtype: np.dtype, order: Any, read: Callable[[int], bytes]) -> np.ndarray:
    """An array from a stream; EOFError if it ends early. Untouched pages of np.empty cost no memory."""
    array = np.empty(math.prod(shape), dtype)
    view, start = memoryview(array.view(np.uint8)).cast("B"), 0
    while start < len(view):
        block = read(min(2**20, len(view) - start))
        if not block:
            raise EOFError(f"ends after {start:,} of {len(view):,} bytes")
        view[start : start + len(block)] = block
        start += len(block)
    return array.reshape(shape, order=order)
