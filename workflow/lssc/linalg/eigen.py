"""The largest eigenvalues of a symmetric matrix, from products with vectors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lssc.types import Array

Product = Callable[[Array], Array]
# Largest entry of a residual A v - w v at which block iteration stops, and rounds of it at most.
MAX_RESIDUAL, MAX_ROUNDS = 1e-9, 60
# Restarts of ARPACK: more are needed only if many eigenvalues are nearly equal.
MAX_RESTARTS = 2000
# Steps of the Krylov iteration in one round.
STEPS_PER_ROUND = 12


def top_eigenpairs(product: Product, n: int, k: int, *, rng: np.random.Generator) -> tuple[Array, Array]:
    """The k largest eigenvalues of an n x n matrix, descending, and their eigenvectors as columns (n x k).

    ARPACK, unless a few products from a random start already span an invariant subspace. This happens if many
    eigenvalues are equal; there ARPACK restarts from its own random numbers, which differ from call to call, and may
    miss copies of an eigenvalue. Block iteration does not. It also serves where ARPACK does not converge.
    """
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    size = min(n, max(4 * k, 32))
    start = _orthonormal(rng.standard_normal((n, 1)))
    basis, _ = _krylov(product, start, size)
    if basis.shape[1] < size or size == n:
        return _by_blocks(product, n, k, rng)
    try:
        A = LinearOperator((n, n), matvec=product)
        values, vectors = eigsh(A, k=k, which="LA", v0=start[:, 0], ncv=size, maxiter=MAX_RESTARTS)
    except ArpackNoConvergence:
        return _by_blocks(product, n, k, rng)
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def _by_blocks(product: Product, n: int, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Block Krylov iteration: a block of 2k + 2 vectors finds up to that many copies of an eigenvalue."""
    width = min(n, 2 * k + 2)
    block = _orthonormal(rng.standard_normal((n, width)))
    for _ in range(MAX_ROUNDS):
        basis, images = _krylov(product, block, STEPS_PER_ROUND)
        values, rotation = np.linalg.eigh(basis.T @ images)
        top = rotation[:, ::-1][:, :width]
        block, values = basis @ top, values[::-1]
        residual = images @ top[:, :k] - block[:, :k] * values[:k]
        if np.abs(residual).max() <= MAX_RESIDUAL:
            break
    return values[:k], block[:, :k]


def _krylov(product: Product, block: Array, steps: int) -> tuple[Array, Array]:
    """An orthonormal basis of the span of B, AB, A^2 B, ... (so many powers) for the block B, and A times the basis."""
    basis = block
    images = latest = product(block)
    for _ in range(steps - 1):
        fresh = _new_directions(latest, basis)
        if fresh.shape[1] == 0:
            break
        latest = product(fresh)
        basis, images = np.hstack([basis, fresh]), np.hstack([images, latest])
    return basis, images


def _new_directions(vectors: Array, basis: Array) -> Array:
    """An orthonormal basis of what the vectors add to the span of `basis`, up to rounding errors."""
    scale = np.linalg.norm(vectors, axis=0).max(initial=0.0)
    vectors = vectors - basis @ (basis.T @ vectors)
    U, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    U = U[:, sizes > 1e-10 * scale][:, : basis.shape[0] - basis.shape[1]]
    # Again: dividing a small vector by its norm enlarges its rounding errors along the basis.
    return _orthonormal(U - basis @ (basis.T @ U)) if U.shape[1] else U


def _orthonormal(vectors: Array) -> Array:
    return np.linalg.qr(vectors)[0]
