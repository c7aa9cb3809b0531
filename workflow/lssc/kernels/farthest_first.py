"""Farthest-first search, compiled: the costs come from the homotopy of the lasso, one point at a time.

A cost can only fall as exemplars are added, so an old cost is an upper bound. The point of the largest bound is looked
at again, until one turns out to be up to date: no other can be worse. The loop itself lies beside the homotopy: numba
takes what it kept on disk for current while the file of the compiled function is unchanged, whatever else changed.
"""

from __future__ import annotations

import numpy as np

from lssc.kernels.lasso import FEW_DIMENSIONS, Dictionary, search, work_of
from lssc.types import Array, IndexArray

# Correlations that are kept between two looks at a point; beyond so many (1 GB) they are computed anew.
KEPT = 2**27


def farthest_first(X: Array, m: int, *, lam: float, first: int) -> tuple[IndexArray, int]:
    """m exemplars in order of selection, the first one given, and how many costs were computed."""
    n, D = X.shape
    # Memory that is not written to is not taken.
    Q = np.empty((n, m) if n * m <= KEPT else (1, m))
    squares = (X**2).sum(axis=1)
    few = D <= FEW_DIMENSIONS
    dictionary = Dictionary(
        np.zeros((m, D)),
        np.zeros((D, m) if few else (0, 0), dtype=np.float32),
        np.zeros((m, m)),
        np.zeros((0, 0) if few else (m, m), dtype=np.float32),
        float(np.sqrt(squares.max())),
    )
    chosen, looked = np.zeros(m, dtype=np.int64), np.zeros(n, dtype=np.int64)
    X = np.require(X, np.float64, ["C", "W"])
    n_solves = search(X, squares, Q, dictionary, lam, first, chosen, lam / 2 * squares, looked, work_of(m, D))
    return chosen, int(n_solves)
