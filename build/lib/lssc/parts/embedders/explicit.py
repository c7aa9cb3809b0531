"""Spectral embedding of W = |C|'|C| formed in full (n x n), which the paper avoids."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from lssc.linalg.scaling import fixed_signs, unit_rows
from lssc.parts.registry import component
from lssc.types import Embedding


def warm_up() -> None:
    import scipy.linalg  # noqa: F401


@component("embedder", "explicit", warm_up=warm_up)
def embed_explicit(codes: sparse.csr_matrix, *, n_clusters: int, scale_rows: bool = False) -> Embedding:
    """The top K eigenvectors of D^-1/2 W D^-1/2 and the square roots of their eigenvalues, by a dense solver.

    `landmark_svd` must give the same without W. Memory is n^2.
    """
    from scipy.linalg import eigh

    C = abs(codes)
    W = (C @ C.T).toarray()
    degree = W.sum(axis=1)
    # A point without a code has degree zero and stays at the origin.
    alone = degree == 0
    degree[alone] = 1.0
    W /= np.sqrt(degree)[:, None]
    W /= np.sqrt(degree)
    n, k = len(W), min(n_clusters, len(W))
    values, vectors = eigh(W, subset_by_index=(n - k, n - 1), overwrite_a=True)
    vectors[alone] = 0
    vectors = fixed_signs(vectors[:, ::-1])
    if scale_rows:
        vectors = unit_rows(vectors)
    return Embedding(vectors, np.sqrt(np.maximum(values[::-1], 0)))
