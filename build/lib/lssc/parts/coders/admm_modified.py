"""Sparse codes by the efficient ADMM (Pourkamali-Anaraki and Becker 2018): the paper's "modified version"."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.linalg.coherence import penalties
from lssc.parts.params import Above, AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Codes, IndexArray

# Columns that iterate and stop together.
COLUMNS_PER_BLOCK = 64
# Iterations between two tests to stop, each of which may cost a product with all points.
CHECK_EVERY = 5


def warm_up() -> None:
    code_admm_modified(np.eye(2), np.arange(2), alpha=10.0)


@component("coder", "admm_modified", warm_up=warm_up, needs_all=True)
def code_admm_modified(
    X: Array,
    landmarks: IndexArray,
    *,
    alpha: Annotated[float, Above(0)],
    max_iter: Annotated[int, AtLeast(1)] = 200,
    tol: Annotated[float, AtLeast(0)] = 2e-4,
    plain: bool = False,
) -> Codes:
    """Eq. (3), as `admm`, through a D x D system instead of an n x n one: n^2 D per iteration.

    The iteration is separable by columns, so every block of columns runs until it meets the tolerance, and only its
    nonzeros are kept: memory is n x COLUMNS_PER_BLOCK, never n x n.

    `plain` computes the same iterates as the authors publish them: n x n matrices, all rows in every product, and one
    test to stop for all columns after every iteration. It serves to compare both ADMMs as published, this one with
    `admm` at dense products: the default's kernel is not part of the authors' method.
    """
    points = X[landmarks]
    mu1, mu2 = penalties(points.T, alpha)
    codes, iterations, gap = (_plain if plain else _by_blocks)(points, mu1, mu2, max_iter, float(tol))
    return Codes(codes, {"n_iter": iterations, "gap": gap, "converged": gap <= tol})


def _by_blocks(
    points: Array, mu1: float, mu2: float, max_iter: int, tol: float
) -> tuple[sparse.csr_matrix, int, float]:
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.admm import compute_modified_admm_codes

    return compute_modified_admm_codes(
        points, mu1, mu2, max_iter=max_iter, tol=tol, block=COLUMNS_PER_BLOCK, check_every=CHECK_EVERY
    )


def _plain(points: Array, mu1: float, mu2: float, max_iter: int, tol: float) -> tuple[sparse.csr_matrix, int, float]:
    Y = points.T
    inverse = np.linalg.inv(Y @ Y.T + mu2 / mu1 * np.eye(len(Y)))
    # U is the dual divided by mu2.
    Z, C, U = (np.zeros((len(points), len(points))) for _ in range(3))
    gap, iterations = np.inf, 0
    while gap > tol and iterations < max_iter:
        np.subtract(C, U, out=Z)
        Z += points @ (inverse @ (Y - Y @ Z))
        U += Z
        np.clip(U, -1 / mu2, 1 / mu2, out=C)
        np.subtract(U, C, out=C)
        np.fill_diagonal(C, 0)
        U -= C
        Z -= C
        gap, iterations = float(max(Z.max(), -Z.min())), iterations + 1
    return sparse.csr_matrix(C.T), iterations, gap
