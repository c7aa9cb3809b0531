"""Which columns of a table are points, and which one holds the labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lssc.data.files.arrays import AUTO
from lssc.errors import InputError
from lssc.parts.registry import suggest


def column_place(path: Path, columns: Sequence[str], key: str) -> int:
    """The place of a column, by its name or its number from 0; -1 is the last. A table of one column needs no key."""
    if key == AUTO and len(columns) == 1:
        return 0
    if key in columns:
        return list(columns).index(key)
    if key.lstrip("-").isdecimal() and -len(columns) <= int(key) < len(columns):
        return int(key) % len(columns)
    if key == AUTO:
        raise InputError(f"{path}: has {len(columns)} columns; name the column that holds the labels")
    number = f", or use a number from 0 to {len(columns) - 1}"
    raise InputError(f"{path}: has no column {key!r}; {suggest(key, columns)}{number}")


def points_places(path: Path, columns: Sequence[str], labels: str | None) -> list[int]:
    """The places of all columns but the one of the labels."""
    omitted = None if labels is None else column_place(path, columns, labels)
    places = [place for place in range(len(columns)) if place != omitted]
    if unnamed := [place for place in places if not columns[place].strip()]:
        raise InputError(
            f"{path}: column {unnamed[0]} has no name in the header: a row number, perhaps; remove it or name it"
        )
    return places
