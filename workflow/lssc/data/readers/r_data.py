"""Tables of R packages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lssc.data.files.points import class_numbers
from lssc.data.files.r_data import Factor, read_data_frame
from lssc.data.tables import Table
from lssc.errors import InputError
from lssc.parts.params import Text
from lssc.parts.registry import component, suggest


@component("reader", "r_data")
def read_r_data(paths: Sequence[Path], *, labels: Text = "Class") -> Table:
    """The numeric columns of the data frame in an .rda file; the column `labels` holds the classes."""
    columns = read_data_frame(paths[0])
    if labels not in columns:
        raise InputError(f"{paths[0].name}: has no column {labels!r}; {suggest(labels, columns)}")
    classes = columns.pop(labels)
    numbers = [column for column in columns.values() if not isinstance(column, Factor)]
    names = np.array(classes.levels)[classes.codes - 1] if isinstance(classes, Factor) else classes
    return Table(np.column_stack(numbers).astype(np.float64), class_numbers(names, paths[0]))
