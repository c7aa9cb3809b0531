"""Spectral embedding of the nearest-neighbour graph of codes: ESC."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.linalg.scaling import unit_rows
from lssc.linalg.spectral import spectral_embedding
from lssc.parts.embedders.affinity import warm_up as load_spectral
from lssc.parts.params import AtLeast, Below
from lssc.parts.registry import component
from lssc.types import Embedding

# Share of nonzero coefficients up to which sparse inner products of codes are quicker than dense ones.
MAX_SPARSE_SHARE = 0.18
# Points whose dense inner products are formed at a time.
POINTS_PER_CHUNK = 512


def warm_up() -> None:
    load_spectral()
    for codes in (np.eye(8), np.ones((2, 2))):
        nearest_neighbours(sparse.csr_matrix(codes), 1)


@component("embedder", "neighbours", warm_up=warm_up)
def embed_neighbours(
    codes: sparse.csr_matrix,
    *,
    n_clusters: int,
    t: Annotated[int, AtLeast(1), Below("n")],
    unit_codes: bool = True,
    scale_rows: bool = True,
    rng: np.random.Generator,
) -> Embedding:
    """The top K eigenvectors of the normalised W + W', where W links each point to the t others of most similar code.

    Similarity is the inner product of codes; only positive ones count. `unit_codes` scales codes to unit norm first, as
    ESC's authors do; the FSC paper's wording is without. `scale_rows` scales the rows of the result to unit norm.
    """
    if unit_codes:
        codes = _unit_csr_rows(codes)
    W = nearest_neighbours(codes, t)
    embedding = spectral_embedding(sparse.csr_matrix(W + W.T), n_clusters, rng=rng)
    vectors = unit_rows(embedding.vectors) if scale_rows else embedding.vectors
    return Embedding(vectors, embedding.values, embedding.info)


def nearest_neighbours(codes: sparse.csr_matrix, t: int) -> sparse.csr_matrix:
    """W[i, j] = 1 if j is among the t points, i excluded, with the largest positive inner product of codes."""
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.neighbours import find_neighbours, find_neighbours_in_products

    n = codes.shape[0]
    best, neighbours, counts = np.empty(t), np.empty((n, t), dtype=np.int32), np.empty(n, dtype=np.int64)
    if codes.nnz > MAX_SPARSE_SHARE * np.prod(codes.shape):
        C = codes.toarray()
        for start in range(0, n, POINTS_PER_CHUNK):
            find_neighbours_in_products(C[start : start + POINTS_PER_CHUNK] @ C.T, start, best, neighbours, counts)
    else:
        by_point, by_landmark = ((M.indptr, M.indices, M.data) for M in (codes, codes.tocsc()))
        find_neighbours(*by_point, *by_landmark, np.zeros(n), best, neighbours, counts)
    columns = neighbours[np.arange(t) < counts[:, None]]
    W = sparse.csr_matrix((np.ones(len(columns)), columns, np.concatenate([[0], np.cumsum(counts)])), shape=(n, n))
    W.sort_indices()
    return W


def _unit_csr_rows(codes: sparse.csr_matrix) -> sparse.csr_matrix:
    length = np.sqrt(np.asarray(codes.multiply(codes).sum(axis=1)).ravel())
    length[length == 0] = 1.0
    return sparse.csr_matrix(sparse.diags(1 / length) @ codes)
