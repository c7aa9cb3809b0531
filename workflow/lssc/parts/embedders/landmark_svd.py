"""The paper's spectral embedding: singular vectors of |C| D^-1/2 (m x n), without an n x n matrix."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from scipy import sparse

from lssc.linalg.eigen import top_eigenpairs
from lssc.linalg.scaling import column_signs, unit_rows
from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Embedding, Projection

# Points scaled at a time, to bound memory beside the codes.
POINTS_PER_BLOCK = 2**17
# Singular values below this share of the largest one count as zero.
MIN_SINGULAR_SHARE = 1e-7


def warm_up() -> None:
    import scipy.sparse.linalg  # noqa: F401

    embed_landmark_svd(sparse.csr_matrix(np.eye(3)), n_clusters=2, rng=np.random.default_rng(0))


@component("embedder", "landmark_svd", warm_up=warm_up)
def embed_landmark_svd(
    codes: sparse.csr_matrix,
    *,
    n_clusters: int,
    scale_rows: bool = False,
    solver: Literal["auto", "gram", "svd"] = "auto",
    gram_up_to: Annotated[int, AtLeast(1)] = 3000,
    rng: np.random.Generator,
) -> Embedding:
    """Algorithm 1, steps 3 to 5: the top K right singular vectors of |C| D^-1/2 (m x n), D = diag(|C|' |C| 1).

    `gram` takes the eigenvectors of the m x m matrix |C| D^-1 |C|' (exact, cheap for small m), `svd` a truncated SVD,
    `auto` the first up to m = `gram_up_to`.
    """
    weights = select_coefficients(codes)
    return embed_weights(weights, n_clusters, scale_rows=scale_rows, solver=solver, gram_up_to=gram_up_to, rng=rng)


def embed_weights(
    weights: sparse.csr_matrix,
    k: int,
    *,
    value_power: float = 0.0,
    drop_first: bool = False,
    scale_rows: bool,
    solver: Literal["auto", "gram", "svd"] = "auto",
    gram_up_to: int = 3000,
    rng: np.random.Generator,
) -> Embedding:
    """Steps 3 to 5 for nonnegative weights (n x m) in place of |C|': k vectors, times singular values to a power.

    The weights are scaled in place. `drop_first` leaves out the first vector, which is the same for every graph: the
    square roots of the degrees, of singular value 1.
    """
    n_uncoded = int((np.diff(weights.indptr) == 0).sum())
    sums = scale_points(weights)
    use_gram = solver == "gram" or (solver == "auto" and weights.shape[1] <= gram_up_to)
    # The first right singular vector: known, so it can be left out even if others have singular value 1, too.
    first = sums / max(np.linalg.norm(sums), 1e-300) if drop_first else np.zeros(len(sums))
    U, values = (_top_by_gram if use_gram else _top_by_svd)(weights, k, first, rng)
    vectors = weights @ U
    columns = column_signs(vectors) * (values**value_power if value_power else 1.0)
    vectors = vectors * columns
    if scale_rows:
        vectors = unit_rows(vectors)
    return Embedding(vectors, values, {"n_uncoded": n_uncoded}, Projection(sums, U * columns, scale_rows))


def project_codes(codes: sparse.csr_matrix, projection: Projection) -> Array:
    """Coordinates of new points in an embedding by landmarks, from their codes by the same landmarks."""
    A = select_coefficients(codes, top=projection.top, power=projection.power)
    if projection.landmark_scale is not None:
        A.data *= projection.landmark_scale[A.indices]
    scale_points(A, projection.weights)
    vectors = A @ projection.basis
    return unit_rows(vectors) if projection.scale_rows else vectors


def select_coefficients(codes: sparse.csr_matrix, *, top: int = 0, power: float = 1.0) -> sparse.csr_matrix:
    """Each point's `top` largest |c| to a power; all if `top` is 0."""
    indptr, indices, data = codes.indptr, codes.indices, codes.data
    if top:
        # Imported on use: Numba takes half a second to load.
        from lssc.kernels.codes import keep_largest

        indptr, indices, data = keep_largest(indptr, indices, data, top)
    magnitudes = np.abs(data)
    if power != 1:
        magnitudes **= power
    # Share the codes' index arrays, which take a gigabyte for ten million points.
    return sparse.csr_matrix((magnitudes, indices, indptr), shape=codes.shape)


def scale_points(A: sparse.csr_matrix, weights: Array | None = None) -> Array:
    """Scale the rows of A in place to D^-1/2 A, D = diag(A weights). Returns the weights: A'1 if none are given."""
    if weights is None:
        weights = np.asarray(A.sum(axis=0)).ravel()
    degree = A @ weights
    # A point without a code has degree zero: its row is zero and stays at the origin.
    degree[degree == 0] = 1.0
    for block in _row_blocks(A):
        start, stop = A.indptr[[block.start, block.stop]]
        A.data[start:stop] *= np.repeat(1 / np.sqrt(degree[block]), np.diff(A.indptr[block.start : block.stop + 1]))
    return weights


def _row_blocks(A: sparse.csr_matrix) -> list[slice]:
    return [slice(start, min(start + POINTS_PER_BLOCK, A.shape[0])) for start in range(0, A.shape[0], POINTS_PER_BLOCK)]


def _top_by_gram(A: sparse.csr_matrix, k: int, first: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Columns u / s for the top k singular triplets (u, s, v) but u = `first`, so that A @ columns = v."""
    from scipy.linalg import eigh

    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.gram import add_lower_gram

    m = A.shape[1]
    gram = np.zeros((m, m))
    if not A.has_canonical_format:
        # A shares its index arrays with the codes, which must not change.
        A = A.copy()
        A.sum_duplicates()
    add_lower_gram(A.indptr, A.indices, A.data, gram)
    if first.any():
        gram -= np.outer(first, first)
    squares, U = eigh(gram, lower=True, subset_by_index=(max(m - k, 0), m - 1))
    return _divide(U[:, ::-1], np.sqrt(np.maximum(squares[::-1], 0)), k)


def _top_by_svd(A: sparse.csr_matrix, k: int, first: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """The same without the m x m matrix, from products with A and A'."""
    squares, U = top_eigenpairs(lambda x: A.T @ (A @ x) - np.multiply.outer(first, first @ x), A.shape[1], k, rng=rng)
    return _divide(U, np.sqrt(np.maximum(squares, 0)), k)


def _divide(U: Array, values: Array, k: int) -> tuple[Array, Array]:
    # If the rank is below K, the missing coordinates are zero, not rounding errors over rounding errors.
    kept = values > MIN_SINGULAR_SHARE * max(values.max(initial=0), 1e-300)
    columns, singular = np.zeros((U.shape[0], k)), np.zeros(k)
    columns[:, : len(values)] = np.where(kept, U / np.where(kept, values, 1), 0)
    singular[: len(values)] = np.where(kept, values, 0)
    return columns, singular
