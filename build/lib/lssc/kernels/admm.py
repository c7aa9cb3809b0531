"""ADMM for sparse self-representation, original and modified, on the few rows of each column that can be nonzero.

With the points y_j as rows of Y (n x D), G = Y'Y and the dual scaled by 1/mu2, one iteration for the column c of a
point y is

    z = v + Yq,  v = c - u,  q = inv(G + mu2/mu1 I) (y - Y'v),  then  t = z + u,  c = soft(t),  u = t - c.

Substituting gives t = c + Yq, with the c before, and v = 2c - t, hence Y'v = Y'(2c - c_before) - Gq: all but t are sums
over the nonzeros of c. In the coordinates of G's eigenvectors the system is diagonal, and only Yq still costs n D.

Of Yq only the rows that may pass the soft threshold are computed: the candidates of `admm_candidates`, about one row in
a hundred. Elsewhere c_j = 0 and t_j = u_j = y_j'q, which no other quantity needs. The iterates are the exact ones.

The modified ADMM zeroes the diagonal of C only. The original one zeroes that of Z, too: the point's own t and u stay 0
instead of y'q, and y (y'q) is missing in Y'v, hence added once more above.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from lssc.kernels.admm_candidates import (
    HUGE,
    MAX_RADIUS_SHARE,
    TILE_ROWS,
    AdmmWorkspace,
    drop_zeros,
    make_admm_atoms,
    make_admm_workspace,
    multiply_panel,
    screen_due_columns,
    set_known_products,
)
from lssc.kernels.compiled import FAST_FINITE, helper, kernel
from lssc.kernels.vectors import dot
from lssc.types import Array

# Iterations between two screenings of the columns that will soon leave their radius: many at once cost less.
SCREEN_EVERY = 5
# A centre beyond any radius, whose square is finite.
FAR_AWAY = 1e100

_kernel, _helper = kernel(fastmath=FAST_FINITE), helper(fastmath=FAST_FINITE)


class AdmmState(NamedTuple):
    """All that a block needs to resume: vectors of D, and the entries nonzero now or before, column by column."""

    q: np.ndarray
    before: np.ndarray
    total: np.ndarray
    radius: np.ndarray
    count: np.ndarray
    row: np.ndarray
    weight: np.ndarray
    earlier: np.ndarray
    dual: np.ndarray


class AdmmBlock(NamedTuple):
    """A block of columns after n_iter iterations, and the last gap."""

    state: AdmmState
    n_iter: int
    gap: float


def compute_modified_admm_codes(
    X: Array, mu1: float, mu2: float, *, max_iter: int, tol: float, block: int, check_every: int
) -> tuple[sparse.csr_matrix, int, float]:
    """Codes (n x n) of the rows of X (n x D) by each other, the largest number of iterations and the largest last gap.

    A block of columns stops when no entry of the scaled dual changes by more than `tol`, tested every `check_every`
    iterations.
    """
    run = _make_runner(X, mu1, mu2, False, max_iter, tol, block)
    return _join_blocks([run(start, None, check_every, check_every) for start in range(0, len(X), block)])


def compute_admm_codes(
    X: Array, mu1: float, mu2: float, *, max_iter: int, tol: float, block: int
) -> tuple[sparse.csr_matrix, int, float]:
    """The same with the diagonal of Z zeroed, too; all columns stop together, tested after every iteration."""
    run = _make_runner(X, mu1, mu2, True, max_iter, tol, block)
    blocks: dict[int, AdmmBlock | None] = dict.fromkeys(range(0, len(X), block))
    # Before iteration `end` some block still moved. A block that has not stopped at `end` runs on and postpones it,
    # until all blocks stop at the same iteration: the first at which none moves.
    end = 1
    while behind := [start for start, result in blocks.items() if result is None or result.n_iter < end]:
        for start in behind:
            result = blocks[start] = run(start, blocks[start], end, 1)
            end = result.n_iter
    return _join_blocks([result for result in blocks.values() if result])


def _make_runner(
    X: Array, mu1: float, mu2: float, zero_z: bool, max_iter: int, tol: float, block: int
) -> Callable[[int, AdmmBlock | None, int, int], AdmmBlock]:
    """A function that iterates the columns from `start`, testing to stop at iteration `first`, then every so many."""
    n = len(X)
    atoms = make_admm_atoms(X)
    work = make_admm_workspace(min(block, n), n, atoms.rows.shape[1])
    inverse = 1 / (atoms.G + mu2 / mu1)
    max_radius = MAX_RADIUS_SHARE / mu2 / max(atoms.norms.max(), 1 / HUGE)

    def run(start: int, previous: AdmmBlock | None, first: int, every: int) -> AdmmBlock:
        size, made = min(block, n - start), previous.n_iter if previous else 0
        if previous:
            _resume(previous.state, work)
        else:
            # At q = 0 no row is a candidate.
            work.q[:size] = work.total[:size] = work.centre[:size] = 0.0
            work.radius[:size], work.visits[:size], work.count[:size] = max_radius, 0.0, 0
        n_iter, gap = _iterate(
            atoms, inverse, start, size, 1 / mu2, max_radius, zero_z, made, max_iter, tol, first, every, work
        )
        return AdmmBlock(AdmmState(*_save(size, work)), n_iter, gap)

    return run


def _join_blocks(blocks: list[AdmmBlock]) -> tuple[sparse.csr_matrix, int, float]:
    count, row, weight = (
        np.concatenate([getattr(b.state, name) for b in blocks]) for name in ("count", "row", "weight")
    )
    codes = sparse.csr_matrix((weight, row, np.concatenate([[0], np.cumsum(count)])), shape=(len(count), len(count)))
    codes.eliminate_zeros()
    return codes, max(b.n_iter for b in blocks), max(b.gap for b in blocks)


def _resume(state: AdmmState, work: AdmmWorkspace) -> None:
    """Put a saved state back; candidates are chosen anew, as the centre is out of reach."""
    size = len(state.q)
    work.q[:size], work.before[:size], work.total[:size] = state.q, state.before, state.total
    work.centre[:size], work.radius[:size], work.visits[:size] = FAR_AWAY, state.radius, 0.0
    work.count[:size] = state.count
    ends = np.cumsum(state.count)
    for c, (start, end) in enumerate(zip(ends - state.count, ends, strict=True)):
        for field in ("row", "weight", "earlier", "dual"):
            getattr(work, field)[c, : end - start] = getattr(state, field)[start:end]


@_kernel
def _save(size, work):
    """The fields of an AdmmState."""
    count = np.empty(size, dtype=np.int64)
    for c in range(size):
        count[c] = drop_zeros(c, work)
    total, n = np.sum(count), 0
    row, weight, earlier, dual = np.empty(total, dtype=np.int32), np.empty(total), np.empty(total), np.empty(total)
    for c in range(size):
        for i in range(count[c]):
            row[n], dual[n] = work.row[c, i], work.dual[c, i]
            weight[n], earlier[n] = work.weight[c, i], work.earlier[c, i]
            n += 1
    vectors = work.q[:size].copy(), work.before[:size].copy(), work.total[:size].copy(), work.radius[:size].copy()
    return (*vectors, count, row, weight, earlier, dual)


@_kernel
def _iterate(atoms, inverse, start, size, threshold, max_radius, zero_z, iteration, max_iter, tol, first, every, work):
    """Iterate the columns start, ..., start + size - 1. Returns the number of iterations in all and the last gap."""
    while True:
        _update_q(atoms, inverse, start, size, zero_z, work)
        ahead = SCREEN_EVERY - 1 if iteration % SCREEN_EVERY == 0 else 0
        screen_due_columns(atoms, start, size, threshold, max_radius, ahead, work)
        gap = _shrink(atoms, size, threshold, work)
        iteration += 1
        last = iteration == max_iter
        if last or (iteration >= first and (iteration - first) % every == 0 and gap <= tol):
            gap = _compute_gap(atoms, start, size, zero_z, gap, HUGE if last else tol, work)
            if last or gap <= tol:
                return iteration, gap


@_helper
def _update_q(atoms, inverse, start, size, zero_z, work):
    """The next q of every column; `before` keeps the last one."""
    G = atoms.G
    for c in range(size):
        q, before, total, y = work.q[c], work.before[c], work.total[c], atoms.rows[start + c]
        rest = 1.0 - dot(y, q) if zero_z else 1.0
        for d in range(len(q)):
            before[d] = q[d]
            q[d] = inverse[d] * (rest * y[d] - total[d] + G[d] * q[d])


@_helper
def _shrink(atoms, size, threshold, work):
    """The next c, u and Y'(2c - c_before) of every column. Returns the largest change of u among the candidates."""
    gap = 0.0
    for c in range(size):
        q, total = work.q[c], work.total[c]
        row, weight, earlier, dual = work.row[c], work.weight[c], work.earlier[c], work.dual[c]
        total[:] = 0.0
        for i in range(work.count[c]):
            y, before = atoms.rows[row[i]], weight[i]
            t = before + dot(y, q)
            u = min(max(t, -threshold), threshold)
            gap = max(gap, abs(u - dual[i]))
            if before != 0.0 or t != u:
                f = 2.0 * (t - u) - before
                for d in range(len(q)):
                    total[d] += f * y[d]
            weight[i], earlier[i], dual[i] = t - u, before, u
        work.visits[c] += work.count[c]
    return gap


@_helper
def _compute_gap(atoms, start, size, zero_z, gap, enough, work):
    """The largest change of u in all rows; `gap` is that among candidates. Stops early beyond `enough`."""
    change, seen = work.q[:size] - work.before[:size], np.zeros(size, dtype=np.int64)
    for tile in range(len(atoms.panels)):
        multiply_panel(change, atoms.panels[tile], work.products)
        for c in range(size):
            seen[c] = set_known_products(work.products[c], work.row[c], tile * TILE_ROWS, seen[c], work.count[c], 0.0)
            own = start + c - tile * TILE_ROWS
            if zero_z and 0 <= own < TILE_ROWS:
                work.products[c, own] = 0.0
            for j in range(TILE_ROWS):
                gap = max(gap, abs(work.products[c, j]))
        if gap > enough:
            break
    return gap
