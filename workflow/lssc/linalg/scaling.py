"""Rows at unit norm or shorter, and columns with a fixed sign."""

from __future__ import annotations

import numpy as np

from lssc.types import Array


def unit_rows(A: Array) -> Array:
    """A with rows at unit Euclidean norm; a zero row stays zero."""
    length = np.linalg.norm(A, axis=1, keepdims=True)
    length[length == 0] = 1.0
    return A / length


def short_rows(A: Array) -> Array:
    """A with rows longer than 1 scaled to unit norm: the nearest matrix with rows of length at most 1."""
    return A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1.0)


def fixed_signs(vectors: Array) -> Array:
    """Flip columns so that the entry of largest magnitude is positive: eigenvectors come with either sign."""
    return vectors * column_signs(vectors)


def column_signs(vectors: Array) -> Array:
    """The sign of the entry of largest magnitude in each column; 1 for a zero column."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.where(signs == 0, 1, signs)
