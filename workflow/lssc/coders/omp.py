"""Sparse codes by orthogonal matching pursuit: SSC-OMP (You, Robinson and Vidal 2016)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.params import AtLeast, Below
from lssc.registry import component
from lssc.scaling import unit_rows
from lssc.types import Array, Codes, IndexArray

CHUNK = 512
# Cosine below which a residual (of a point of unit length) and an atom count as orthogonal.
RIGHT_ANGLE = 1e-10


@component("coder", "omp")
def code_omp(
    X: Array,
    landmarks: IndexArray,
    *,
    k: Annotated[int, AtLeast(1), Below("m")],
    tol: Annotated[float, AtLeast(0)] = 1e-6,
) -> Codes:
    """At most k landmarks per point, itself excluded, each step adding the one most correlated with the residual.

    A point is done early once its squared residual, relative to its squared length, is at most `tol`. Atoms are scored
    as given, without scaling, so long atoms are favoured where points have different lengths. Memory is CHUNK x m.
    """
    atoms = X[landmarks]
    own = np.full(len(X), -1)
    own[landmarks] = np.arange(len(landmarks))
    rows = [_pursue(X[i : i + CHUNK], own[i : i + CHUNK], atoms, k, tol) for i in range(0, len(X), CHUNK)]
    return Codes(sparse.vstack(rows, format="csr"))


def _pursue(X: Array, own: IndexArray, atoms: Array, k: int, tol: float) -> sparse.csr_matrix:
    """OMP for a chunk of points at once: one matrix product and one batch of small solves per step."""
    n_points, length = len(X), np.linalg.norm(X, axis=1)
    target = unit_rows(X)
    residual = target.copy()
    chosen = np.zeros((n_points, 0), dtype=np.int64)
    weights = np.zeros((n_points, 0))
    active = np.flatnonzero(length > 0)
    rows, columns, values = [], [], []

    def finish(done: IndexArray, support: IndexArray, coefficients: Array) -> None:
        rows.append(np.repeat(done, support.shape[1]))
        columns.append(support.ravel())
        values.append((coefficients * length[done, None]).ravel())

    for _ in range(k):
        best, strength = _most_correlated(residual[active], own[active], chosen[active], atoms)
        # What is left is at right angles to every atom, up to rounding: another atom would change nothing.
        stuck = strength <= RIGHT_ANGLE * np.linalg.norm(atoms[best], axis=1)
        finish(active[stuck], chosen[active[stuck]], weights[active[stuck]])
        active, best = active[~stuck], best[~stuck]
        if len(active) == 0:
            break
        support = np.concatenate([chosen[active], best[:, None]], axis=1)
        basis = atoms[support]
        fit = _least_squares(basis, target[active])
        residual[active] = target[active] - np.einsum("pkd,pk->pd", basis, fit)
        chosen, weights = _widen(chosen, active, support), _widen(weights, active, fit)
        close = (residual[active] ** 2).sum(axis=1) <= tol
        finish(active[close], support[close], fit[close])
        active = active[~close]
    finish(active, chosen[active], weights[active])
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.csr_matrix(entries, shape=(n_points, len(atoms)))


def _most_correlated(residual: Array, own: IndexArray, chosen: IndexArray, atoms: Array) -> tuple[IndexArray, Array]:
    correlation = np.abs(residual @ atoms.T)
    points = np.arange(len(residual))
    correlation[points[own >= 0], own[own >= 0]] = -1
    correlation[points[:, None], chosen] = -1
    best = correlation.argmax(axis=1)
    return best, correlation[points, best]


def _least_squares(basis: Array, target: Array) -> Array:
    """For each point the weights of its atoms that come closest to it; basis is points x atoms x D."""
    gram, right = basis @ basis.transpose(0, 2, 1), basis @ target[:, :, None]
    try:
        return np.linalg.solve(gram, right)[:, :, 0]
    except np.linalg.LinAlgError:
        # Atoms of some point are dependent up to rounding; many weights fit equally well, take the smallest.
        return (np.linalg.pinv(gram, hermitian=True) @ right)[:, :, 0]


def _widen(table: Array, rows: IndexArray, values: Array) -> Array:
    wider = np.zeros((len(table), values.shape[1]), dtype=values.dtype)
    wider[rows] = values
    return wider
