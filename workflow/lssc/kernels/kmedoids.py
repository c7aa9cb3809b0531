"""K-medoids by swaps: m of n points, such that the sum over all points of the distance to the nearest of them is small.

From a start by k-medoids++, points are tried in random order as a new medoid, each in the place of every old one at
once, and the best exchange is made if it lowers the cost (FasterPAM, Schubert and Rousseeuw 2021). All that this needs
is each point's distance to its nearest and its next medoid and, for the points closer to the candidate than to their
next medoid, the distance to the candidate. So no matrix of distances is kept.

FasterPAM goes on until no exchange helps. Here a round of ROUND candidates that hardly lowers the cost is the last, so
that their number does not grow with n.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lssc.linalg.scaling import unit_rows
from lssc.types import Array, IndexArray, Info

# Candidates in a round, and the share of the cost that it must take off for another one to follow.
ROUND, SETTLED = 500, 0.005
# An exchange that takes less than this share off the cost may be rounding.
ROUNDING = 1e-9
# Points of a tile: differences from all of them are summed up side by side, so many features at a time.
TILE, FEATURES = 64, 4
# Features after which a tile is given up if the candidate is too far away from all of its points.
LOOK = 64
# Rows whose median is the origin: single precision is not for what all points have in common.
SOME = 100
FAR = np.float32(np.inf)
CITYBLOCK, EUCLIDEAN, COSINE = range(3)
KINDS = {"cityblock": CITYBLOCK, "euclidean": EUCLIDEAN, "cosine": COSINE}

_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})


class State(NamedTuple):
    """The medoids, each in a slot; the slots of each point's nearest and next medoid; room to work in.

    `centres` are the medoids as tiles. `loss` is by how much the cost grows if a medoid goes and none comes. `limit` is
    the sum of differences that makes a point's distance to its next medoid, and less than any for what fills up the
    last tile. `listed` points have the distances `found`.
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
    found: np.ndarray
    marked: np.ndarray


def find_medoids(X: Array, m: int, *, metric: str, max_iter: int, rng: np.random.Generator) -> tuple[IndexArray, Info]:
    """Indices of m medoids of the rows of X, or of fewer if fewer rows differ, after at most max_iter rounds."""
    tiles, unit = _in_tiles(X, metric)
    kind, n, state = KINDS[metric], len(X), _state(len(X), m, tiles.shape[1])
    m = _start(tiles, kind, rng.random(m), state)
    order, step = rng.permutation(n), min(n, ROUND)
    cost, settled, n_iter = state.to_near.sum(), False, 0
    while not settled and n_iter < max_iter:
        candidates = order.take(np.arange(step) + n_iter * step, mode="wrap")
        before, cost = cost, _try_round(tiles, kind, m, candidates, state)
        settled = bool(before - cost <= SETTLED * before)
        n_iter += 1
    return state.medoids[:m], {"cost": float(cost * unit), "n_iter": n_iter, "converged": settled}


