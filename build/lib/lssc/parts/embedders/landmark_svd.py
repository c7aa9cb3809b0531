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
    A, weights = normalised_codes(codes)
    use_gram = solver == "gram" or (solver == "auto" and A.shape[1] <= gram_up_to)
    U, values = (_top_by_gram if use_gram else _top_by_svd)(A, n_clusters, rng)
    vectors = A @ U
    del A
    signs = column_signs(vectors)
    vectors = vectors * signs
    if scale_rows:
        vectors = unit_rows(vectors)
    info = {"n_uncoded": int((np.diff(codes.indptr) == 0).sum())}
    return Embedding(vectors, values, info, Projection(weights, U * signs, scale_rows))


def project_codes(codes: sparse.csr_matrix, projection: Projection) -> Array:
    """Coordinates of new points in an embedding by landmarks, from their codes by the same landmarks."""
    vectors = normalised_codes(codes, projection.weights)[0] @ projection.basis
    return unit_rows(vectors) if projection.scale_rows else vectors


def normalised_codes(codes: sparse.csr_matrix, weights: Array | None = None) -> tuple[sparse.csr_matrix, Array]:
    """D^-1/2 |C|' with points as rows (n x m), D = diag(|C|' weights), and the weights: |C| 1 if none are given."""
    # Share the codes' index arrays, which take a gigabyte for ten million points.
    A = sparse.csr_matrix((np.abs(codes.data), codes.indices, codes.indptr), shape=codes.shape)
    if weights is None:
        weights = np.asarray(A.sum(axis=0)).ravel()
    degree = A @ weights
    # A point without a code has degree zero: its row is zero and stays at the origin.
    degree[degree == 0] = 1.0
    for block in _row_blocks(A):
        start, stop = A.indptr[[block.start, block.stop]]
        A.data[start:stop] *= np.repeat(1 / np.sqrt(degree[block]), np.diff(A.indptr[block.start : block.stop + 1]))
    return A, weights


def _row_blocks(A: sparse.csr_matrix) -> list[slice]:
    return [slice(start, min(start + POINTS_PER_BLOCK, A.shape[0])) for start in range(0, A.shape[0], POINTS_PER_BLOCK)]


def _top_by_gram(A: sparse.csr_matrix, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Columns u / s for the top k singular triplets (u, s, v), so that A @ columns = v."""
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
    squares, U = eigh(gram, lower=True, subset_by_index=(max(m - k, 0), m - 1))
    return _divide(U[:, ::-1], np.sqrt(np.maximum(squares[::-1], 0)), k)


def _top_by_svd(A: sparse.csr_matrix, k: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """The same without the m x m matrix, from products with A and A'."""
    squares, U = top_eigenpairs(lambda x: A.T @ (A @ x), A.shape[1], k, rng=rng)
    return _divide(U, np.sqrt(np.maximum(squares, 0)), k)


def _divide(U: Array, values: Array, k: int) -> tuple[Array, Array]:
    # If the rank is below K, the missing coordinates are zero, not rounding errors over rounding errors.
    kept = values > MIN_SINGULAR_SHARE * max(values.max(initial=0), 1e-300)
    columns, singular = np.zeros((U.shape[0], k)), np.zeros(k)
    columns[:, : len(values)] = np.where(kept, U / np.where(kept, values, 1), 0)
    singular[: len(values)] = np.where(kept, values, 0)
    return columns, singular
