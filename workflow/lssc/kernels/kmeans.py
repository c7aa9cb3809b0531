"""K-means: k-means++ seeding (Arthur and Vassilvitskii 2007), Lloyd's iteration, and the same with unit centres.

Points are columns here (D x n), so that loops over points run in vectors. Distances leave out |x|^2, which is the same
for all centres: the nearest one has the least |c|^2 / 2 - x'c.
"""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import FAST, helper, kernel
from lssc.kernels.vectors import draw_index, norm

# Points whose distances are computed at a time; they stay in the cache.
BLOCK_POINTS = 512

_kernel, _helper = kernel(fastmath=FAST), helper(fastmath=FAST)


@_kernel
def seed_centres(X, draws, centres):
    """Fill `centres` (K x D) with points, each drawn by its squared distance to the nearest centre before.

    `draws` (K) are uniform in [0, 1).
    """
    D, n = X.shape
    nearest = np.full(n, np.inf)
    chosen = min(int(draws[0] * n), n - 1)
    for k in range(len(centres)):
        if k > 0:
            drawn = draw_index(nearest, draws[k])
            chosen = drawn if drawn >= 0 else min(int(draws[k] * n), n - 1)
        for d in range(D):
            centres[k, d] = X[d, chosen]
        _update_nearest(X, centres[k], nearest)


@_helper
def _update_nearest(X, centre, nearest):
    away = np.empty(BLOCK_POINTS)
    for start in range(0, len(nearest), BLOCK_POINTS):
        least = nearest[start : start + BLOCK_POINTS]
        away[:] = 0.0
        for d in range(len(X)):
            x, c = X[d][start : start + BLOCK_POINTS], centre[d]
            for j in range(len(x)):
                away[j] += (x[j] - c) ** 2
        for j in range(len(least)):
            least[j] = min(least[j], away[j])


@_kernel
def refine_centres(X, centres, labels, tolerance, max_iter, unit_length):
    """Alternate labels (n) and centres (K x D), in place, until no label changes or the centres move by `tolerance`.

    Returns the sum over points of |c|^2 - 2 x'c, the number of iterations and whether they converged. `tolerance`
    bounds the sum of the squared moves. With `unit_length`, points and centres have unit length: centres take the
    directions of their clusters' sums.
    """
    K, D = centres.shape
    sums, counts = np.zeros((K, D)), np.zeros(K, dtype=np.int64)
    labels[:] = -1
    iteration, done = 0, False
    while not done and iteration < max_iter:
        iteration += 1
        changed = _assign_labels(X, centres, labels, sums, counts)[0]
        moved = _turn_centres(centres, sums) if unit_length else _move_centres(centres, sums, counts)
        done = changed == 0 or moved <= tolerance
    # Labels of the final centres.
    cost = _assign_labels(X, centres, labels, sums, counts)[1]
    return cost, iteration, done


@_kernel
def assign_labels(X, centres, labels, sums, counts):
    """Label every point by its nearest centre; fill the `sums` (K x D) and `counts` (K) of the clusters.

    Returns the sum over points of |c|^2 - 2 x'c.
    """
    labels[:], sums[:], counts[:] = -1.0, 0.0, 0
    return _assign_labels(X, centres, labels, sums, counts)[1]


@_helper
def _assign_labels(X, centres, labels, sums, counts):
    """Label every point by its nearest centre and update `sums` and `counts`. Returns the changes and the cost."""
    K, D = centres.shape
    halves = np.zeros(K)
    for k in range(K):
        for d in range(D):
            halves[k] += 0.5 * centres[k, d] ** 2
    best, here, which, cost, changed = np.empty(BLOCK_POINTS), np.empty(BLOCK_POINTS), np.empty(BLOCK_POINTS), 0.0, 0
    for start in range(0, X.shape[1], BLOCK_POINTS):
        stop = min(start + BLOCK_POINTS, X.shape[1])
        old = labels[start:stop]
        _compute_distances(X, start, stop, centres[0], halves[0], best)
        which[:] = 0.0
        for k in range(1, K):
            _compute_distances(X, start, stop, centres[k], halves[k], here)
            _keep_nearer(here, best, which, float(k), stop - start)
        for j in range(stop - start):
            cost += best[j]
        changed += _update_labels(X, start, which, old, sums, counts)
    return changed, 2.0 * cost


@_helper
def _compute_distances(X, start, stop, centre, half, here):
    """|c|^2 / 2 - x'c of a block of points, three coordinates per pass."""
    D = len(centre)
    for j in range(stop - start):
        here[j] = half
    for d in range(0, D - 2, 3):
        a, b, c = centre[d], centre[d + 1], centre[d + 2]
        # Slices: an index start + j could be negative for all the compiler knows, and would not vectorise.
        x, y, z = X[d][start:stop], X[d + 1][start:stop], X[d + 2][start:stop]
        for j in range(len(x)):
            here[j] -= a * x[j] + b * y[j] + c * z[j]
    for d in range(D - D % 3, D):
        a, x = centre[d], X[d][start:stop]
        for j in range(len(x)):
            here[j] -= a * x[j]


@_helper
def _keep_nearer(here, best, which, k, size):
    for j in range(size):
        # Arithmetic instead of a branch, which would not vectorise.
        closer = 1.0 if here[j] < best[j] else 0.0
        which[j] += closer * (k - which[j])
        best[j] += closer * (here[j] - best[j])


@_helper
def _update_labels(X, start, which, labels, sums, counts):
    changed = 0
    for j in range(len(labels)):
        changed += labels[j] != which[j]
    for j in range(len(labels) if changed > 0 else 0):
        old, new = int(labels[j]), int(which[j])
        if old != new:
            _add_to_cluster(X, start + j, new, np.int64(1), sums, counts)
            if old >= 0:
                _add_to_cluster(X, start + j, old, np.int64(-1), sums, counts)
            labels[j] = new
    return changed


@_helper
def _add_to_cluster(X, point, k, sign, sums, counts):
    counts[k] += sign
    for d in range(len(X)):
        sums[k, d] += sign * X[d, point]


@_helper
def _move_centres(centres, sums, counts):
    """Move the centres to the means of their clusters. Returns the sum of the squared moves."""
    moved = 0.0
    for k in range(len(centres)):
        for d in range(centres.shape[1]):
            # An empty cluster stays where it is: points may come back to it.
            new = sums[k, d] / counts[k] if counts[k] > 0 else centres[k, d]
            moved += (new - centres[k, d]) ** 2
            centres[k, d] = new
    return moved


@_helper
def _turn_centres(centres, sums):
    """Turn the centres to the sums of their clusters. Returns the sum of the squared moves."""
    moved = 0.0
    for k in range(len(centres)):
        length = norm(sums[k])
        for d in range(centres.shape[1]):
            # A sum of zero has no direction: the cluster is empty, or its points cancel out.
            new = sums[k, d] / length if length > 0.0 else centres[k, d]
            moved += (new - centres[k, d]) ** 2
            centres[k, d] = new
    return moved