def _in_tiles(X: Array, metric: str) -> tuple[np.ndarray, float]:
    """The points in single precision as tiles x features x points of a tile, and the unit of their distances."""
    if metric == "cosine":
        # Half the squared distance at unit length. Zero points share a direction of their own.
        X = np.column_stack([unit_rows(X), ~X.any(axis=1)])
    n, n_features = X.shape
    origin = np.median(X[:: -(-n // SOME)], axis=0)
    largest = max(np.abs(X[i : i + TILE] - origin).max() for i in range(0, n, TILE))
    unit = float(largest) if largest > 0 and metric != "cosine" else 1.0
    tiles = np.zeros((-(-n // TILE), -(-n_features // FEATURES) * FEATURES, TILE), dtype=np.float32)
    for i, tile in enumerate(tiles):
        rows = X[i * TILE : (i + 1) * TILE]
        tile[:n_features, : len(rows)] = ((rows - origin) / unit).T
    return tiles, unit


def _state(n: int, m: int, n_features: int) -> State:
    limit = np.full(-(-n // TILE) * TILE, FAR)
    limit[n:] = -1
    return State(
        medoids=np.zeros(m, dtype=np.int64),
        centres=np.zeros((-(-m // TILE), n_features, TILE), dtype=np.float32),
        loss=np.zeros(m),
        near=np.zeros(n, dtype=np.int32),
        next=np.zeros(n, dtype=np.int32),
        to_near=np.ones(n),
        to_next=np.ones(n),
        limit=limit.reshape(-1, TILE),
        row=np.zeros(n_features, dtype=np.float32),
        sums=np.zeros(TILE, dtype=np.float32),
        change=np.zeros(m),
        listed=np.zeros(n, dtype=np.int64),
        found=np.zeros(n),
        marked=np.zeros(n, dtype=np.bool_),
    )


@_compiled
def _start(tiles, kind, draws, state):
    """k-medoids++: a point becomes the next medoid with a chance that is its distance to the nearest one so far.

    How many there are in the end: fewer than asked for if every other point is a duplicate of one.
    """
    for slot in range(len(draws)):
        point = _draw(state.to_near, draws[slot])
        if point < 0:
            return slot
        k = _list_closer(tiles, kind, point, state)
        _set_medoid(tiles, point, slot, state)
        if slot == 0:
            _set_first(kind, state)
        else:
            for q in range(k):
                _add(kind, state.listed[q], slot, state.found[q], state)
    return len(draws)


@_compiled
def _draw(weight, share):
    """A point with a chance that is its weight; -1 if there is no weight."""
    total = 0.0
    for o in range(len(weight)):
        total += weight[o]
    left, last = share * total, -1
    for o in range(len(weight)):
        if weight[o] > 0.0:
            last = o
            left -= weight[o]
            if left < 0.0:
                break
    return last


@_compiled
def _try_round(tiles, kind, m, candidates, state):
    """Try each candidate in turn; the cost after that."""
    cost = _sum_up(state)
    for point in candidates:
        # A medoid, or a duplicate of one.
        if state.to_near[point] == 0.0:
            continue
        k = _list_closer(tiles, kind, point, state)
        slot, change = _best_exchange(m, k, state)
        if change < -ROUNDING * cost:
            _exchange(tiles, kind, m, point, slot, k, state)
            cost += change
    return _sum_up(state)


@_compiled
def _sum_up(state):
    """The cost, and the losses anew, as rounding adds up in them."""
    cost = 0.0
    state.loss[:] = 0.0
    for o in range(len(state.near)):
        cost += state.to_near[o]
        state.loss[state.near[o]] += state.to_next[o] - state.to_near[o]
    return cost


@_compiled
def _best_exchange(m, k, state):
    """The slot in which the candidate lowers the cost most, and the change of the cost."""
    change, gain = state.change, 0.0
    for slot in range(m):
        change[slot] = state.loss[slot]
    for q in range(k):
        o, d = state.listed[q], state.found[q]
        # A point that is closer to the candidate than to its nearest medoid turns to it whichever medoid goes, the
        # others only if their nearest one does.
        gain += min(d - state.to_near[o], 0.0)
        change[state.near[o]] += max(d, state.to_near[o]) - state.to_next[o]
    best = 0
    for slot in range(m):
        if change[slot] < change[best]:
            best = slot
    return best, change[best] + gain


@_compiled
def _exchange(tiles, kind, m, point, slot, k, state):
    """Put a point into a slot; listed are the k points that may turn to it, with their distances."""
    _set_medoid(tiles, point, slot, state)
    listed, end = state.listed, k
    for q in range(k):
        state.marked[listed[q]] = True
    for o in range(len(state.near)):
        # It loses one of its two medoids and does not turn to the new one.
        if (state.near[o] == slot or state.next[o] == slot) and not state.marked[o]:
            listed[end] = o
            end += 1
    for q in range(k):
        o, d = listed[q], state.found[q]
        state.marked[o] = False
        if state.near[o] == slot:
            _put(kind, o, slot, d, state.next[o], state.to_next[o], state)
        else:
            _add(kind, o, slot, d, state)
    for q in range(k, end):
        o = listed[q]
        if state.near[o] == slot:
            _put(kind, o, state.next[o], state.to_next[o], state.next[o], state.to_next[o], state)
        _find_next(tiles, kind, m, o, state)


@_compiled
def _find_next(tiles, kind, m, o, state):
    """Look through all medoids for the closest one to a point but its nearest."""
    near, sums, best, least = state.near[o], state.sums, -1, FAR
    _read(tiles, o, state.row)
    for first in range(0, m, TILE):
        _clear(sums)
        _add_differences(state.centres, kind, first // TILE, state.row, 0, len(state.row), sums)
        for slot in range(first, min(first + TILE, m)):
            if sums[slot - first] < least and slot != near:
                best, least = slot, sums[slot - first]
    _put(kind, o, near, state.to_near[o], best, _distance(kind, least), state)


@_compiled
def _read(tiles, o, row):
    for f in range(len(row)):
        row[f] = tiles[o // TILE, f, o % TILE]


@_compiled
def _set_medoid(tiles, point, slot, state):
    state.medoids[slot] = point
    for f in range(tiles.shape[1]):
        state.centres[slot // TILE, f, slot % TILE] = tiles[point // TILE, f, point % TILE]


@_compiled
def _set_first(kind, state):
    """The first medoid is everyone's nearest; the next one is farther away than any point can be."""
    far = 0.0
    for o in range(len(state.found)):
        far = max(far, 8.0 * state.found[o])
    for o in range(len(state.found)):
        _put(kind, o, 0, state.found[o], 0, far, state)


@_compiled
def _add(kind, o, slot, d, state):
    """Let a point know of a medoid that is closer than its next one."""
    if d < state.to_near[o]:
        _put(kind, o, slot, d, state.near[o], state.to_near[o], state)
    else:
        _put(kind, o, state.near[o], state.to_near[o], slot, d, state)


@_compiled
def _put(kind, o, near, to_near, next, to_next, state):
    state.loss[state.near[o]] -= state.to_next[o] - state.to_near[o]
    state.loss[near] += to_next - to_near
    state.near[o], state.to_near[o] = near, to_near
    state.next[o], state.to_next[o] = next, to_next
    state.limit[o // TILE, o % TILE] = _sum_for(kind, to_next)


@_compiled
def _list_closer(tiles, kind, point, state):
    """List the points that are closer to a candidate than to their next medoid, with the distances; how many."""
    listed, found, sums, limit, k = state.listed, state.found, state.sums, state.limit, 0
    _read(tiles, point, state.row)
    for t in range(len(tiles)):
        _clear(sums)
        first, any_closer = 0, True
        while any_closer and first < len(state.row):
            last = min(first + LOOK, len(state.row))
            _add_differences(tiles, kind, t, state.row, first, last, sums)
            first, any_closer = last, _any_below(sums, limit, t)
        if any_closer:
            for p in range(TILE):
                if sums[p] < limit[t, p]:
                    listed[k], found[k] = t * TILE + p, _distance(kind, sums[p])
                    k += 1
    return k


@_compiled
def _clear(sums):
    for p in range(TILE):
        sums[p] = np.float32(0.0)


@_compiled
def _any_below(sums, limit, t):
    found = False
    for p in range(TILE):
        found |= sums[p] < limit[t, p]
    return found


@_compiled
def _add_differences(tiles, kind, t, row, first, last, sums):
    """Add to the sums of a tile's points their differences from a row in the features from first to last."""
    if kind == CITYBLOCK:
        for f in range(first, last, FEATURES):
            a, b, c, d = row[f], row[f + 1], row[f + 2], row[f + 3]
            for p in range(TILE):
                sums[p] += (
                    abs(tiles[t, f, p] - a)
                    + abs(tiles[t, f + 1, p] - b)
                    + abs(tiles[t, f + 2, p] - c)
                    + abs(tiles[t, f + 3, p] - d)
                )
    else:
        for f in range(first, last, FEATURES):
            a, b, c, d = row[f], row[f + 1], row[f + 2], row[f + 3]
            for p in range(TILE):
                sums[p] += (
                    (tiles[t, f, p] - a) ** 2
                    + (tiles[t, f + 1, p] - b) ** 2
                    + (tiles[t, f + 2, p] - c) ** 2
                    + (tiles[t, f + 3, p] - d) ** 2
                )


@_compiled
def _distance(kind, total):
    """The distance that a sum of differences makes."""
    if kind == CITYBLOCK:
        return total
    return np.sqrt(total) if kind == EUCLIDEAN else total / 2


@_compiled
def _sum_for(kind, distance):
    """The sum of differences that makes a distance."""
    if kind == CITYBLOCK:
        return distance
    return distance * distance if kind == EUCLIDEAN else 2 * distance
