"""Farthest-first search, compiled: the costs come from the homotopy of the lasso, one point at a time.

A cost can only fall as exemplars are added, so an old cost is an upper bound. The point of the largest bound is looked
at again, until one turns out to be up to date: no other can be worse.
"""

from __future__ import annotations

import numpy as np

from lssc.homotopy import CANDIDATES, FEW_DIMENSIONS, Dictionary, choose, code_point, compiled, dot, largest, work_of
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
    n_solves = _search(X, squares, Q, dictionary, lam, first, chosen, lam / 2 * squares, looked, work_of(m, D))
    return chosen, int(n_solves)


@compiled
def _search(X, squares, Q, dictionary, lam, first, chosen, bound, looked, work):
    """Fill `chosen`; looked[i] exemplars were known when bound[i] was computed. How many costs were computed."""
    point, share, n_solves = first, 0.5, 0
    kept = len(Q) == len(X)
    for size in range(len(chosen)):
        if size > 0:
            point = _index_of_worst(bound)
            while looked[point] < size:
                q = Q[point if kept else 0]
                _correlate(X[point], dictionary, looked[point] if kept else 0, size, q)
                looked[point] = size
                bound[point], share = _cost(X[point], squares[point], q[:size], dictionary, lam, share, work)
                n_solves += 1
                point = _index_of_worst(bound)
        chosen[size] = point
        # Never chosen twice, even where a duplicate or a zero point leaves all costs equal.
        bound[point] = -1.0
        _add(X[point], size, dictionary)
    return n_solves


@compiled
def _correlate(x, dictionary, start, size, q):
    """Correlations with the exemplars that have come since the last look."""
    for j in range(start, size):
        q[j] = dot(dictionary.atoms[j], x)


@compiled
def _cost(x, square, q, dictionary, lam, share, work):
    """min |c|_1 + lam/2 |x - L'c|^2, and the share of the largest correlation that makes a candidate, for the next."""
    mu, top, total, fitted = 1.0 / lam, largest(q, len(q), work.cell), 0.0, 0.0
    if top > mu:
        n_candidates = choose(q, max(share * top, mu), dictionary, work)
        share = share * 0.98 if n_candidates < CANDIDATES else min(0.98, share * 1.01)
        k, _ = code_point(x, q, dictionary, -1, top, mu, n_candidates, work)
        for i in range(k):
            total += abs(work.weight[i])
            fitted += work.weight[i] * q[work.candidates[work.active[i]]]
    # At the minimum c'(q - Gc) is |c|_1 / lam, which takes Gc out of the cost.
    return 0.5 * total + 0.5 * lam * (square - fitted), share


@compiled
def _add(x, place, dictionary):
    """Make a point the exemplar of this place."""
    for d in range(len(x)):
        dictionary.atoms[place, d] = x[d]
    for d in range(len(dictionary.columns32)):
        dictionary.columns32[d, place] = x[d]
    for j in range(place + 1):
        product = dot(dictionary.atoms[j], x)
        dictionary.gram[place, j] = dictionary.gram[j, place] = product
        if len(dictionary.gram32) > 0:
            dictionary.gram32[place, j] = dictionary.gram32[j, place] = product


@compiled
def _index_of_worst(bound):
    """Where the largest bound stands; by its bits, as in the homotopy."""
    bits, best, j = bound.view(np.int64), np.int64(-(2**63)), 0
    for i in range(len(bits)):
        best = max(best, bits[i])
    while bits[j] != best:
        j += 1
    return j
