"""Landmarks one by one: each the point most correlated with what the ones before leave of a random point."""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import FAST, helper, kernel
from lssc.kernels.farthest_first import FIRST_THRESHOLD, add_exemplar, empty_dictionary
from lssc.kernels.lasso_arrays import make_lasso_workspace
from lssc.kernels.lasso_point import choose_candidates, solve_point, update_threshold
from lssc.kernels.vectors import dot, largest_magnitude, subtract_multiple
from lssc.types import Array, IndexArray

_helper = helper(fastmath=FAST, _nrt=False)


def find_by_subgradient(X: Array, m: int, order: IndexArray, *, lam: float) -> tuple[IndexArray, int]:
    """Up to m landmarks, one for each point of `order` at most, and how many points were used.

    For a point x, r = x - L'c is what its lasso code by the landmarks L so far leaves of it. The next landmark is the
    point of largest |x_j'r|, if this exceeds 1/lam: of largest subgradient of the cost of x, of those not in L yet.
    """
    n, D = X.shape
    X = np.require(X, np.float64, ["C", "W"])
    dictionary = empty_dictionary(m, D, float(np.sqrt((X**2).sum(axis=1).max())))
    chosen, place_of = np.zeros(m, dtype=np.int64), np.full(n, -1)
    work = make_lasso_workspace(m, D)
    size, rounds = _search(X, order, lam, dictionary, work, np.empty(m), np.empty(D), place_of, chosen)
    return chosen[:size], int(rounds)


@kernel(fastmath=FAST, _nrt=False)
def _search(X, order, lam, dictionary, work, q, r, place_of, chosen):
    """Fill `chosen` and their places. Returns how many landmarks there are, and the number of rounds."""
    size, rounds, threshold = 0, 0, FIRST_THRESHOLD
    while size < len(chosen) and rounds < len(order):
        point = order[rounds]
        rounds += 1
        threshold = _find_residual(X[point], place_of[point], q[:size], 1.0 / lam, dictionary, threshold, work, r)
        best, largest = -1, 1.0 / lam
        for j in range(len(X)):
            if place_of[j] < 0 and j != point:
                product = abs(dot(X[j], r))
                if product > largest:
                    best, largest = j, product
        if best >= 0:
            chosen[size], place_of[best] = best, size
            add_exemplar(X[best], size, dictionary)
            size += 1
    return size, rounds


@_helper
def _find_residual(x, own, q, mu, dictionary, threshold, work, r):
    """Set r to x - L'c. Returns the candidate threshold for the next point."""
    for d in range(len(x)):
        r[d] = x[d]
    for j in range(len(q)):
        q[j] = 0.0 if j == own else dot(dictionary.atoms[j], x)
    top = largest_magnitude(q, len(q), work.cell)
    if top > mu:
        n_candidates = choose_candidates(q, max(threshold * top, mu), dictionary, work)
        threshold = update_threshold(threshold, n_candidates)
        k, _ = solve_point(x, q, q, 0.0, dictionary, own, top, mu, n_candidates, work)
        for i in range(k):
            subtract_multiple(r, work.weight[i], dictionary.atoms[work.active[i]])
    return threshold
