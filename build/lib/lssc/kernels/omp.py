"""Orthogonal matching pursuit of many points over the same atoms, a block of points at a time.

Nearly all work is to find the atom most correlated with each residual. Inner products with all atoms are computed in
single precision, which errs by at most a known margin; those that may be the largest are computed again in double
precision. The choice is that of double precision at half its cost.

The atoms of a point are kept as an orthonormal basis Q and a triangular matrix R, atoms = R'Q: the residual loses its
part along each new direction, and the coefficients follow from R at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from lssc.kernels.compiled import FAST_FINITE, helper, kernel
from lssc.kernels.vectors import dot, norm, subtract_multiple
from lssc.linalg.scaling import unit_rows
from lssc.types import Array, IndexArray

# A residual (of a point of unit length) and an atom are orthogonal up to this cosine.
MAX_ORTHOGONAL_COSINE = 1e-10
# Atoms in one product (fits the cache) and atoms tested together (fit the registers).
TILE_ATOMS, GROUP_ATOMS = 512, 128

_kernel, _helper = kernel(fastmath=FAST_FINITE), helper(fastmath=FAST_FINITE)


class OmpWorkspace(NamedTuple):
    """The points of a block, one per row of each array."""

    residual: np.ndarray
    best: np.ndarray
    strength: np.ndarray
    count: np.ndarray
    chosen: np.ndarray
    basis: np.ndarray
    triangle: np.ndarray
    along: np.ndarray


def compute_omp_codes(X: Array, atoms: Array, own: IndexArray, k: int, tol: float, block: int) -> sparse.csr_matrix:
    """Codes (n x m) of the rows of X (n x D) by at most k rows of `atoms` (m x D) each.

    own[i] >= 0 is an atom that point i must not use. A point is done when its squared residual, relative to its squared
    length, is at most `tol`.
    """
    m, dim = atoms.shape
    scale = 2.0 ** np.frexp(np.linalg.norm(atoms, axis=1).max())[1]
    # Divide by a power of two, which is exact, so that no atom is longer than 1. Zeros fill the last tile.
    scaled = np.zeros((-(-m // TILE_ATOMS) * TILE_ATOMS, dim))
    scaled[:m] = atoms / scale
    atoms32 = scaled.astype(np.float32)
    # A sum of D products of rounded numbers errs by at most D + 2 roundings of the product of norms; take twice that.
    margin = (dim + 2) * 2.0**-23
    # More than D atoms are linearly dependent.
    work = _make_workspace(min(block, len(X)), min(k, dim), dim)
    counts, indices, values = np.zeros(len(X) + 1, dtype=np.int64), [], []
    for start in range(0, len(X), block):
        part = X[start : start + block]
        work.residual[: len(part)] = unit_rows(part)
        _choose_atoms(own[start : start + block], scaled, atoms32, margin, tol, work)
        part_indices, part_values = _solve_coefficients(np.linalg.norm(part, axis=1) / scale, work, counts[start + 1 :])
        indices.append(part_indices)
        values.append(part_values)
    matrix = (np.concatenate(values), np.concatenate(indices), np.cumsum(counts))
    return sparse.csr_matrix(matrix, shape=(len(X), m))


def _make_workspace(size: int, k: int, dim: int) -> OmpWorkspace:
    return OmpWorkspace(
        np.empty((size, dim)),
        np.empty(size, dtype=np.int64),
        np.empty(size),
        np.empty(size, dtype=np.int64),
        np.empty((size, k), dtype=np.int64),
        np.empty((size, k, dim)),
        np.empty((size, k, k)),
        np.empty((size, k)),
    )


@_kernel
def _choose_atoms(own, atoms, atoms32, margin, tol, work):
    """Choose atoms for each point, whose residual starts as the point itself, until k are chosen or it is done."""
    active, n = np.arange(len(own)), len(own)
    work.count[:n] = 0
    for _ in range(work.chosen.shape[1]):
        if n == 0:
            break
        _find_best(active[:n], own, atoms, atoms32, margin, work)
        left = 0
        for i in range(n):
            if _add_best(active[i], atoms, tol, work):
                active[left] = active[i]
                left += 1
        n = left


@_helper
def _find_best(active, own, atoms, atoms32, margin, work):
    """For each active point the atom of largest |correlation| with its residual, and that correlation."""
    n = len(active)
    R, error = np.empty((n, atoms.shape[1]), dtype=np.float32), np.empty(n)
    for i in range(n):
        p = active[i]
        R[i] = work.residual[p]
        error[i] = margin * norm(work.residual[p])
        work.best[p], work.strength[p] = -1, 0.0
    correlations = np.empty((n, TILE_ATOMS), dtype=np.float32)
    for first in range(0, len(atoms), TILE_ATOMS):
        np.dot(R, atoms32[first : first + TILE_ATOMS].T, correlations)
        for i in range(n):
            _update_best(correlations[i], first, error[i], active[i], own, atoms, work)


@_helper
def _update_best(correlations, first, error, p, own, atoms, work):
    """Update the best atom of point p by a tile of correlations in single precision that err by up to `error`."""
    for a in range(0, TILE_ATOMS, GROUP_ATOMS):
        group, limit, some = correlations[a : a + GROUP_ATOMS], np.float32(work.strength[p] - error), False
        # Testing whether any is large enough vectorises; finding the largest does not.
        for j in range(GROUP_ATOMS):
            some |= abs(group[j]) > limit
        if some:
            for j in range(GROUP_ATOMS):
                atom = first + a + j
                if abs(group[j]) + error > work.strength[p] and atom != own[p]:
                    x = abs(dot(atoms[atom], work.residual[p]))
                    if x > work.strength[p] and not _is_chosen(atom, p, work):
                        work.best[p], work.strength[p] = atom, x


@_helper
def _is_chosen(atom, p, work):
    found = False
    for i in range(work.count[p]):
        found |= work.chosen[p, i] == atom
    return found


@_helper
def _add_best(p, atoms, tol, work):
    """Add the best atom of point p and remove its direction from the residual. Returns whether to go on."""
    residual, basis, triangle, k = work.residual[p], work.basis[p], work.triangle[p], work.count[p]
    # If the residual is orthogonal to every atom, another one changes nothing.
    if work.best[p] < 0 or work.strength[p] <= MAX_ORTHOGONAL_COSINE * norm(atoms[work.best[p]]):
        return False
    direction = basis[k]
    direction[:] = atoms[work.best[p]]
    triangle[:k, k] = 0.0
    # Gram-Schmidt, twice: enough for orthogonality to the last digit.
    for _ in range(2):
        for i in range(k):
            f = dot(basis[i], direction)
            triangle[i, k] += f
            subtract_multiple(direction, f, basis[i])
    # Never zero: an atom correlated with the residual is not in the span of the atoms before.
    triangle[k, k] = norm(direction)
    direction /= triangle[k, k]
    work.along[p, k] = dot(direction, residual)
    subtract_multiple(residual, work.along[p, k], direction)
    work.chosen[p, k] = work.best[p]
    work.count[p] += 1
    return dot(residual, residual) > tol


@_kernel
def _solve_coefficients(scale, work, counts):
    """Atoms in increasing order and their coefficients, point by point; sets counts[p] to their number."""
    total = np.sum(work.count[: len(scale)])
    indices, values, n = np.empty(total, dtype=np.int32), np.empty(total), 0
    for p in range(len(scale)):
        chosen, weight, triangle, k = work.chosen[p], work.along[p], work.triangle[p], work.count[p]
        for i in range(k - 1, -1, -1):
            for j in range(i + 1, k):
                weight[i] -= triangle[i, j] * weight[j]
            weight[i] /= triangle[i, i]
        order = np.argsort(chosen[:k])
        for i in range(k):
            indices[n + i], values[n + i] = chosen[order[i]], scale[p] * weight[order[i]]
        counts[p] = k
        n += k
    return indices, values
