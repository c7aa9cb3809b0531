"""Spectral embedding of the graph that links points with similar codes: ESC."""

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

# Share of nonzero coefficients beyond which a dense product of codes is quicker than walking along what they share.
DENSE = 0.18
# Points whose dense products are formed at a time.
CHUNK = 512


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
    """Link each point to the t others whose codes have the largest positive inner product with its own; A = W + W'.

    `unit_codes` brings codes to unit length first, as ESC's authors do; without it the inner products are taken as they
    are, which is how the FSC paper words it.
    """
    if unit_codes:
        codes = _unit_csr_rows(codes)
    W = nearest_neighbours(codes, t)
    embedding = spectral_embedding(sparse.csr_matrix(W + W.T), n_clusters, rng=rng)
    vectors = unit_rows(embedding.vectors) if scale_rows else embedding.vectors
    return Embedding(vectors, embedding.values, embedding.info)


def nearest_neighbours(codes: sparse.csr_matrix, t: int) -> sparse.csr_matrix:
    """W[i, j] = 1 if j is among the t points, i excluded, with the largest positive inner product of codes."""
    # Compiled code is loaded when it is needed.
    from lssc.kernels.neighbours import find_neighbours, find_neighbours_in_products

    n = codes.shape[0]
    best, found, counts = np.empty(t), np.empty((n, t), dtype=np.int32), np.empty(n, dtype=np.int64)
    if codes.nnz > DENSE * np.prod(codes.shape):
        C = codes.toarray()
        for start in range(0, n, CHUNK):
            find_neighbours_in_products(C[start : start + CHUNK] @ C.T, start, best, found, counts)
    else:
        by_point, by_landmark = ((M.indptr, M.indices, M.data) for M in (codes, codes.tocsc()))
        find_neighbours(*by_point, *by_landmark, np.zeros(n), best, found, counts)
    columns = found[np.arange(t) < counts[:, None]]
    W = sparse.csr_matrix((np.ones(len(columns)), columns, np.concatenate([[0], np.cumsum(counts)])), shape=(n, n))
    W.sort_indices()
    return W


def _unit_csr_rows(codes: sparse.csr_matrix) -> sparse.csr_matrix:
    length = np.sqrt(np.asarray(codes.multiply(codes).sum(axis=1)).ravel())
    length[length == 0] = 1.0
    return sparse.csr_matrix(sparse.diags(1 / length) @ codes)
