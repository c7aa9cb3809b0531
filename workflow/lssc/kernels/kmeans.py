"""K-means, compiled: seeded by k-means++ (Arthur and Vassilvitskii 2007), iterated by Lloyd.

Points are columns here, so that loops over points run in vectors. Distances leave out |x|^2, which is the same for all
centres: the nearest one has the least |c|^2 / 2 - x'c.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

# Points that take part at a time: their distances stay in the cache.
BLOCK = 512

_compiled: Any = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})


@_compiled
def seed(X, draws, centres):
    """Fill `centres` with points: the first at random, each other one drawn by its squared distance to the nearest."""
    D, n = X.shape
    nearest = np.full(n, np.inf)
    chosen = min(int(draws[0] * n), n - 1)
    for k in range(len(centres)):
        if k > 0:
            chosen = _draw(nearest, draws[k])
        for d in range(D):
            centres[k, d] = X[d, chosen]
        _update_nearest(X, centres[k], nearest)


@_compiled
def _update_nearest(X, centre, nearest):
    away = np.empty(BLOCK)
    for start in range(0, len(nearest), BLOCK):
        least = nearest[start : start + BLOCK]
        away[:] = 0.0
        for d in range(len(X)):
            x, c = X[d][start : start + BLOCK], centre[d]
            for j in range(len(x)):
                away[j] += (x[j] - c) ** 2
        for j in range(len(least)):
            least[j] = min(least[j], away[j])


@_compiled
def _draw(weights, share):
    """The first index at which the sum of the weights so far exceeds this share of the whole sum."""
    total = 0.0
    for j in range(len(weights)):
        total += weights[j]
    left = share * total
    for j in range(len(weights)):
        left -= weights[j]
        if left < 0.0:
            return j
    return min(int(share * len(weights)), len(weights) - 1)


@_compiled
def iterate(X, centres, labels, tolerance, max_iter):
    """Move the centres until no label changes or they hardly move.

    Labels and centres are given back in place; then the sum over points of |c|^2 - 2 x'c, the iterations, and whether
    they came to an end.
    """
    K, D = centres.shape
    sums, counts = np.zeros((K, D)), np.zeros(K, dtype=np.int64)
    labels[:] = -1
    iteration, done = 0, False
    while not done and iteration < max_iter:
        iteration += 1
        changed = _assign(X, centres, labels, sums, counts)[0]
        moved = _move(centres, sums, counts)
        done = changed == 0 or moved <= tolerance
    # The labels of the centres as they are now; nothing is left to do where the last round changed none.
    cost = _assign(X, centres, labels, sums, counts)[1]
    return cost, iteration, done


@_compiled
def _assign(X, centres, labels, sums, counts):
    """Give every point its nearest centre; sums and counts of the clusters follow. How many changed, and the cost."""
    K, D = centres.shape
    halves = np.zeros(K)
    for k in range(K):
        for d in range(D):
            halves[k] += 0.5 * centres[k, d] ** 2
    best, here, which, cost, changed = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), 0.0, 0
    for start in range(0, X.shape[1], BLOCK):
        stop = min(start + BLOCK, X.shape[1])
        old = labels[start:stop]
        _distances(X, start, stop, centres[0], halves[0], best)
        which[:] = 0.0
        for k in range(1, K):
            _distances(X, start, stop, centres[k], halves[k], here)
            _keep_nearer(here, best, which, float(k), stop - start)
        for j in range(stop - start):
            cost += best[j]
        changed += _count_changes(X, start, which, old, sums, counts)
    return changed, 2.0 * cost


@_compiled
def _distances(X, start, stop, centre, half, here):
    """|c|^2 / 2 - x'c of a block of points, three coordinates at a time to pass over it less often."""
    D = len(centre)
    for j in range(stop - start):
        here[j] = half
    for d in range(0, D - 2, 3):
        a, b, c = centre[d], centre[d + 1], centre[d + 2]
        # Slices: an index start + j might be negative for all the compiler knows, and would not vectorise.
        x, y, z = X[d][start:stop], X[d + 1][start:stop], X[d + 2][start:stop]
        for j in range(len(x)):
            here[j] -= a * x[j] + b * y[j] + c * z[j]
    for d in range(D - D % 3, D):
        a, x = centre[d], X[d][start:stop]
        for j in range(len(x)):
            here[j] -= a * x[j]


@_compiled
def _keep_nearer(here, best, which, k, size):
    for j in range(size):
        # Arithmetic instead of a choice, which would not vectorise.
        closer = 1.0 if here[j] < best[j] else 0.0
        which[j] += closer * (k - which[j])
        best[j] += closer * (here[j] - best[j])


@_compiled
def _count_changes(X, start, which, labels, sums, counts):
    changed = 0
    for j in range(len(labels)):
        changed += labels[j] != which[j]
    for j in range(len(labels) if changed > 0 else 0):
        old, new = int(labels[j]), int(which[j])
        if old != new:
            _account(X, start + j, new, 1, sums, counts)
            if old >= 0:
                _account(X, start + j, old, -1, sums, counts)
            labels[j] = new
    return changed


@_compiled
def _account(X, point, k, sign, sums, counts):
    counts[k] += sign
    for d in range(len(X)):
        sums[k, d] += sign * X[d, point]


@_compiled
def _move(centres, sums, counts):
    """Put the centres into the middle of their clusters; the sum of squares they moved by."""
    moved = 0.0
    for k in range(len(centres)):
        for d in range(centres.shape[1]):
            # An empty cluster waits where it is: a point may come back to it.
            new = sums[k, d] / counts[k] if counts[k] > 0 else centres[k, d]
            moved += (new - centres[k, d]) ** 2
            centres[k, d] = new
    return moved
