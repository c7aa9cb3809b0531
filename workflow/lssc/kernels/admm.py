"""Both ADMMs, the columns of C one by one and on the few rows that can be nonzero.

With the points y_j as rows of Y, G = Y'Y and the dual scaled by 1/mu2, one iteration for the column c of a point y is

    z = v + Yq,  v = c - u,  q = inv(G + mu2/mu1 I) (y - Y'v),  then  t = z + u,  c = soft(t),  u = t - c.

Substituting gives t = c + Yq, with the c before, and v = 2c - t, hence Y'v = Y'(2c - c_before) - Gq: all but t are sums
over the nonzeros of c. In the coordinates of G's eigenvectors the system is diagonal, and only Yq still costs n D.

Of Yq only what may pass the threshold matters. Since |y_j'q| <= |y_j'p| + |y_j| |q - p|, one product at a centre p
tells which rows stay below it while q is within some radius of p. For these c_j = 0 and t_j = u_j = y_j'q, which nobody
needs to know; the others, the candidates, are one in a hundred. This leaves out work only: the iterates are the same.

That is the modified version, which zeroes the diagonal of C alone. The first one zeroes that of Z, too: the point's own
t and u stay 0 instead of y'q, and y (y'q) is missing in Y'v, hence added once more above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from lssc.types import Array

# What the dimension is rounded up to, by zeros, so that loops over it run in whole vectors.
PAD = 16
# Rows in one product, in one look at it, and coordinates added at a time: what fits the cache and the registers.
TILE, GROUP, DEPTH = 256, 16, 8
# The radius at most, in thresholds over the longest point: beyond it few rows are no candidates. Then how it changes to
# keep screening and candidates in balance: to screen a row costs about as much as this share of a visit to a candidate.
LARGEST, CHANGE, SHARE = 0.25, 1.5, 0.2
# For how many steps ahead new candidates are looked for at a time.
AHEAD = 5
# More than any correlation; a coordinate farther off than any radius, whose square is still a number.
FAR, AWAY = 1e300, 1e100

_options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
_finite = njit(fastmath={"reassoc", "contract", "nsz", "arcp", "nnan", "ninf"}, **_options)


class Atoms(NamedTuple):
    """The points as rows, as panels of TILE columns, their lengths by panels, the diagonal of G."""

    rows: np.ndarray
    panels: np.ndarray
    lengths: np.ndarray
    G: np.ndarray


class Work(NamedTuple):
    """The columns under way, one per row of each array; the second part runs over the candidates of each column."""

    q: np.ndarray
    before: np.ndarray
    total: np.ndarray
    centre: np.ndarray
    radius: np.ndarray
    visits: np.ndarray
    near: np.ndarray

    count: np.ndarray
    row: np.ndarray
    found: np.ndarray
    weight: np.ndarray
    earlier: np.ndarray
    dual: np.ndarray


class State(NamedTuple):
    """All that columns need to go on: nonzeros of c, now or before, one column after the other, and vectors of D."""

    q: np.ndarray
    before: np.ndarray
    total: np.ndarray
    radius: np.ndarray

    count: np.ndarray
    row: np.ndarray
    weight: np.ndarray
    earlier: np.ndarray
    dual: np.ndarray


class Block(NamedTuple):
    """Some columns after so many iterations, and the last gap."""

    state: State
    n_iter: int
    gap: float


def modified_codes(
    X: Array, mu1: float, mu2: float, *, max_iter: int, tol: float, block: int, check_every: int
) -> tuple[sparse.csr_matrix, int, float]:
    """Codes of the rows of X by each other, the most iterations of any block of columns and the largest last gap.

    A block stops once no entry of the scaled dual changed by more than `tol`, looked at every `check_every` iterations.
    """
    run = _runner(X, mu1, mu2, False, max_iter, tol, block)
    return _together([run(start, None, check_every, check_every) for start in range(0, len(X), block)])


def original_codes(
    X: Array, mu1: float, mu2: float, *, max_iter: int, tol: float, block: int
) -> tuple[sparse.csr_matrix, int, float]:
    """The same with the diagonal of Z at zero, too, and all columns stopping together, as soon as none moves more."""
    run = _runner(X, mu1, mu2, True, max_iter, tol, block)
    starts = range(0, len(X), block)
    blocks: dict[int, Block | None] = dict.fromkeys(starts)
    # At every iteration before the end some block still moved. A block that moves at the end runs on and puts it off;
    # those that stopped before go on, until all have stopped at the same iteration: the first at which none moves.
    end = 1
    while behind := [start for start, found in blocks.items() if found is None or found.n_iter < end]:
        for start in behind:
            found = blocks[start] = run(start, blocks[start], end, 1)
            end = found.n_iter
    return _together([found for found in blocks.values() if found])


def _runner(
    X: Array, mu1: float, mu2: float, zero_z: bool, max_iter: int, tol: float, block: int
) -> Callable[[int, Block | None, int, int], Block]:
    """What runs the columns from `start`, looking at the stopping rule at a first iteration and then every so many."""
    n = len(X)
    atoms = _atoms(X)
    work = _work(min(block, n), n, atoms.rows.shape[1])
    inverse = 1 / (atoms.G + mu2 / mu1)
    largest = LARGEST / mu2 / max(atoms.lengths.max(), 1 / FAR)

    def run(start: int, found: Block | None, first: int, every: int) -> Block:
        size, made = min(block, n - start), found.n_iter if found else 0
        if found:
            _resume(found.state, work)
        else:
            _begin(size, largest, work)
        n_iter, gap = _run(
            atoms, inverse, start, size, 1 / mu2, largest, zero_z, made, max_iter, tol, first, every, work
        )
        return Block(State(*_kept(size, work)), n_iter, gap)

    return run


def _together(blocks: list[Block]) -> tuple[sparse.csr_matrix, int, float]:
    count, row, weight = (
        np.concatenate([getattr(b.state, name) for b in blocks]) for name in ("count", "row", "weight")
    )
    codes = sparse.csr_matrix((weight, row, np.concatenate([[0], np.cumsum(count)])), shape=(len(count), len(count)))
    codes.eliminate_zeros()
    return codes, max(b.n_iter for b in blocks), max(b.gap for b in blocks)


def _atoms(X: Array) -> Atoms:
    """The points in the coordinates of the eigenvectors of X'X, filled up with zeros in both directions."""
    n, dim = X.shape
    rows = np.zeros((-(-n // TILE) * TILE, -(-dim // PAD) * PAD))
    rows[:n, :dim] = X @ np.linalg.eigh(X.T @ X)[1]
    panels = rows.reshape(-1, TILE, rows.shape[1])
    lengths = np.linalg.norm(panels, axis=2)
    return Atoms(rows, np.ascontiguousarray(panels.transpose(0, 2, 1)), lengths, (rows**2).sum(axis=0))


def _work(size: int, n: int, dim: int) -> Work:
    return Work(
        *(np.empty((size, dim)) for _ in range(4)),
        *(np.empty(size) for _ in range(2)),
        np.empty((size, TILE)),
        np.empty(size, dtype=np.int64),
        # Memory that is not written to is not taken.
        *(np.empty((size, n), dtype=np.int32) for _ in range(2)),
        *(np.empty((size, n)) for _ in range(3)),
    )


@_finite
def _begin(size, largest, work):
    """At q = 0 no row is near the threshold, and none is a candidate."""
    for c in range(size):
        work.q[c], work.total[c], work.centre[c] = 0.0, 0.0, 0.0
        work.radius[c], work.visits[c], work.count[c] = largest, 0.0, 0


@_finite
def _resume(state, work):
    """Put columns back to where they were; their candidates are chosen anew, as if q had left its radius."""
    n = 0
    for c in range(len(state.q)):
        work.q[c], work.before[c], work.total[c] = state.q[c], state.before[c], state.total[c]
        work.centre[c], work.radius[c], work.visits[c], work.count[c] = AWAY, state.radius[c], 0.0, state.count[c]
        for i in range(state.count[c]):
            work.row[c, i], work.dual[c, i] = state.row[n], state.dual[n]
            work.weight[c, i], work.earlier[c, i] = state.weight[n], state.earlier[n]
            n += 1


@_finite
def _kept(size, work):
    """The parts of a State."""
    count = np.empty(size, dtype=np.int64)
    for c in range(size):
        count[c] = _forget(c, work)
    total, n = np.sum(count), 0
    row, weight, earlier, dual = np.empty(total, dtype=np.int32), np.empty(total), np.empty(total), np.empty(total)
    for c in range(size):
        for i in range(count[c]):
            row[n], dual[n] = work.row[c, i], work.dual[c, i]
            weight[n], earlier[n] = work.weight[c, i], work.earlier[c, i]
            n += 1
    vectors = work.q[:size].copy(), work.before[:size].copy(), work.total[:size].copy(), work.radius[:size].copy()
    return (*vectors, count, row, weight, earlier, dual)


@_finite
def _run(atoms, inverse, start, size, threshold, largest, zero_z, iteration, max_iter, tol, first, every, work):
    """More iterations of the columns start, ..., start + size - 1: how many there were in all, and the last gap."""
    while True:
        _move(atoms, inverse, start, size, zero_z, work)
        # What will be needed soon is done now and then: many columns at once cost less than one by one.
        _screen_due(atoms, start, size, threshold, largest, AHEAD - 1 if iteration % AHEAD == 0 else 0, work)
        gap = _shrink(atoms, size, threshold, work)
        iteration += 1
        last = iteration == max_iter
        if last or (iteration >= first and (iteration - first) % every == 0 and gap <= tol):
            gap = _gap_elsewhere(atoms, start, size, zero_z, gap, FAR if last else tol, work)
            if last or gap <= tol:
                return iteration, gap


@_finite
def _move(atoms, inverse, start, size, zero_z, work):
    """The next q of every column; the one before is kept."""
    G = atoms.G
    for c in range(size):
        q, before, total, y = work.q[c], work.before[c], work.total[c], atoms.rows[start + c]
        rest = 1.0 - _dot(y, q) if zero_z else 1.0
        for d in range(len(q)):
            before[d] = q[d]
            q[d] = inverse[d] * (rest * y[d] - total[d] + G[d] * q[d])


@_finite
def _screen_due(atoms, start, size, threshold, largest, ahead, work):
    """New candidates for every column that left its radius, or may do so within some more steps."""
    columns, n = np.empty(size, dtype=np.int64), 0
    for c in range(size):
        away = _distance(work.q[c], work.centre[c]) + ahead * _distance(work.q[c], work.before[c])
        if away > work.radius[c] or work.visits[c] > 2.0 * SHARE * len(atoms.rows):
            columns[n] = c
            n += 1
    if n > 0:
        _screen(atoms, start, columns[:n], threshold, largest, work)


@_finite
def _shrink(atoms, size, threshold, work):
    """The next c and u of every column, and Y'(2c - c_before); the largest change of u among the candidates."""
    gap = 0.0
    for c in range(size):
        q, total = work.q[c], work.total[c]
        row, weight, earlier, dual = work.row[c], work.weight[c], work.earlier[c], work.dual[c]
        total[:] = 0.0
        for i in range(work.count[c]):
            y, before = atoms.rows[row[i]], weight[i]
            t = before + _dot(y, q)
            u = min(max(t, -threshold), threshold)
            gap = max(gap, abs(u - dual[i]))
            if before != 0.0 or t != u:
                f = 2.0 * (t - u) - before
                for d in range(len(q)):
                    total[d] += f * y[d]
            weight[i], earlier[i], dual[i] = t - u, before, u
        work.visits[c] += work.count[c]
    return gap


@_finite
def _screen(atoms, start, columns, threshold, largest, work):
    """Choose the candidates of some columns for as long as q stays within a radius of where it is now."""
    size = len(columns)
    Q, n = np.empty((size, work.q.shape[1])), np.zeros(size, dtype=np.int64)
    kept, seen = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for k in range(size):
        c = columns[k]
        Q[k], work.centre[c] = work.q[c], work.q[c]
        _set_radius(c, len(atoms.rows), largest, work)
        kept[k] = _forget(c, work)
    for tile in range(len(atoms.panels)):
        first = tile * TILE
        _multiply(Q, atoms.panels[tile], work.near)
        for k in range(size):
            c, near = columns[k], work.near[k]
            seen[k] = _mark(near, work.row[c], first, seen[k], kept[k], FAR)
            if first <= start + c < first + TILE:
                # No point takes part in its own code.
                near[start + c - first] = -FAR
            n[k] = _append(near, atoms.lengths[tile], work.radius[c], threshold, first, work.found[c], n[k])
    for k in range(size):
        _merge(atoms, columns[k], kept[k], n[k], work)


@_finite
def _set_radius(c, n, largest, work):
    """A larger radius if less was spent on the last candidates than on screening, a smaller one if more."""
    change = CHANGE if work.visits[c] < SHARE * n else 1.0 / CHANGE
    work.radius[c] = min(work.radius[c] * change, largest)
    work.visits[c] = 0.0


@_finite
def _forget(c, work):
    """Keep only candidates whose state does not follow from q alone; how many there are."""
    row, weight, earlier, dual, n = work.row[c], work.weight[c], work.earlier[c], work.dual[c], 0
    for i in range(work.count[c]):
        if weight[i] != 0.0 or earlier[i] != 0.0:
            row[n], weight[n], earlier[n], dual[n] = row[i], weight[i], earlier[i], dual[i]
            n += 1
    return n


@_finite
def _multiply(Q, panel, out):
    """Rows of Q times a panel, some coordinates at a time for all rows, so that these stay in the cache."""
    for k in range(len(Q)):
        out[k] = 0.0
    for d in range(0, len(panel), DEPTH):
        for k in range(len(Q)):
            _add(Q[k, d : d + DEPTH], panel[d : d + DEPTH], out[k])


@_finite
def _add(q, p, out):
    """out += qp, written out so that each number of `out` is read and written once."""
    q0, q1, q2, q3, q4, q5, q6, q7 = q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
    p0, p1, p2, p3, p4, p5, p6, p7 = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
    for j in range(TILE):
        out[j] += q0 * p0[j] + q1 * p1[j] + q2 * p2[j] + q3 * p3[j] + q4 * p4[j] + q5 * p5[j] + q6 * p6[j] + q7 * p7[j]


@_finite
def _mark(near, row, first, i, end, value):
    """Put a value at the places of a tile that are among row[i:end], in increasing order: where to go on."""
    while i < end and row[i] < first + TILE:
        near[row[i] - first] = value
        i += 1
    return i


@_finite
def _append(near, lengths, radius, threshold, first, found, n):
    """Append the rows of a tile that may pass the threshold to the n found so far: how many there are then."""
    for a in range(0, TILE, GROUP):
        x, y, some = near[a : a + GROUP], lengths[a : a + GROUP], False
        # Whether any is large enough is told many at a time; the largest is not.
        for j in range(GROUP):
            some |= abs(x[j]) + radius * y[j] > threshold
        if some:
            for j in range(GROUP):
                if abs(x[j]) + radius * y[j] > threshold and x[j] > -FAR:
                    found[n] = first + a + j
                    n += 1
    return n


@_finite
def _merge(atoms, c, kept, n, work):
    """Make the n rows found the candidates; among them are, in this order, the first `kept` of the present ones."""
    row, found, weight, earlier, dual = work.row[c], work.found[c], work.weight[c], work.earlier[c], work.dual[c]
    k = kept - 1
    for i in range(n - 1, -1, -1):
        if k >= 0 and row[k] == found[i]:
            weight[i], earlier[i], dual[i] = weight[k], earlier[k], dual[k]
            k -= 1
        else:
            weight[i], earlier[i], dual[i] = 0.0, 0.0, _dot(atoms.rows[found[i]], work.before[c])
    for i in range(n):
        row[i] = found[i]
    work.count[c] = n


@_finite
def _gap_elsewhere(atoms, start, size, zero_z, gap, enough, work):
    """The largest change of the dual anywhere, given that among candidates; any value beyond `enough` will do."""
    change, seen = work.q[:size] - work.before[:size], np.zeros(size, dtype=np.int64)
    for tile in range(len(atoms.panels)):
        _multiply(change, atoms.panels[tile], work.near)
        for c in range(size):
            seen[c] = _mark(work.near[c], work.row[c], tile * TILE, seen[c], work.count[c], 0.0)
            own = start + c - tile * TILE
            if zero_z and 0 <= own < TILE:
                work.near[c, own] = 0.0
            for j in range(TILE):
                gap = max(gap, abs(work.near[c, j]))
        if gap > enough:
            break
    return gap


@_finite
def _dot(a, b):
    total = 0.0
    for d in range(len(b)):
        total += a[d] * b[d]
    return total


@_finite
def _distance(a, b):
    total = 0.0
    for d in range(len(b)):
        total += (a[d] - b[d]) ** 2
    return np.sqrt(total)
