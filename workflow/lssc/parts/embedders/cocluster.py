"""Spectral co-clustering of points and landmarks: the paper's embedding, with five choices made differently."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.blocks import Blocks
from lssc.parts.embedders.landmark_svd import embed_codes
from lssc.parts.params import Above, AtLeast
from lssc.parts.registry import component
from lssc.types import Embedding


def warm_up() -> None:
    # Codes of points in blocks may be in single precision.
    for precision in (np.float64, np.float32):
        codes = sparse.csr_matrix(np.ones((3, 3), dtype=precision))
        embed_codes(codes, 2, top=2, scale_rows=True, rng=np.random.default_rng(0))


@component("embedder", "cocluster", warm_up=warm_up, by_rows=True)
def embed_cocluster(
    codes: sparse.csr_matrix | Blocks,
    *,
    n_clusters: int,
    top: Annotated[int, AtLeast(0)] = 5,
    power: Annotated[float, Above(0)] = 2.0,
    landmark_degrees: bool = True,
    vectors_per_cluster: Annotated[int, AtLeast(1)] = 2,
    value_power: Annotated[float, AtLeast(0)] = 4.0,
    scale_rows: bool = True,
    rng: np.random.Generator,
) -> Embedding:
    """Singular vectors of the bipartite graph of points and landmarks (Dhillon 2001), for n x m codes C.

    1. A holds each point's `top` largest |c|, to the `power`; all of them if `top` is 0.
    2. `landmark_degrees` scales the columns: A <- A diag(A'1)^-1/2. Then B = diag(A A'1)^-1/2 A, as in the paper.
    3. The coordinates are the top vectors_per_cluster K left singular vectors of B, each times its singular value to
       `value_power`; `scale_rows` scales them to unit norm.

    Large coefficients belong to landmarks of the point's own subspace more often than small ones, hence 1; a landmark
    in a dense region should not dominate, hence the columns; further vectors help if a cluster has parts, hence 3. The
    paper's embedding is top=0, power=1, landmark_degrees=False, vectors_per_cluster=1, value_power=0, scale_rows=False.
    Cost: n top^2 operations for the m x m Gram matrix and m^3 for its eigenvectors.
    """
    return embed_codes(
        codes,
        vectors_per_cluster * n_clusters,
        top=top,
        power=power,
        landmark_degrees=landmark_degrees,
        value_power=value_power,
        scale_rows=scale_rows,
        rng=rng,
    )
