"""Sparse codes by ADMM over all points at once: SSC-ADMM (Elhamifar and Vidal 2013)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.coherence import penalties
from lssc.params import Above, AtLeast
from lssc.registry import component
from lssc.types import Array, Codes, IndexArray


def warm_up() -> None:
    import scipy.linalg  # noqa: F401


@component("coder", "admm", warm_up=warm_up, needs_all=True)
def code_admm(
    X: Array,
    landmarks: IndexArray,
    *,
    alpha: Annotated[float, Above(0)],
    max_iter: Annotated[int, AtLeast(1)] = 200,
    tol: Annotated[float, AtLeast(0)] = 2e-4,
) -> Codes:
    """Eq. (3) with lambda = alpha / lambda0, as its authors iterate: the inverse of an n x n matrix, n^3 per iteration.

    Their iteration also zeroes the diagonal of Z, which moves its limit away from the lasso solution; kept, as it is
    the method the paper compares with. Their loop counts from one, so it makes max_iter - 1 iterations.
    """
    Y = X[landmarks].T
    mu1, mu2 = penalties(Y, alpha)
    G = mu1 * (Y.T @ Y)
    A = np.linalg.inv(G + mu2 * np.eye(len(G)))
    C, L = np.zeros_like(G), np.zeros_like(G)
    gap, iterations = np.inf, 0
    while gap > tol and iterations < max(max_iter - 1, 1):
        Z = A @ (G + mu2 * C - L)
        np.fill_diagonal(Z, 0)
        C = _soft(Z + L / mu2, 1 / mu2)
        np.fill_diagonal(C, 0)
        L += mu2 * (Z - C)
        gap, iterations = float(np.abs(Z - C).max()), iterations + 1
    return Codes(sparse.csr_matrix(C.T), {"n_iter": iterations, "gap": gap, "converged": gap <= tol})


def _soft(A: Array, threshold: float) -> Array:
    return A - np.clip(A, -threshold, threshold)
