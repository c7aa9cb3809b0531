"""K-medoids by swaps: choose m of n points to minimise the sum over all points of the distance to the nearest one.

From a k-medoids++ start, points are tried in random order as a new medoid, each in the place of every old one at once,
and the best swap is made if it lowers the cost (FasterPAM, Schubert and Rousseeuw 2021). A swap needs each point's
distances to its nearest and second nearest medoid and, for the points closer to the candidate than to their second
nearest medoid, the distance to the candidate. No distance matrix is kept.

FasterPAM goes on until no swap helps. Here the search ends after a round of CANDIDATES_PER_ROUND that hardly lowers the
cost, so that the number of candidates does not grow with n.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lssc.kernels.compiled import FAST, helper, kernel
from lssc.kernels.vectors import draw_index, index_of_smallest
from lssc.linalg.scaling import unit_rows
from lssc.types import Array, IndexArray, Info

# Candidates in a round, and the share of the cost that a round must save for another one to follow.
CANDIDATES_PER_ROUND, MIN_ROUND_SAVING = 500, 0.005
# A swap that saves less than this share of the cost may be rounding.
MIN_SWAP_SAVING = 1e-9
# Points in a tile, whose differences from a candidate are summed side by side, and features added together.
TILE_POINTS, GROUP_FEATURES = 64, 4
# Features after which a tile is skipped if the candidate is too far away from all of its points.
FEATURES_PER_TEST = 64
# Points whose median becomes the origin, to avoid cancellation in single precision.
ORIGIN_POINTS = 100
INFINITE = np.float32(np.inf)
CITYBLOCK, EUCLIDEAN, COSINE = range(3)
METRICS = {"cityblock": CITYBLOCK, "euclidean": EUCLIDEAN, "cosine": COSINE}

_kernel, _helper = kernel(fastmath=FAST), helper(fastmath=FAST)


class MedoidSearch(NamedTuple):
    """State and workspace of the search; a slot is the place of a medoid.

    `centres` are the medoids as tiles. `loss` is by how much the cost grows if a slot is emptied. `near` and `next` are
    the slots of each point's nearest and second nearest medoid. `limit` is the sum of differences at a point's distance
    to its second nearest medoid, and -1 for the padding of the last tile. `listed` points are at distances `away`.
    """

    medoids: np.ndarray
    centres: np.ndarray
    loss: np.ndarray
    near: np.ndarray
    next: np.ndarray
    to_near: np.ndarray
    to_next: np.ndarray
    limit: np.ndarray
    row: np.ndarray
    sums: np.ndarray
    change: np.ndarray
    listed: np.ndarray
    away: np.ndarray
    marked: np.ndarray


def find_medoids(X: Array, m: int, *, metric: str, max_iter: int, rng: np.random.Generator) -> tuple[IndexArray, Info]:
    """Indices of m medoids of the rows of X (n x D), or of fewer if fewer rows differ, after up to max_iter rounds."""
    tiles, unit = _make_tiles(X, metric)
    kind, n, state = METRICS[metric], len(X), _make_state(len(X), m, tiles.shape[1])
    m = _seed_medoids(tiles, kind, rng.random(m), state)
    order, step = rng.permutation(n), min(n, CANDIDATES_PER_ROUND)
    cost, settled, n_iter = state.to_near.sum(), False, 0
    while not settled and n_iter < max_iter:
        candidates = order.take(np.arange(step) + n_iter * step, mode="wrap")
        before, cost = cost, _run_round(tiles, kind, m, candidates, state)
        settled = bool(before - cost <= MIN_ROUND_SAVING * before)
        n_iter += 1
    return state.medoids[:m], {"cost": float(cost * unit), "n_iter": n_iter, "converged": settled}


def _make_tiles(X: Array, metric: str) -> tuple[np.ndarray, float]:
    """The points in single precision, tiles x features x points of a tile, and the unit of their distances."""
    if metric == "cosine":
        # The cosine distance is half the squared distance at unit length. Zero points share an extra direction.
        X = np.column_stack([unit_rows(X), ~X.any(axis=1)])
    n, n_features = X.shape
    origin = np.median(X[:: -(-n // ORIGIN_POINTS)], axis=0)
    largest = max(np.abs(X[i : i + TILE_POINTS] - origin).max() for i in range(0, n, TILE_POINTS))
    unit = float(largest) if largest > 0 and metric != "cosine" else 1.0
    tiles = np.zeros(
        (-(-n // TILE_POINTS), -(-n_features // GROUP_FEATURES) * GROUP_FEATURES, TILE_POINTS), dtype=np.float32
    )
    for i, tile in enumerate(tiles):
        rows = X[i * TILE_POINTS : (i + 1) * TILE_POINTS]
        tile[:n_features, : len(rows)] = ((rows - origin) / unit).T
    return tiles, unit


def _make_state(n: int, m: int, n_features: int) -> MedoidSearch:
    limit = np.full(-(-n // TILE_POINTS) * TILE_POINTS, INFINITE)
    limit[n:] = -1
    return MedoidSearch(
        medoids=np.zeros(m, dtype=np.int64),
        centres=np.zeros((-(-m // TILE_POINTS), n_features, TILE_POINTS), dtype=np.float32),
        loss=np.zeros(m),
        near=np.zeros(n, dtype=np.int32),
        next=np.zeros(n, dtype=np.int32),
        to_near=np.ones(n),
        to_next=np.ones(n),
        limit=limit.reshape(-1, TILE_POINTS),
        row=np.zeros(n_features, dtype=np.float32),
        sums=np.zeros(TILE_POINTS, dtype=np.float32),
        change=np.zeros(m),
        listed=np.zeros(n, dtype=np.int64),
        away=np.zeros(n),
        marked=np.zeros(n, dtype=np.bool_),
    )


@_kernel
def _seed_medoids(tiles, kind, draws, state):
    """k-medoids++: draw each medoid with probability proportional to the distance to the nearest one before.

    Returns how many there are: fewer than len(draws) if all other points are duplicates of medoids.
    """
    for slot in range(len(draws)):
        point = draw_index(state.to_near, draws[slot])
        if point < 0:
            return slot
        k = _list_closer(tiles, kind, point, state)
        _set_medoid(tiles, point, slot, state)
        if slot == 0:
            _set_first(kind, state)
        else:
            for q in range(k):
                _add_closer(kind, state.listed[q], slot, state.away[q], state)
    return len(draws)


@_kernel
def _run_round(tiles, kind, m, candidates, state):
    """Try each candidate in turn. Returns the cost."""
    cost = _compute_cost(state)
    for point in candidates:
        # A medoid, or a duplicate of one.
        if state.to_near[point] == 0.0:
            continue
        k = _list_closer(tiles, kind, point, state)
        slot, change = _find_best_swap(m, k, state)
        if change < -MIN_SWAP_SAVING * cost:
            _swap(tiles, kind, m, point, slot, k, state)
            cost += change
    return _compute_cost(state)


@_helper
def _compute_cost(state):
    """The cost; also recomputes the losses, in which rounding errors add up."""
    cost = 0.0
    state.loss[:] = 0.0
    for o in range(len(state.near)):
        cost += state.to_near[o]
        state.loss[state.near[o]] += state.to_next[o] - state.to_near[o]
    return cost


@_helper
def _find_best_swap(m, k, state):
    """The slot in which the candidate lowers the cost most, and by how much it changes the cost."""
    change, gain = state.change, 0.0
    for slot in range(m):
        change[slot] = state.loss[slot]
    for q in range(k):
        o, d = state.listed[q], state.away[q]
        # A point closer to the candidate than to its nearest medoid changes to it whichever medoid is replaced, the
        # others only if their nearest one is.
        gain += min(d - state.to_near[o], 0.0)
        change[state.near[o]] += max(d, state.to_near[o]) - state.to_next[o]
    best = 0
    for slot in range(m):
        if change[slot] < change[best]:
            best = slot
    return best, change[best] + gain


@_helper
def _swap(tiles, kind, m, point, slot, k, state):
    """Put a point into a slot; the first k listed points may change to it."""
    _set_medoid(tiles, point, slot, state)
    listed = state.listed
    for q in range(k):
        state.marked[listed[q]] = True
    # These do not change to the new medoid.
    end = _list_left(slot, k, state)
    for q in range(k):
        o, d = listed[q], state.away[q]
        state.marked[o] = False
        if state.near[o] == slot:
            _set_medoids_of(kind, o, slot, d, state.next[o], state.to_next[o], state)
        else:
            _add_closer(kind, o, slot, d, state)
    for q in range(k, end):
        o = listed[q]
        if state.near[o] == slot:
            _set_medoids_of(kind, o, state.next[o], state.to_next[o], state.next[o], state.to_next[o], state)
        _find_next(tiles, kind, m, o, state)


@_helper
def _list_left(slot, k, state):
    """Append the points that lose one of their two medoids and are not marked to the first k listed ones.

    Returns how many are listed then.
    """
    listed, near, next, n = state.listed, state.near, state.next, len(state.near)
    # Numbers of one width are compared in whole vectors; few blocks hold a point that loses a medoid.
    slot = np.int32(slot)
    for first in range(0, n, TILE_POINTS):
        last, any_left = min(first + TILE_POINTS, n), False
        for o in range(first, last):
            any_left |= (near[o] == slot) | (next[o] == slot)
        if any_left:
            for o in range(first, last):
                if (near[o] == slot or next[o] == slot) and not state.marked[o]:
                    listed[k] = o
                    k += 1
    return k


@_helper
def _find_next(tiles, kind, m, o, state):
    """Find the second nearest medoid of a point among all."""
    near, sums, best, least = state.near[o], state.sums, -1, INFINITE
    _read_point(tiles, o, state.row)
    for first in range(0, m, TILE_POINTS):
        _clear(sums)
        _add_differences(state.centres, kind, first // TILE_POINTS, state.row, 0, len(state.row), sums)
        if first <= near < first + TILE_POINTS:
            sums[near - first] = INFINITE
        slot = index_of_smallest(sums, min(TILE_POINTS, m - first))
        if sums[slot] < least:
            best, least = first + slot, sums[slot]
    _set_medoids_of(kind, o, near, state.to_near[o], best, _to_distance(kind, least), state)


@_helper
def _read_point(tiles, o, row):
    for f in range(len(row)):
        row[f] = tiles[o // TILE_POINTS, f, o % TILE_POINTS]


@_helper
def _set_medoid(tiles, point, slot, state):
    state.medoids[slot] = point
    for f in range(tiles.shape[1]):
        state.centres[slot // TILE_POINTS, f, slot % TILE_POINTS] = tiles[point // TILE_POINTS, f, point % TILE_POINTS]


@_helper
def _set_first(kind, state):
    """Make the first medoid the nearest one of all points, with a second one farther away than any point can be."""
    far = 0.0
    for o in range(len(state.away)):
        far = max(far, 8.0 * state.away[o])
    for o in range(len(state.away)):
        _set_medoids_of(kind, o, 0, state.away[o], 0, far, state)


@_helper
def _add_closer(kind, o, slot, d, state):
    """Record a medoid that is closer to a point than its second nearest one."""
    if d < state.to_near[o]:
        _set_medoids_of(kind, o, slot, d, state.near[o], state.to_near[o], state)
    else:
        _set_medoids_of(kind, o, state.near[o], state.to_near[o], slot, d, state)


@_helper
def _set_medoids_of(kind, o, near, to_near, next, to_next, state):
    state.loss[state.near[o]] -= state.to_next[o] - state.to_near[o]
    state.loss[near] += to_next - to_near
    state.near[o], state.to_near[o] = near, to_near
    state.next[o], state.to_next[o] = next, to_next
    state.limit[o // TILE_POINTS, o % TILE_POINTS] = _to_sum(kind, to_next)


@_helper
def _list_closer(tiles, kind, point, state):
    """List the points closer to a candidate than to their second nearest medoid. Returns their number."""
    listed, away, sums, limit, k = state.listed, state.away, state.sums, state.limit, 0
    _read_point(tiles, point, state.row)
    for t in range(len(tiles)):
        _clear(sums)
        first, any_closer = 0, True
        while any_closer and first < len(state.row):
            last = min(first + FEATURES_PER_TEST, len(state.row))
            _add_differences(tiles, kind, t, state.row, first, last, sums)
            first, any_closer = last, _any_below(sums, limit, t)
        if any_closer:
            for p in range(TILE_POINTS):
                if sums[p] < limit[t, p]:
                    listed[k], away[k] = t * TILE_POINTS + p, _to_distance(kind, sums[p])
                    k += 1
    return k


@_helper
def _clear(sums):
    for p in range(TILE_POINTS):
        sums[p] = np.float32(0.0)


@_helper
def _any_below(sums, limit, t):
    found = False
    for p in range(TILE_POINTS):
        found |= sums[p] < limit[t, p]
    return found


@_helper
def _add_differences(tiles, kind, t, row, first, last, sums):
    """Add the differences of a tile's points from a row, in the features from first to last, to `sums`."""
    if kind == CITYBLOCK:
        for f in range(first, last, GROUP_FEATURES):
            a, b, c, d = row[f], row[f + 1], row[f + 2], row[f + 3]
            for p in range(TILE_POINTS):
                sums[p] += (
                    abs(tiles[t, f, p] - a)
                    + abs(tiles[t, f + 1, p] - b)
                    + abs(tiles[t, f + 2, p] - c)
                    + abs(tiles[t, f + 3, p] - d)
                )
    else:
        for f in range(first, last, GROUP_FEATURES):
            a, b, c, d = row[f], row[f + 1], row[f + 2], row[f + 3]
            for p in range(TILE_POINTS):
                sums[p] += (
                    (tiles[t, f, p] - a) ** 2
                    + (tiles[t, f + 1, p] - b) ** 2
                    + (tiles[t, f + 2, p] - c) ** 2
                    + (tiles[t, f + 3, p] - d) ** 2
                )


@_helper
def _to_distance(kind, total):
    """The distance at a sum of differences."""
    if kind == CITYBLOCK:
        return total
    return np.sqrt(total) if kind == EUCLIDEAN else total / 2


@_helper
def _to_sum(kind, distance):
    """The sum of differences at a distance."""
    if kind == CITYBLOCK:
        return distance
    return distance * distance if kind == EUCLIDEAN else 2 * distance
