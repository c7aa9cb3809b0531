"""Tables of numbers as text: CSV with commas, semicolons, tabs or blanks, with or without a header.

np.loadtxt reads every number exactly, needs no other package, and takes about 5 s for 100 MB.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from lssc.data.files.arrays import AUTO
from lssc.data.files.columns import column_place, points_places
from lssc.errors import InputError

# Characters of the first line that are read.
LONGEST_LINE = 2**24
BYTES_PER_BLOCK = 2**20
# What np.loadtxt says about a field that is no number; it counts rows from 0 and columns from 1.
NO_NUMBER = re.compile(r"could not convert string '(.*)' to float64 at row (\d+), column (\d+)")


@dataclass(frozen=True)
class TextTable:
    """A text file whose columns are known from its first line; `header` is `auto`, `first_row` or `none`."""

    path: Path
    header: str = AUTO

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns: those of the header, or their numbers from 0."""
        return self._first_row if self.has_header else [str(place) for place in range(len(self._first_row))]

    @cached_property
    def has_header(self) -> bool:
        if self.header != AUTO:
            return self.header == "first_row"
        # A table of pandas without names has the header 0,1,2,...
        counted = [str(place) for place in range(len(self._first_row))]
        return not all(map(_is_number, self._first_row)) or (len(counted) > 2 and self._first_row == counted)

    def shape(self, labels: str | None) -> tuple[int, int]:
        """Rows and columns of the points, by counting lines."""
        return self._n_rows, len(points_places(self.path, self.columns, labels))

    def points(self, labels: str | None) -> np.ndarray:
        return self._read(points_places(self.path, self.columns, labels))

    def labels(self, key: str) -> np.ndarray:
        return self._read([column_place(self.path, self.columns, key)], dtype=str)[:, 0]

    @cached_property
    def _first_line(self) -> str:
        try:
            with self.path.open(encoding="utf-8-sig") as file:
                line = next((line for line in iter(lambda: file.readline(LONGEST_LINE), "") if line.strip()), "")
        except UnicodeDecodeError:
            raise InputError(f"{self.path}: is no text in UTF-8; export it as CSV in UTF-8") from None
        if not line.strip() or "\0" in line:
            raise InputError(f"{self.path}: holds no table; it needs one line per point, with numbers between commas")
        return line.rstrip("\r\n")

    @cached_property
    def _delimiter(self) -> str | None:
        """A semicolon, tab or comma if the first line has one; blanks otherwise."""
        return next((mark for mark in ";\t," if mark in self._first_line), None)

    @cached_property
    def _first_row(self) -> list[str]:
        return [field.strip().strip('"') for field in self._first_line.split(self._delimiter)]

    @cached_property
    def _n_rows(self) -> int:
        """Lines that are not empty, without the header; InputError if one has fewer or more fields than the first."""
        lines, marks, quoted, last = 0, 0, False, b"\n"
        mark = (self._delimiter or "").encode()
        with self.path.open("rb") as file:
            while block := file.read(BYTES_PER_BLOCK):
                text = (last + block).replace(b"\r", b"\n")
                lines += len(re.findall(rb"\n[^\n]", text))
                marks += block.count(mark) if mark else 0
                quoted |= b'"' in block
                last = text[-1:]
        # np.loadtxt ignores fields beyond those that are read. Quoted fields may hold delimiters.
        if mark and not quoted and marks != lines * (len(self._first_row) - 1):
            self._report_ragged_row()
        return lines - self.has_header

    def _report_ragged_row(self) -> None:
        expected, row = len(self._first_row), -int(self.has_header)
        with self.path.open(encoding="utf-8-sig", errors="replace") as file:
            for line in file:
                if line.strip("\r\n"):
                    if (fields := line.count(self._delimiter) + 1) != expected:
                        raise InputError(f"{self.path}: row {row} has {fields} columns; the first line has {expected}")
                    row += 1

    def _read(self, places: list[int], dtype: type = float) -> np.ndarray:
        skip = self._lines_before_data
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "loadtxt: input contained no data")
                table = np.loadtxt(
                    self.path.absolute(),
                    dtype,
                    comments=None,
                    delimiter=self._delimiter,
                    skiprows=skip,
                    usecols=places,
                    ndmin=2,
                    quotechar='"',
                    encoding="utf-8-sig",
                )
        except (ValueError, UnicodeDecodeError, OverflowError) as error:
            raise InputError(f"{self.path}: {self._reason(str(error))}") from None
        return table

    @cached_property
    def _lines_before_data(self) -> int:
        """Empty lines before the header, and the header."""
        if not self.has_header:
            return 0
        with self.path.open(encoding="utf-8-sig") as file:
            return next(number for number, line in enumerate(file, start=1) if line.strip())

    def _reason(self, message: str) -> str:
        """The error of np.loadtxt with the name of the column."""
        if found := NO_NUMBER.search(message):
            text, row, column = found[1][:40], int(found[2]), self.columns[int(found[3]) - 1]
            what = f"{text!r}, which is no number" if text else "nothing"
            return f"row {row} has {what} in column {column!r}; name a column of labels as labels, remove other text"
        return message.splitlines()[0][:150]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
