"""Spectral embedding of W = |C| + |C|', where landmarks are points: SSC, and S5C with a few landmarks."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from lssc.errors import InputError
from lssc.linalg.scaling import unit_rows
from lssc.linalg.spectral import spectral_embedding
from lssc.parts.registry import component
from lssc.types import Embedding, IndexArray


def warm_up() -> None:
    import scipy.linalg
    import scipy.sparse.csgraph
    import scipy.sparse.linalg  # noqa: F401


@component("embedder", "affinity", warm_up=warm_up)
def embed_affinity(
    codes: sparse.csr_matrix,
    *,
    n_clusters: int,
    scale_codes: bool = True,
    scale_rows: bool = True,
    landmark_indices: IndexArray | None = None,
    rng: np.random.Generator,
) -> Embedding:
    """The top K eigenvectors of D^-1/2 W D^-1/2 (n x n), W = |C| + |C|', D = diag(W 1).

    `scale_codes` first divides each code by its largest coefficient; `scale_rows` scales the rows of the result to unit
    norm. The authors of SSC do both. C is n x n: if only some points are landmarks, the columns of the others are zero.
    """
    C = _square(abs(codes), landmark_indices)
    if scale_codes:
        largest = C.max(axis=1).toarray().ravel()
        largest[largest == 0] = 1.0
        C = sparse.diags(1 / largest) @ C
    embedding = spectral_embedding(sparse.csr_matrix(C + C.T), n_clusters, rng=rng)
    vectors = unit_rows(embedding.vectors) if scale_rows else embedding.vectors
    return Embedding(vectors, embedding.values, embedding.info)


def _square(codes: sparse.csr_matrix, landmark_indices: IndexArray | None) -> sparse.csr_matrix:
    """Codes as n x n: the column of each landmark moves to the place of its point."""
    n, m = codes.shape
    if landmark_indices is None:
        if n != m:
            raise InputError(f"embedder 'affinity': codes are {n} x {m}; the landmarks must be rows of X")
        return codes
    if n == m and (np.diff(landmark_indices) == 1).all():
        return codes
    square = sparse.csr_matrix((codes.data, landmark_indices[codes.indices], codes.indptr), shape=(n, n))
    square.sort_indices()
    return square
