"""Tables of text: numbers and a class in each line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from lssc.data.files.points import PointsFile
from lssc.data.tables import Table
from lssc.errors import InputError
from lssc.parts.params import Text
from lssc.parts.registry import component


@component("reader", "text")
def read_text(paths: Sequence[Path], *, labels: Text = "-1", header: Literal["first_row", "none"] = "none") -> Table:
    """The points of CSV files; `labels` is the column of the class. Several files hold views of the same points."""
    views = [PointsFile(path, labels_in=labels, header=header) for path in paths]
    first = views[0].labels
    for view in views:
        if not np.array_equal(view.labels.numbers, first.numbers):
            raise InputError(f"{view.path.name}: its classes are not those of {views[0].path.name}")
    return Table(np.hstack([np.concatenate(list(view.blocks())) for view in views]), first)
