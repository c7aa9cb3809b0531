"""Parquet files: numeric columns as points. Sizes come from the metadata, data are read by row groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from lssc.data.files.arrays import StoredArray, require_stored
from lssc.data.files.columns import column_place, points_places
from lssc.data.files.extras import require_package
from lssc.errors import InputError

# The column in which pandas keeps row names.
PANDAS_INDEX = "__index_level_"


@dataclass(frozen=True)
class ParquetTable:
    path: Path

    @cached_property
    def columns(self) -> list[str]:
        return [name for name in self._file.schema_arrow.names if not name.startswith(PANDAS_INDEX)]

    def shape(self, labels: str | None) -> tuple[int, int]:
        """Rows and columns of the points; InputError if the file claims more than it can hold."""
        shape = self._file.metadata.num_rows, len(points_places(self.path, self.columns, labels))
        stored = self.path.stat().st_size
        require_stored(f"{self.path}: its table", StoredArray(shape, np.dtype(float), stored, True, lambda: None))
        return shape

    def points(self, labels: str | None) -> np.ndarray:
        n, D = self.shape(labels)
        names = [self.columns[place] for place in points_places(self.path, self.columns, labels)]
        for name in names:
            self._require_numbers(name)
        table, start = np.empty((n, D)), 0
        for group in self._groups(names):
            for place, name in enumerate(names):
                table[start : start + group.num_rows, place] = group.column(name).to_numpy(zero_copy_only=False)
            start += group.num_rows
        if start != n:
            raise InputError(f"{self.path}: has {start:,} rows; its metadata claim {n:,}")
        return table

    def labels(self, key: str) -> np.ndarray:
        name = self.columns[column_place(self.path, self.columns, key)]
        self.shape(None)
        parts = [group.column(name).to_numpy(zero_copy_only=False) for group in self._groups([name])]
        return np.concatenate(parts) if parts else np.zeros(0)

    @cached_property
    def _file(self) -> Any:
        parquet = require_package("pyarrow.parquet", self.path)
        try:
            return parquet.ParquetFile(self.path)
        except Exception as error:  # of pyarrow, which has many kinds
            raise InputError(f"{self.path}: no Parquet file, or cut short or damaged ({_short(error)})") from None

    def _groups(self, names: list[str]) -> Any:
        """The row groups, one after the other."""
        try:
            for number in range(self._file.num_row_groups):
                yield self._file.read_row_group(number, columns=names)
        except Exception as error:
            raise InputError(f"{self.path}: cut short or damaged ({_short(error)})") from None

    def _require_numbers(self, name: str) -> None:
        from pyarrow import types

        kind = self._file.schema_arrow.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            raise InputError(f"{self.path}: column {name!r} holds {kind}, no numbers; name it as labels, or remove it")


def _short(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:100]
