"""Points and labels of one's own files: .npy, .npz, .csv, .parquet, .h5, .mat, and folders of pictures.

Nothing in a file is executed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np

from lssc.data.files.arrays import AUTO, LAST_AXIS, ArrayFile
from lssc.data.files.folders import MotionSequence, PictureFolder, open_folder
from lssc.data.files.hdf5 import open_hdf5
from lssc.data.files.matlab import open_mat
from lssc.data.files.npy import open_npy, open_npz
from lssc.data.files.parquet import ParquetTable
from lssc.data.files.text import TextTable
from lssc.errors import InputError
from lssc.types import Array, IndexArray, Rows, block_sizes

NONE = "none"
ARRAY_FILES = {".npy": open_npy, ".npz": open_npz, ".h5": open_hdf5, ".hdf5": open_hdf5, ".mat": open_mat}
TEXT, PARQUET = (".csv", ".tsv", ".txt", ".dat"), (".parquet",)
SUFFIXES = (".npy", ".npz", *TEXT, *PARQUET, ".h5", ".hdf5", ".mat")
Opened: TypeAlias = ArrayFile | TextTable | ParquetTable | PictureFolder | MotionSequence
# Fewest numbers of a point.
MIN_DIMENSIONS = 2


@dataclass(frozen=True)
class Labels:
    """The class of each point, counted from 0, and the names of the classes."""

    numbers: IndexArray
    names: tuple[str, ...]


@dataclass(frozen=True)
class PointsFile:
    """A file of points, and where their labels are. Opening it checks headers; data are read on use.

    `key` names the array of points in .npz, .h5 and .mat. `labels` names an array or column of the same file (a column
    also by its number), or another file, in which `labels_key` names the array or column. A folder holds pictures,
    each shrunk by averaging squares of `shrink` pixels a side, or a motion sequence.
    """

    path: Path
    key: str = AUTO
    labels_in: str = NONE
    labels_key: str = AUTO
    header: str = AUTO
    shrink: int = 1

    @cached_property
    def shape(self) -> tuple[int, int]:
        """n and D, from the header alone, or from a count of lines."""
        opened = self._opened
        if isinstance(opened, ArrayFile):
            n, D = opened.points(self.key, self._own_labels).shape
        else:
            if self.key != AUTO:
                raise InputError(f"{self.path}: has columns, no arrays; leave out the key {self.key!r}")
            n, D = opened.shape(self._own_labels)
        if n < 1:
            raise InputError(f"{self.path}: holds no points; it needs one line per point below the header")
        if D < MIN_DIMENSIONS:
            raise InputError(f"{self.path}: has one column of points; a point needs at least {MIN_DIMENSIONS} numbers")
        return n, D

    @cached_property
    def X(self) -> Rows:
        """The points, in memory or in their file; `checked_rows` reads and checks them."""
        n, _ = self.shape
        opened = self._opened
        if isinstance(opened, ArrayFile):
            return opened.points(self.key, self._own_labels).load()
        table = opened.points(self._own_labels)
        if len(table) != n:
            raise InputError(f"{self.path}: has {len(table):,} rows in {n:,} lines; remove line breaks within fields")
        return table

    @cached_property
    def labels(self) -> Labels | None:
        """The classes of the points, if there are labels."""
        if self.labels_in == NONE:
            return None
        if self.labels_in == LAST_AXIS and isinstance(self._opened, ArrayFile):
            return class_numbers(self._opened.last_axis(self.key), self.path)
        other = self._labels_path
        opened, key = (open_file(other, self.header), self.labels_key) if other else (self._opened, self.labels_in)
        labels = class_numbers(opened.labels(key), other or self.path)
        if len(labels.numbers) != self.shape[0]:
            count = f"{len(labels.numbers):,} labels for {self.shape[0]:,} points"
            raise InputError(f"{other or self.path}: holds {count} of {self.path}; they must be as many")
        return labels

    def checked_rows(self, rows: slice | IndexArray) -> Array:
        """These points in double precision; InputError with the row's number if one has a missing value."""
        block = np.asarray(self.X[rows], dtype=np.float64)
        bad = ~np.isfinite(block)
        if bad.any():
            place, column = map(int, np.argwhere(bad)[0])
            row, n_bad = int(np.arange(self.shape[0])[rows][place]), int(bad.any(axis=1).sum())
            what = "a missing value (NaN)" if np.isnan(block[place, column]) else "an infinite value"
            more = f" (and {n_bad - 1:,} more rows)" if n_bad > 1 else ""
            raise InputError(f"{self.path}: row {row} has {what} in column {column}{more}; fill it or remove the row")
        return block

    def blocks(self, rows: IndexArray | None = None) -> Iterator[Array]:
        """The points of these rows, or all, checked, in blocks that are small beside memory."""
        start = 0
        for size in block_sizes(self.shape[0] if rows is None else len(rows), self.shape[1]):
            yield self.checked_rows(slice(start, start + size) if rows is None else rows[start : start + size])
            start += size

    @property
    def paths(self) -> list[Path]:
        """The files that are read."""
        return [self.path, *filter(None, [self._labels_path])]

    @cached_property
    def _opened(self) -> Opened:
        return open_folder(self.path, self.shrink) if self.path.is_dir() else open_file(self.path, self.header)

    @property
    def _labels_path(self) -> Path | None:
        """The other file that holds the labels, if one does."""
        return Path(self.labels_in) if self.labels_in.lower().endswith(SUFFIXES) else None

    @property
    def _own_labels(self) -> str | None:
        """The array or column of this file that holds the labels, if one does."""
        return None if self.labels_in == NONE or self._labels_path else self.labels_in


def open_file(path: Path, header: str = AUTO) -> ArrayFile | TextTable | ParquetTable:
    """A file by its suffix; InputError if there is none, it is empty or of another format."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: unknown format {suffix or 'without suffix'}; use {', '.join(SUFFIXES)}")
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not path.is_file() or size == 0:
        raise InputError(f"{path}: {'is empty' if path.is_file() else 'is no file'}; it should hold points")
    if suffix in TEXT:
        return TextTable(path, header)
    return ParquetTable(path) if suffix in PARQUET else ARRAY_FILES[suffix](path)


def class_numbers(values: np.ndarray, path: Path) -> Labels:
    """Labels as numbers from 0, in the order of the sorted values; InputError if one is missing or no class."""
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    if values.dtype.kind in "OU":
        values = _as_numbers(np.array([_plain(value, row, path) for row, value in enumerate(values.tolist())]))
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise InputError(
                f"{path}: row {int(np.argmin(np.isfinite(values)))} has no label; fill it or remove the row"
            )
        if (values != np.round(values)).any():
            row = int(np.argmax(values != np.round(values)))
            raise InputError(f"{path}: row {row} has the label {values[row]:g}; labels are whole numbers or names")
        values = values.astype(np.int64)
    names, numbers = np.unique(values, return_inverse=True)
    return Labels(numbers.ravel().astype(np.int64), tuple(map(str, names.tolist())))


def _plain(value: object, row: int, path: Path) -> str:
    """A label as text."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if text is None or text == "" or text != text:
        raise InputError(f"{path}: row {row} has no label; fill it or remove the row")
    if not isinstance(text, str | int | float | bool | np.generic):
        raise InputError(f"{path}: row {row} has a label of type {type(value).__name__}; labels are numbers or names")
    return str(text).strip()


def _as_numbers(texts: np.ndarray) -> np.ndarray:
    """Text that is numbers throughout, as numbers, so that 10 comes after 9."""
    try:
        return texts.astype(np.float64)
    except ValueError:
        return texts
