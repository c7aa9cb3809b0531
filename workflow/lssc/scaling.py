"""Scaling of rows."""

from __future__ import annotations

import numpy as np

from lssc.types import Array


def unit_rows(A: Array) -> Array:
    """Rows at unit Euclidean length; a zero row has no direction and stays zero."""
    length = np.linalg.norm(A, axis=1, keepdims=True)
    length[length == 0] = 1.0
    return A / length
