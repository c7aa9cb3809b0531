"""Grey pictures in files, one point each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from lssc.data.files.pictures import picture_classes, read_pictures
from lssc.data.files.points import class_numbers
from lssc.data.tables import Table
from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component


@component("reader", "pictures")
def read_picture_table(
    paths: Sequence[Path],
    *,
    labels: Literal["folder", "name"] = "folder",
    shrink: Annotated[int, AtLeast(1), AtMost(64)] = 1,
) -> Table:
    """The grey values of PGM or PNG files; the class is the folder's name, or the file's up to its last number.

    `shrink` averages squares of so many pixels a side.
    """
    return Table(read_pictures(paths, shrink=shrink), class_numbers(picture_classes(paths, labels), paths[0]))
