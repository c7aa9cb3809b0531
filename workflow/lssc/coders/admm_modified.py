"""The efficient ADMM for SSC (Pourkamali-Anaraki and Becker 2018): the paper's "modified version"."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.coherence import penalties
from lssc.params import Above, AtLeast
from lssc.registry import component
from lssc.types import Array, Codes, IndexArray

# Columns that run together: wide enough for the matrix products, narrow enough for the cache.
BLOCK = 64
# How often the stopping rule is looked at: looking costs a pass over the block.
CHECK_EVERY = 5


def warm_up() -> None:
    import scipy.linalg.blas  # noqa: F401


@component("coder", "admm_modified", warm_up=warm_up, needs_all=True)
def code_admm_modified(
    X: Array,
    landmarks: IndexArray,
    *,
    alpha: Annotated[float, Above(0)],
    max_iter: Annotated[int, AtLeast(1)] = 200,
    tol: Annotated[float, AtLeast(0)] = 2e-4,
) -> Codes:
    """Eq. (3) with lambda = alpha / lambda0 through a D x D system instead of an n x n one: n^2 D per iteration.

    The iteration is separable by columns, so every block of columns runs until it meets the tolerance by itself and
    only its nonzeros are kept: memory is n x BLOCK, never n x n.
    """
    Y = np.ascontiguousarray(X[landmarks].T)
    mu1, mu2 = penalties(Y, alpha)
    # Matrix inversion lemma: inv(mu1 Y'Y + mu2 I) = (I - Y' M Y) / mu2.
    M = mu1 * np.linalg.inv(mu2 * np.eye(len(Y)) + mu1 * (Y @ Y.T))
    rows, iterations, gap = [], 0, 0.0
    for start in range(0, Y.shape[1], BLOCK):
        own = np.arange(start, min(start + BLOCK, Y.shape[1]))
        C, n_iter, block_gap = _iterate(Y, own, M, mu1 / mu2, 1 / mu2, max_iter, tol)
        rows.append(sparse.csr_matrix(C.T))
        iterations, gap = max(iterations, n_iter), max(gap, block_gap)
    info = {"n_iter": iterations, "gap": gap, "converged": gap <= tol}
    return Codes(sparse.vstack(rows, format="csr"), info)


def _iterate(
    Y: Array, own: IndexArray, M: Array, ratio: float, threshold: float, max_iter: int, tol: float
) -> tuple[Array, int, float]:
    """ADMM for the columns `own` of C.

    Written with the scaled dual U = L / mu2, one iteration is Z = V + Y'Q, V = C - U, Q a D x block matrix; then
    T = Z + U, C = soft(T), U = T - C. Substituting gives T = C + Y'Q: one product accumulated in place.
    """
    from scipy.linalg.blas import dgemm

    columns = np.arange(len(own))
    target = ratio * Y[:, own]
    target_fit = target - M @ (Y @ (Y.T @ target))
    C = np.zeros((Y.shape[1], len(own)), order="F")
    U, V, before = np.zeros_like(C), np.empty_like(C), np.empty_like(C)
    gap = np.inf
    for iteration in range(1, max_iter + 1):
        np.subtract(C, U, out=V)
        Q = target_fit - M @ (Y @ V)
        T = dgemm(1.0, Y, Q, beta=1.0, c=C, overwrite_c=1, trans_a=1)
        looking = iteration % CHECK_EVERY == 0 or iteration == max_iter
        if looking:
            before[:] = U
        np.clip(T, -threshold, threshold, out=U)
        # The constraint diag(C) = 0 moves what C loses into the dual.
        U[own, columns] = T[own, columns]
        C = np.subtract(T, U, out=T)
        if looking:
            gap = float(np.abs(U - before).max())
            if gap <= tol:
                break
    return C, iteration, gap
