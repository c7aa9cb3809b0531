"""The embedding of LSC (Chen and Cai 2011): singular vectors of the anchor graph, without the first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from lssc.blocks import Blocks
from lssc.parts.embedders.landmark_svd import embed_codes
from lssc.parts.registry import component
from lssc.types import Embedding


def warm_up() -> None:
    embed_lsc(sparse.csr_matrix(np.ones((3, 3))), n_clusters=1, rng=np.random.default_rng(0))


@component("embedder", "lsc", warm_up=warm_up, by_rows=True)
def embed_lsc(
    codes: sparse.csr_matrix | Blocks, *, n_clusters: int, scale_rows: bool = True, rng: np.random.Generator
) -> Embedding:
    """Left singular vectors 2 to K + 1 of Z diag(Z'1)^-1/2, Z the codes (n x m); `scale_rows` scales to unit norm.

    The first vector is constant if every code is nonnegative and sums to 1, as in an anchor graph. Other codes are
    scaled so that it is: Z holds |c|, and its rows are divided by the square roots of the points' degrees.
    Cost: n r^2 operations for codes of r nonzeros, and m^3.
    """
    embedding = embed_codes(codes, n_clusters, landmark_degrees=True, drop_first=True, scale_rows=scale_rows, rng=rng)
    return replace(embedding, info={**embedding.info, "n_dropped": 1})
