"""Sparse codes by the lasso, solved by SPAMS (LARS), to compare `lasso` with."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.parts.params import Above
from lssc.parts.registry import component
from lssc.types import Array, Codes, IndexArray

# Penalty on a landmark's own atom, over the largest at which it could still be used.
OWN_PENALTY = 1e6
# Landmarks solved at a time, with an m x LANDMARKS_PER_BLOCK matrix of penalties.
LANDMARKS_PER_BLOCK = 1024


def warm_up() -> None:
    code_lasso_spams(np.eye(2), np.arange(1), lam=10.0)


@component("coder", "lasso_spams", warm_up=warm_up)
def code_lasso_spams(
    X: Array, landmarks: IndexArray, *, lam: Annotated[float, Above(0)], exclude_self: bool = True
) -> Codes:
    """min |c|_1 + lam/2 |x - L'c|^2 for every point x, L the landmarks as rows; parameters as in `lasso`."""
    atoms = np.asfortranarray(X[landmarks].T)
    if not exclude_self:
        return Codes(solve_by_spams(X, atoms, lam))
    others = np.setdiff1d(np.arange(len(X)), landmarks)
    parts = [solve_by_spams(X[others], atoms, lam)] if len(others) else []
    for start in range(0, len(landmarks), LANDMARKS_PER_BLOCK):
        own = np.arange(start, min(start + LANDMARKS_PER_BLOCK, len(landmarks)))
        parts.append(_solve_without_own(X[landmarks[own]], own, atoms, lam))
    order = np.argsort(np.concatenate([others, landmarks]))
    return Codes(sparse.vstack(parts, format="csr")[order])


def solve_by_spams(X: Array, atoms: Array, lam: float) -> sparse.csr_matrix:
    """Codes (n x m) of the rows of X (n x D) by the columns of `atoms` (D x m, Fortran order)."""
    import spams

    # SPAMS weights the l1 norm instead of the residual.
    codes = spams.lasso(np.asfortranarray(X.T), D=atoms, lambda1=1 / lam, mode=2, numThreads=1)
    return sparse.csr_matrix(codes.T)


def _solve_without_own(X: Array, own: IndexArray, atoms: Array, lam: float) -> sparse.csr_matrix:
    """Codes of landmarks: row i of X is column own[i] of `atoms`, which it must not use."""
    import spams

    penalties = np.ones((atoms.shape[1], len(X)), order="F")
    penalties[own, np.arange(len(X))] = OWN_PENALTY * max(1.0, lam * (X**2).sum(axis=1).max())
    codes = spams.lassoWeighted(np.asfortranarray(X.T), D=atoms, W=penalties, lambda1=1 / lam, mode=2, numThreads=1)
    codes = sparse.csr_matrix(codes.T)
    codes.data[codes.indices == np.repeat(own, np.diff(codes.indptr))] = 0
    codes.eliminate_zeros()
    return codes
