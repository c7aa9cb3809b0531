"""Scaling of rows, and signs of columns."""

from __future__ import annotations

import numpy as np

from lssc.types import Array


def unit_rows(A: Array) -> Array:
    """Rows at unit Euclidean length; a zero row has no direction and stays zero."""
    length = np.linalg.norm(A, axis=1, keepdims=True)
    length[length == 0] = 1.0
    return A / length


def fixed_signs(vectors: Array) -> Array:
    """Each column with its entry of largest magnitude positive: eigenvectors come with either sign."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1, signs)
