"""Spectral embedding of W = |C| + |C|', where every point is a landmark: SSC."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from lssc.linalg.scaling import unit_rows
from lssc.linalg.spectral import spectral_embedding
from lssc.parts.registry import component
from lssc.types import Embedding


def warm_up() -> None:
    import scipy.linalg
    import scipy.sparse.csgraph
    import scipy.sparse.linalg  # noqa: F401


@component("embedder", "affinity", warm_up=warm_up, needs_all=True)
def embed_affinity(
    codes: sparse.csr_matrix,
    *,
    n_clusters: int,
    scale_codes: bool = True,
    scale_rows: bool = True,
    rng: np.random.Generator,
) -> Embedding:
    """The top K eigenvectors of D^-1/2 W D^-1/2 (n x n), W = |C| + |C|', D = diag(W 1).

    `scale_codes` first divides each code by its largest coefficient; `scale_rows` scales the rows of the result to unit
    norm. The authors of SSC do both.
    """
    if codes.shape[0] != codes.shape[1]:
        raise ValueError(f"codes are {codes.shape[0]} x {codes.shape[1]}; affinity needs selector 'all' (n x n codes)")
    C = abs(codes)
    if scale_codes:
        largest = C.max(axis=1).toarray().ravel()
        largest[largest == 0] = 1.0
        C = sparse.diags(1 / largest) @ C
    embedding = spectral_embedding(sparse.csr_matrix(C + C.T), n_clusters, rng=rng)
    vectors = unit_rows(embedding.vectors) if scale_rows else embedding.vectors
    return Embedding(vectors, embedding.values, embedding.info)
