"""The embedding of LSC (Chen and Cai 2011): singular vectors of the anchor graph, without the first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from lssc.parts.embedders.landmark_svd import embed_weights, select_coefficients
from lssc.parts.registry import component
from lssc.types import Embedding


def warm_up() -> None:
    embed_lsc(sparse.csr_matrix(np.ones((3, 3))), n_clusters=1, rng=np.random.default_rng(0))


@component("embedder", "lsc", warm_up=warm_up)
def embed_lsc(
    codes: sparse.csr_matrix, *, n_clusters: int, scale_rows: bool = True, rng: np.random.Generator
) -> Embedding:
    """Left singular vectors 2 to K + 1 of Z diag(Z'1)^-1/2, Z the codes (n x m); `scale_rows` scales to unit norm.

    The first vector is constant if every code is nonnegative and sums to 1, as in an anchor graph. Other codes are
    scaled so that it is: Z holds |c|, and its rows are divided by the square roots of the points' degrees.
    Cost: n r^2 operations for codes of r nonzeros, and m^3.
    """
    Z = select_coefficients(codes)
    degree = np.asarray(Z.sum(axis=0)).ravel()
    landmark_scale = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    Z.data *= landmark_scale[Z.indices]
    embedding = embed_weights(Z, n_clusters, drop_first=True, scale_rows=scale_rows, rng=rng)
    projection = replace(embedding.projection, landmark_scale=landmark_scale)
    return replace(embedding, info={**embedding.info, "n_dropped": 1}, projection=projection)
