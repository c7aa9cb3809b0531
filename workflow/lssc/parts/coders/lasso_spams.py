"""The codes of `lasso` by SPAMS (LARS): the same problem, another program, to compare with."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.parts.params import Above
from lssc.parts.registry import component
from lssc.types import Array, Codes, IndexArray

# The penalty on a landmark's own atom, over the largest that could still let it in; its coefficient is exactly zero.
FORBIDDEN = 1e6
# Weighted solves take an m x block matrix of penalties: bounds memory where every point is a landmark.
BLOCK = 1024


def warm_up() -> None:
    code_lasso_spams(np.eye(2), np.arange(1), lam=10.0)


@component("coder", "lasso_spams", warm_up=warm_up)
def code_lasso_spams(
    X: Array, landmarks: IndexArray, *, lam: Annotated[float, Above(0)], exclude_self: bool = True
) -> Codes:
    """min |c|_1 + lam/2 |x - L'c|^2 for every point x, L the landmarks as rows; parameters as those of `lasso`."""
    atoms = np.asfortranarray(X[landmarks].T)
    if not exclude_self:
        return Codes(solve_lasso(X, atoms, lam))
    others = np.setdiff1d(np.arange(len(X)), landmarks)
    parts = [solve_lasso(X[others], atoms, lam)] if len(others) else []
    for start in range(0, len(landmarks), BLOCK):
        own = np.arange(start, min(start + BLOCK, len(landmarks)))
        parts.append(_solve_without_own(X[landmarks[own]], own, atoms, lam))
    order = np.argsort(np.concatenate([others, landmarks]))
    return Codes(sparse.vstack(parts, format="csr")[order])


def solve_lasso(X: Array, atoms: Array, lam: float) -> sparse.csr_matrix:
    """Codes of the rows of X by the columns of `atoms` (Fortran order), as rows."""
    import spams

    # SPAMS weighs the l1 norm instead of the residual. Points as rows in C order are columns in Fortran order.
    codes = spams.lasso(np.asfortranarray(X.T), D=atoms, lambda1=1 / lam, mode=2, numThreads=1)
    return sparse.csr_matrix(codes.T)


def _solve_without_own(X: Array, own: IndexArray, atoms: Array, lam: float) -> sparse.csr_matrix:
    """Codes of landmarks: row i of X is column own[i] of `atoms`, which must not be used."""
    import spams

    penalties = np.ones((atoms.shape[1], len(X)), order="F")
    penalties[own, np.arange(len(X))] = FORBIDDEN * max(1.0, lam * (X**2).sum(axis=1).max())
    codes = spams.lassoWeighted(np.asfortranarray(X.T), D=atoms, W=penalties, lambda1=1 / lam, mode=2, numThreads=1)
    codes = sparse.csr_matrix(codes.T)
    codes.data[codes.indices == np.repeat(own, np.diff(codes.indptr))] = 0
    codes.eliminate_zeros()
    return codes
