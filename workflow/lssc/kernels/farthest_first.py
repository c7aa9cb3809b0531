"""Farthest-first search: exemplars, each the point that the exemplars before it represent worst.

The cost of a point is min |c|_1 + lam/2 |x - X0'c|^2, X0 the exemplars so far (rows). It can only fall as exemplars are
added, so an old cost is an upper bound. The point of the largest bound is solved again until the largest bound is up to
date: no other point can cost more.

Costs are kept as shares of the largest cost without exemplars, in single precision: those that differ by rounding only
are equal, and the first of these points in a given order is chosen. At unit length, all points not represented yet are
equal.
"""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import FAST, helper, kernel
from lssc.kernels.lasso_arrays import MAX_DIMENSIONS_BY_COORDINATES, Dictionary, make_lasso_workspace
from lssc.kernels.lasso_point import choose_candidates, solve_point, update_threshold
from lssc.kernels.vectors import dot, index_of_largest32, largest_magnitude
from lssc.types import Array, IndexArray

# Correlations of points and exemplars that are kept (1 GB); if there are more, they are computed anew for each solve.
MAX_KEPT_CORRELATIONS = 2**27
# The first candidate threshold: a share of a point's largest correlation.
FIRST_THRESHOLD = 0.5

_helper = helper(fastmath=FAST, _nrt=False)


def find_exemplars(
    X: Array, m: int, *, lam: float, first: int, order: IndexArray | None = None
) -> tuple[IndexArray, int]:
    """Indices of m exemplars of the rows of X (n x D), the first given, and how many lassos were solved.

    Of points that cost the same, the first in `order` is chosen, which holds all indices (default: 0, 1, ...).
    """
    n, D = X.shape
    order = np.arange(n) if order is None else order
    # np.empty: untouched pages cost no memory.
    Q = np.empty((n, m) if n * m <= MAX_KEPT_CORRELATIONS else (1, m))
    squares = (X**2).sum(axis=1)
    dictionary = empty_dictionary(m, D, float(np.sqrt(squares.max())))
    chosen, seen = np.zeros(m, dtype=np.int64), np.zeros(n, dtype=np.int64)
    X = np.require(X, np.float64, ["C", "W"])
    largest = float(squares.max()) or 1.0
    bounds = (squares[order] / largest).astype(np.float32)
    work = make_lasso_workspace(m, D)
    n_solves = _search(X, squares, Q, dictionary, lam, first, order, lam / 2 * largest, chosen, bounds, seen, work)
    return chosen, int(n_solves)


def empty_dictionary(m: int, D: int, longest: float) -> Dictionary:
    """Room for m points of D coordinates, none longer than `longest`, which `add_exemplar` adds one by one."""
    few = D <= MAX_DIMENSIONS_BY_COORDINATES
    columns32 = np.zeros((D, m) if few else (0, 0), dtype=np.float32)
    gram, gram32 = np.zeros((m, m)), np.zeros((0, 0) if few else (m, m), dtype=np.float32)
    return Dictionary(np.zeros((m, D)), columns32, gram, gram32, gram, longest)


@kernel(fastmath=FAST, _nrt=False)
def _search(X, squares, Q, dictionary, lam, first, order, largest, chosen, bounds, seen, work):
    """Fill `chosen`. Returns the number of solves.

    bounds[i] is the cost of point order[i] by the first seen[i] exemplars, divided by the largest cost without
    exemplars.
    """
    threshold, n_solves, i = FIRST_THRESHOLD, 0, np.int64(0)
    keeps_all = len(Q) == len(X)
    while order[i] != first:
        i += 1
    for size in range(len(chosen)):
        if size > 0:
            i = index_of_largest32(bounds)
            while seen[i] < size:
                x, q = X[order[i]], Q[i if keeps_all else 0]
                for j in range(seen[i] if keeps_all else 0, size):
                    q[j] = dot(dictionary.atoms[j], x)
                seen[i] = size
                cost, threshold = _compute_cost(x, squares[order[i]], q[:size], dictionary, lam, threshold, work)
                # Rounding can make a cost of zero negative, at which a point would rank behind those chosen already.
                bounds[i] = cost / largest if cost > 0.0 else 0.0
                n_solves += 1
                i = index_of_largest32(bounds)
        chosen[size] = order[i]
        # Never chosen again, even if duplicates or zero points make all costs equal.
        bounds[i] = -1.0
        add_exemplar(X[order[i]], size, dictionary)
    return n_solves


@_helper
def _compute_cost(x, square, q, dictionary, lam, threshold, work):
    """min |c|_1 + lam/2 |x - X0'c|^2, and the candidate threshold for the next point."""
    mu, top, total, fitted = 1.0 / lam, largest_magnitude(q, len(q), work.cell), 0.0, 0.0
    if top > mu:
        n_candidates = choose_candidates(q, max(threshold * top, mu), dictionary, work)
        threshold = update_threshold(threshold, n_candidates)
        k, _ = solve_point(x, q, q, 0.0, dictionary, -1, top, mu, n_candidates, work)
        for i in range(k):
            total += abs(work.weight[i])
            fitted += work.weight[i] * q[work.active[i]]
    # At the minimum c'(q - Gc) = |c|_1 / lam, which eliminates Gc from the cost.
    return 0.5 * total + 0.5 * lam * (square - fitted), threshold


@_helper
def add_exemplar(x, place, dictionary):
    """Make x the exemplar at this place."""
    for d in range(len(x)):
        dictionary.atoms[place, d] = x[d]
    for d in range(len(dictionary.columns32)):
        dictionary.columns32[d, place] = x[d]
    for j in range(place + 1):
        product = dot(dictionary.atoms[j], x)
        dictionary.gram[place, j] = dictionary.gram[j, place] = product
        if len(dictionary.gram32) > 0:
            dictionary.gram32[place, j] = dictionary.gram32[j, place] = product
