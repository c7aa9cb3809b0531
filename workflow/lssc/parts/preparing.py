"""Points as the parts of a method take them: checked, in double precision, scaled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lssc.linalg.scaling import unit_rows
from lssc.parts.inputs import sound_problem
from lssc.types import Array


def prepare_points(points: Any, places: Sequence[int], *, affine: bool, unit_norm: bool) -> Array:
    """Rows of X as points; ValueError names the row, one of `places`, that holds a number which cannot be used.

    `affine` adds a coordinate that is 1 for every point, `unit_norm` then scales the points to unit norm.
    """
    # Before scaling: it turns a point of 1e200 into zero.
    if problem := sound_problem("X", points, places):
        raise ValueError(problem)
    points = np.require(points, np.float64, "C")
    if affine:
        # Affine subspaces of R^D are linear ones of R^(D + 1) at height 1.
        points = np.column_stack([points, np.ones(len(points))])
    return unit_rows(points) if unit_norm else points
