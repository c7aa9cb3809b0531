"""Spectral embedding of the graph that links points with similar codes: ESC."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.embedders.affinity import warm_up
from lssc.params import AtLeast, Below
from lssc.registry import component
from lssc.scaling import unit_rows
from lssc.spectral import spectral_embedding
from lssc.types import Array, Embedding, IndexArray

CHUNK = 512
# Share of nonzero coefficients beyond which a dense product of codes is quicker than a sparse one.
DENSE = 0.08


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
    n = codes.shape[0]
    if codes.nnz > DENSE * np.prod(codes.shape):
        codes = codes.toarray()
    transposed = codes.T if isinstance(codes, np.ndarray) else codes.T.tocsr()
    rows, columns = [], []
    for start in range(0, n, CHUNK):
        similarity = codes[start : start + CHUNK] @ transposed
        similarity = similarity if isinstance(similarity, np.ndarray) else similarity.toarray()
        own = np.arange(len(similarity))
        similarity[own, start + own] = 0
        point, neighbour = _top(similarity, t)
        rows.append(start + point)
        columns.append(neighbour)
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    return sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))


def _top(similarity: Array, t: int) -> tuple[IndexArray, IndexArray]:
    """Row and column of the t largest positive entries of each row."""
    n = similarity.shape[1]
    columns = np.argpartition(similarity, n - t, axis=1)[:, n - t :]
    rows = np.repeat(np.arange(len(similarity)), t)
    columns = columns.ravel()
    positive = similarity[rows, columns] > 0
    return rows[positive], columns[positive]


def _unit_csr_rows(codes: sparse.csr_matrix) -> sparse.csr_matrix:
    length = np.sqrt(np.asarray(codes.multiply(codes).sum(axis=1)).ravel())
    length[length == 0] = 1.0
    return sparse.csr_matrix(sparse.diags(1 / length) @ codes)
