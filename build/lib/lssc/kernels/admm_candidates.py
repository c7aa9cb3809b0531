"""The rows of a column of ADMM that may become nonzero: its candidates.

An iteration soft-thresholds t = c + Yq. Since |y_j'q| <= |y_j'p| + |y_j| |q - p|, one product with Y at a centre p
bounds every row while q stays within a radius of p. Rows that cannot pass the threshold there are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lssc.kernels.compiled import FAST_FINITE, helper
from lssc.kernels.vectors import PAD, distance, dot
from lssc.types import Array

# Rows of Y in one product (fits the cache), rows tested together, coordinates added together (fit the registers).
TILE_ROWS, GROUP_ROWS, GROUP_COORDINATES = 256, 16, 8
# The largest radius, as a share of threshold / longest point: beyond it most rows are candidates.
MAX_RADIUS_SHARE = 0.25
# Factor by which the radius grows or shrinks, and cost of screening a row over that of visiting a candidate.
RADIUS_FACTOR, SCREEN_COST = 1.5, 0.2
# More than any inner product.
HUGE = 1e300

_helper = helper(fastmath=FAST_FINITE)


class AdmmAtoms(NamedTuple):
    """The points as rows, as panels of TILE_ROWS columns, their norms by panel, and the diagonal of G."""

    rows: np.ndarray
    panels: np.ndarray
    norms: np.ndarray
    G: np.ndarray


class AdmmWorkspace(NamedTuple):
    """The columns of a block, one per row of each array."""

    q: np.ndarray
    before: np.ndarray
    total: np.ndarray
    centre: np.ndarray
    radius: np.ndarray
    visits: np.ndarray
    products: np.ndarray
    # Candidates of each column: their number, rows, rows found by the last screening, c, c before, u.
    count: np.ndarray
    row: np.ndarray
    screened: np.ndarray
    weight: np.ndarray
    earlier: np.ndarray
    dual: np.ndarray


def make_admm_atoms(X: Array) -> AdmmAtoms:
    """The points in the coordinates of the eigenvectors of X'X, filled up with zeros in both directions."""
    n, dim = X.shape
    rows = np.zeros((-(-n // TILE_ROWS) * TILE_ROWS, -(-dim // PAD) * PAD))
    rows[:n, :dim] = X @ np.linalg.eigh(X.T @ X)[1]
    panels = rows.reshape(-1, TILE_ROWS, rows.shape[1])
    norms = np.linalg.norm(panels, axis=2)
    return AdmmAtoms(rows, np.ascontiguousarray(panels.transpose(0, 2, 1)), norms, (rows**2).sum(axis=0))


def make_admm_workspace(size: int, n: int, dim: int) -> AdmmWorkspace:
    # np.empty: untouched pages cost no memory.
    return AdmmWorkspace(
        *(np.empty((size, dim)) for _ in range(4)),
        *(np.empty(size) for _ in range(2)),
        np.empty((size, TILE_ROWS)),
        np.empty(size, dtype=np.int64),
        *(np.empty((size, n), dtype=np.int32) for _ in range(2)),
        *(np.empty((size, n)) for _ in range(3)),
    )


@_helper
def screen_due_columns(atoms, start, size, threshold, max_radius, ahead, work):
    """Screen the columns that left their radius, or may do so within `ahead` more iterations."""
    columns, n = np.empty(size, dtype=np.int64), 0
    for c in range(size):
        away = distance(work.q[c], work.centre[c]) + ahead * distance(work.q[c], work.before[c])
        if away > work.radius[c] or work.visits[c] > 2.0 * SCREEN_COST * len(atoms.rows):
            columns[n] = c
            n += 1
    if n > 0:
        _screen(atoms, start, columns[:n], threshold, max_radius, work)


@_helper
def _screen(atoms, start, columns, threshold, max_radius, work):
    """Choose the candidates of these columns for as long as q stays within a radius of its present place."""
    size = len(columns)
    Q, n = np.empty((size, work.q.shape[1])), np.zeros(size, dtype=np.int64)
    kept, seen = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for k in range(size):
        c = columns[k]
        Q[k], work.centre[c] = work.q[c], work.q[c]
        _set_radius(c, len(atoms.rows), max_radius, work)
        kept[k] = drop_zeros(c, work)
    for tile in range(len(atoms.panels)):
        first = tile * TILE_ROWS
        multiply_panel(Q, atoms.panels[tile], work.products)
        for k in range(size):
            c, products = columns[k], work.products[k]
            seen[k] = set_known_products(products, work.row[c], first, seen[k], kept[k], HUGE)
            if first <= start + c < first + TILE_ROWS:
                # A point takes no part in its own code.
                products[start + c - first] = -HUGE
            n[k] = _append_candidates(
                products, atoms.norms[tile], work.radius[c], threshold, first, work.screened[c], n[k]
            )
    for k in range(size):
        _merge_candidates(atoms, columns[k], kept[k], n[k], work)


@_helper
def _set_radius(c, n, max_radius, work):
    """Enlarge the radius if visits to candidates cost less than screening, else shrink it."""
    change = RADIUS_FACTOR if work.visits[c] < SCREEN_COST * n else 1.0 / RADIUS_FACTOR
    work.radius[c] = min(work.radius[c] * change, max_radius)
    work.visits[c] = 0.0


@_helper
def drop_zeros(c, work):
    """Drop the candidates whose c is zero, now and before. Returns how many are left."""
    row, weight, earlier, dual, n = work.row[c], work.weight[c], work.earlier[c], work.dual[c], 0
    for i in range(work.count[c]):
        if weight[i] != 0.0 or earlier[i] != 0.0:
            row[n], weight[n], earlier[n], dual[n] = row[i], weight[i], earlier[i], dual[i]
            n += 1
    return n


@_helper
def multiply_panel(Q, panel, out):
    """Q times a panel, GROUP_COORDINATES at a time for all rows of Q, so that the panel stays in the cache."""
    for k in range(len(Q)):
        out[k] = 0.0
    for d in range(0, len(panel), GROUP_COORDINATES):
        for k in range(len(Q)):
            _add_product(Q[k, d : d + GROUP_COORDINATES], panel[d : d + GROUP_COORDINATES], out[k])


@_helper
def _add_product(q, p, out):
    """out += qp; unrolled, so that each entry of `out` is read and written once."""
    q0, q1, q2, q3, q4, q5, q6, q7 = q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
    p0, p1, p2, p3, p4, p5, p6, p7 = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
    for j in range(TILE_ROWS):
        out[j] += q0 * p0[j] + q1 * p1[j] + q2 * p2[j] + q3 * p3[j] + q4 * p4[j] + q5 * p5[j] + q6 * p6[j] + q7 * p7[j]


@_helper
def set_known_products(products, row, first, i, end, value):
    """Set the products of the rows of a tile that are in row[i:end], which increases. Returns the first i beyond."""
    while i < end and row[i] < first + TILE_ROWS:
        products[row[i] - first] = value
        i += 1
    return i


@_helper
def _append_candidates(products, norms, radius, threshold, first, screened, n):
    """Append the rows of a tile that may pass the threshold to the n in `screened`. Returns the new n."""
    for a in range(0, TILE_ROWS, GROUP_ROWS):
        x, y, some = products[a : a + GROUP_ROWS], norms[a : a + GROUP_ROWS], False
        # Testing whether any passes vectorises; finding the largest does not.
        for j in range(GROUP_ROWS):
            some |= abs(x[j]) + radius * y[j] > threshold
        if some:
            for j in range(GROUP_ROWS):
                if abs(x[j]) + radius * y[j] > threshold and x[j] > -HUGE:
                    screened[n] = first + a + j
                    n += 1
    return n


@_helper
def _merge_candidates(atoms, c, kept, n, work):
    """Make the n screened rows the candidates; the first `kept` of the old ones are among them, in the same order."""
    row, screened, weight, earlier, dual = work.row[c], work.screened[c], work.weight[c], work.earlier[c], work.dual[c]
    k = kept - 1
    for i in range(n - 1, -1, -1):
        if k >= 0 and row[k] == screened[i]:
            weight[i], earlier[i], dual[i] = weight[k], earlier[k], dual[k]
            k -= 1
        else:
            weight[i], earlier[i], dual[i] = 0.0, 0.0, dot(atoms.rows[screened[i]], work.before[c])
    for i in range(n):
        row[i] = screened[i]
    work.count[c] = n
