"""The nearest of many centres, by matrix products of blocks of points."""

from __future__ import annotations

import numpy as np

from lssc.types import Array, IndexArray, Rows, block_sizes


class Closeness:
    """Called with points (rows), gives a value for each point and centre: the larger, the nearer.

    Half the squared distance is a number of the point alone minus x'(c - o) - (|c|^2 - |o|^2) / 2, for any o. With o
    the mean of the centres, little cancels even if the points lie far from the origin.
    """

    def __init__(self, centres: Array) -> None:
        origin = centres.mean(axis=0)
        self._columns = np.ascontiguousarray((centres - origin).T)
        self._halves = np.einsum("dk,kd->k", self._columns, centres + origin) / 2

    def __call__(self, X: Array) -> Array:
        values = X @ self._columns
        values -= self._halves
        return values


def nearest_centres(X: Rows, centres: Array) -> IndexArray:
    """The place of the nearest centre of each point; the first one of several."""
    closeness, labels, start = Closeness(centres), np.empty(len(X), dtype=np.int64), 0
    for size in block_sizes(len(X), len(centres)):
        labels[start : start + size] = closeness(X[start : start + size]).argmax(axis=1)
        start += size
    return labels
