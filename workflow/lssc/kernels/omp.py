"""Orthogonal matching pursuit of many points over the same atoms, a chunk of points at a time.

Nearly all work is finding the atom most correlated with each residual. Products of residuals with all atoms are made in
single precision, which errs by no more than a known margin; whatever may still be the best within it is computed again
in double precision. So the choice is that of double precision at half its cost.

The atoms chosen by a point are kept as an orthonormal basis Q and a triangle R, atoms = R'Q: the residual loses its
part along each new direction, and the weights follow from R at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from lssc.linalg.scaling import unit_rows
from lssc.types import Array, IndexArray

# Cosine below which a residual (of a point of unit length) and an atom count as orthogonal.
RIGHT_ANGLE = 1e-10
# Atoms in one product, and in one look at it: the first stays in the cache, the second in registers.
TILE, GROUP = 512, 128

_options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
_finite = njit(fastmath={"reassoc", "contract", "nsz", "arcp", "nnan", "ninf"}, **_options)


class Pursuit(NamedTuple):
    """The points under way, one per row of each array."""

    residual: np.ndarray
    best: np.ndarray
    strength: np.ndarray
    count: np.ndarray
    chosen: np.ndarray
    basis: np.ndarray
    triangle: np.ndarray
    along: np.ndarray


def omp_codes(X: Array, atoms: Array, own: IndexArray, k: int, tol: float, chunk: int) -> sparse.csr_matrix:
    """Codes of the rows of X by at most k rows of `atoms` each; own[i] >= 0 is one that point i must not use."""
    m, dim = atoms.shape
    scale = 2.0 ** np.frexp(np.linalg.norm(atoms, axis=1).max())[1]
    # No atom longer than 1, by a power of two, which rounds nothing; zeros fill the last tile and are never chosen.
    scaled = np.zeros((-(-m // TILE) * TILE, dim))
    scaled[:m] = atoms / scale
    rough = scaled.astype(np.float32)
    # A sum of D products of rounded numbers errs by D + 2 roundings of the product of lengths; twice that is safe.
    margin = (dim + 2) * 2.0**-23
    # More atoms than dimensions depend on each other.
    work = _work(min(chunk, len(X)), min(k, dim), dim)
    counts, indices, values = np.zeros(len(X) + 1, dtype=np.int64), [], []
    for start in range(0, len(X), chunk):
        part = X[start : start + chunk]
        work.residual[: len(part)] = unit_rows(part)
        _pursue(own[start : start + chunk], scaled, rough, margin, tol, work)
        where, what = _weigh(np.linalg.norm(part, axis=1) / scale, work, counts[start + 1 :])
        indices.append(where)
        values.append(what)
    matrix = (np.concatenate(values), np.concatenate(indices), np.cumsum(counts))
    return sparse.csr_matrix(matrix, shape=(len(X), m))


def _work(size: int, k: int, dim: int) -> Pursuit:
    return Pursuit(
        np.empty((size, dim)),
        np.empty(size, dtype=np.int64),
        np.empty(size),
        np.empty(size, dtype=np.int64),
        np.empty((size, k), dtype=np.int64),
        np.empty((size, k, dim)),
        np.empty((size, k, k)),
        np.empty((size, k)),
    )


@_finite
def _pursue(own, atoms, rough, margin, tol, work):
    """Choose atoms for each of the points that start as residuals, as many as there is room for."""
    active, n = np.arange(len(own)), len(own)
    work.count[:n] = 0
    for _ in range(work.chosen.shape[1]):
        if n == 0:
            break
        _find_best(active[:n], own, atoms, rough, margin, work)
        left = 0
        for i in range(n):
            if _add_best(active[i], atoms, tol, work):
                active[left] = active[i]
                left += 1
        n = left


@_finite
def _find_best(active, own, atoms, rough, margin, work):
    """For each active point the atom most correlated with its residual, and how much."""
    n = len(active)
    R, error = np.empty((n, atoms.shape[1]), dtype=np.float32), np.empty(n)
    for i in range(n):
        p = active[i]
        R[i] = work.residual[p]
        error[i] = margin * _length(work.residual[p])
        work.best[p], work.strength[p] = -1, 0.0
    near = np.empty((n, TILE), dtype=np.float32)
    for first in range(0, len(atoms), TILE):
        np.dot(R, rough[first : first + TILE].T, near)
        for i in range(n):
            _look(near[i], first, error[i], active[i], own, atoms, work)


@_finite
def _look(near, first, error, p, own, atoms, work):
    """Compute what may be more correlated than the best so far, by a tile of correlations that err by up to `error`."""
    for a in range(0, TILE, GROUP):
        group, limit, some = near[a : a + GROUP], np.float32(work.strength[p] - error), False
        # Whether any is large enough is told many at a time; the largest is not.
        for j in range(GROUP):
            some |= abs(group[j]) > limit
        if some:
            for j in range(GROUP):
                atom = first + a + j
                if abs(group[j]) + error > work.strength[p] and atom != own[p]:
                    x = abs(_dot(atoms[atom], work.residual[p]))
                    if x > work.strength[p] and not _is_chosen(atom, p, work):
                        work.best[p], work.strength[p] = atom, x


@_finite
def _is_chosen(atom, p, work):
    found = False
    for i in range(work.count[p]):
        found |= work.chosen[p, i] == atom
    return found


@_finite
def _add_best(p, atoms, tol, work):
    """Let the best atom of a point in and take its direction out of the residual; whether to go on."""
    residual, basis, triangle, k = work.residual[p], work.basis[p], work.triangle[p], work.count[p]
    # If the residual is at right angles to every atom, up to rounding, another one would change nothing.
    if work.best[p] < 0 or work.strength[p] <= RIGHT_ANGLE * _length(atoms[work.best[p]]):
        return False
    direction = basis[k]
    direction[:] = atoms[work.best[p]]
    triangle[:k, k] = 0.0
    # Twice is enough for right angles to the last digit.
    for _ in range(2):
        for i in range(k):
            f = _dot(basis[i], direction)
            triangle[i, k] += f
            _subtract(direction, f, basis[i])
    # Never zero: an atom at no right angle with the residual is partly outside of the atoms before.
    triangle[k, k] = _length(direction)
    direction /= triangle[k, k]
    work.along[p, k] = _dot(direction, residual)
    _subtract(residual, work.along[p, k], direction)
    work.chosen[p, k] = work.best[p]
    work.count[p] += 1
    return _dot(residual, residual) > tol


@_finite
def _weigh(scale, work, counts):
    """Atoms in increasing order and their weights, point by point; counts[p] becomes how many point p has."""
    total = np.sum(work.count[: len(scale)])
    where, what, n = np.empty(total, dtype=np.int32), np.empty(total), 0
    for p in range(len(scale)):
        chosen, weight, triangle, k = work.chosen[p], work.along[p], work.triangle[p], work.count[p]
        for i in range(k - 1, -1, -1):
            for j in range(i + 1, k):
                weight[i] -= triangle[i, j] * weight[j]
            weight[i] /= triangle[i, i]
        order = np.argsort(chosen[:k])
        for i in range(k):
            where[n + i], what[n + i] = chosen[order[i]], scale[p] * weight[order[i]]
        counts[p] = k
        n += k
    return where, what


@_finite
def _dot(a, b):
    total = 0.0
    for d in range(len(b)):
        total += a[d] * b[d]
    return total


@_finite
def _length(a):
    return np.sqrt(_dot(a, a))


@_finite
def _subtract(a, f, b):
    for d in range(len(b)):
        a[d] -= f * b[d]
