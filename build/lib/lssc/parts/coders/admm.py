"""Sparse codes of all points by each other with ADMM: SSC-ADMM (Elhamifar and Vidal 2013)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from scipy import sparse

from lssc.linalg.coherence import penalties
from lssc.parts.params import Above, AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Codes, IndexArray

# Columns that iterate together with low-rank products.
COLUMNS_PER_BLOCK = 64


def warm_up() -> None:
    import scipy.linalg  # noqa: F401

    code_admm(np.eye(2), np.arange(2), alpha=10.0, products="low_rank")


@component("coder", "admm", warm_up=warm_up, needs_all=True)
def code_admm(
    X: Array,
    landmarks: IndexArray,
    *,
    alpha: Annotated[float, Above(0)],
    max_iter: Annotated[int, AtLeast(1)] = 200,
    tol: Annotated[float, AtLeast(0)] = 2e-4,
    products: Literal["dense", "low_rank"] = "dense",
) -> Codes:
    """Eq. (3): min |C|_1 + lambda/2 |Y - YC|_F^2 with zero diagonal, lambda = alpha / lambda0, as its authors iterate.

    Each iteration multiplies by the inverse of an n x n matrix: n^3. It also zeroes the diagonal of Z, which moves the
    limit away from the lasso solution; kept, as the paper compares with this method. The authors' loop counts from one,
    so it makes max_iter - 1 iterations.

    `low_rank` products give the same iterates through a D x D system, by blocks of columns and without n x n matrices.
    They show how much of the time is due to the method and how much to its implementation.
    """
    Y = X[landmarks].T
    mu1, mu2 = penalties(Y, alpha)
    limit = max(max_iter - 1, 1)
    codes, iterations, gap = (_dense if products == "dense" else _low_rank)(Y, mu1, mu2, limit, float(tol))
    return Codes(codes, {"n_iter": iterations, "gap": gap, "converged": gap <= tol})


def _dense(Y: Array, mu1: float, mu2: float, limit: int, tol: float) -> tuple[sparse.csr_matrix, int, float]:
    G = mu1 * (Y.T @ Y)
    A = np.linalg.inv(G + mu2 * np.eye(len(G)))
    C, L = np.zeros_like(G), np.zeros_like(G)
    gap, iterations = np.inf, 0
    while gap > tol and iterations < limit:
        Z = A @ (G + mu2 * C - L)
        np.fill_diagonal(Z, 0)
        C = _soft(Z + L / mu2, 1 / mu2)
        np.fill_diagonal(C, 0)
        L += mu2 * (Z - C)
        gap, iterations = float(np.abs(Z - C).max()), iterations + 1
    return sparse.csr_matrix(C.T), iterations, gap


def _low_rank(Y: Array, mu1: float, mu2: float, limit: int, tol: float) -> tuple[sparse.csr_matrix, int, float]:
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.admm import compute_admm_codes

    return compute_admm_codes(Y.T, mu1, mu2, max_iter=limit, tol=tol, block=COLUMNS_PER_BLOCK)


def _soft(A: Array, threshold: float) -> Array:
    return A - np.clip(A, -threshold, threshold)
