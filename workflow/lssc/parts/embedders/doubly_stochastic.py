"""Spectral embedding of the doubly stochastic affinity: A-DSSC (Lim, Vidal and Haeffele 2020)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.errors import InputError
from lssc.linalg.doubly_stochastic import TOLERANCE, make_doubly_stochastic
from lssc.linalg.scaling import unit_rows
from lssc.linalg.spectral import spectral_embedding
from lssc.parts.embedders.affinity import warm_up as load_spectral
from lssc.parts.params import Above
from lssc.parts.registry import component
from lssc.types import Embedding


def warm_up() -> None:
    load_spectral()


@component("embedder", "doubly_stochastic", warm_up=warm_up, needs_all=True)
def embed_doubly_stochastic(
    codes: sparse.csr_matrix,
    *,
    n_clusters: int,
    eta: Annotated[float, Above(0)],
    scale_rows: bool = True,
    rng: np.random.Generator,
) -> Embedding:
    """The top K eigenvectors of W = (A + A')/2, A = argmin -<|C|, A> + eta/2 |A|^2 over doubly stochastic A.

    The rows and columns of A sum to 1, so W needs no further normalisation. The smaller eta, the fewer entries A has.
    It is exact, also where C is zero, and there is no n x n matrix. `scale_rows` scales the rows of the result to unit
    norm. Needs every point as a landmark: A joins points by points, and sums of columns must be those of points too.
    """
    if codes.shape[0] != codes.shape[1]:
        size = f"{codes.shape[0]} x {codes.shape[1]}"
        raise InputError(f"codes are {size}; embedder 'doubly_stochastic' needs selector 'all' (n x n codes)")
    result = make_doubly_stochastic(_sizes(codes), eta)
    W = sparse.csr_matrix(result.matrix + result.matrix.T) / 2
    embedding = spectral_embedding(W, n_clusters, rng=rng)
    vectors = unit_rows(embedding.vectors) if scale_rows else embedding.vectors
    info = {"n_newton": result.n_steps, "error": result.error, "converged": result.error <= TOLERANCE}
    return Embedding(vectors, embedding.values, embedding.info | info)


def _sizes(codes: sparse.csr_matrix) -> sparse.csr_matrix:
    """|C|, with each entry once."""
    sizes = sparse.csr_matrix(codes, copy=True)
    sizes.sum_duplicates()
    return abs(sizes)
