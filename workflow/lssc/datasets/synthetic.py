"""The statistical model of the paper, eq. (1): points near a union of random subspaces."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.params import AtLeast, AtMost
from lssc.registry import component
from lssc.types import Points


@component("dataset", "synthetic")
def synthetic(
    n: int,
    *,
    n_clusters: int,
    ambient_dim: Annotated[int, AtLeast(1)] = 16,
    subspace_dim: Annotated[int, AtLeast(1), AtMost("ambient_dim")] = 6,
    noise: Annotated[float, AtLeast(0)] = 0.1,
    rng: np.random.Generator,
) -> Points:
    """x = H_k z + e with z ~ N(0, I) and e ~ N(0, noise^2 I); n / n_clusters points from each subspace.

    The columns of each H_k are drawn from the columns of one random orthonormal D x D matrix, so that subspaces may
    share directions.
    """
    Q, _ = np.linalg.qr(rng.standard_normal((ambient_dim, ambient_dim)))
    bases = [Q[:, rng.choice(ambient_dim, subspace_dim, replace=False)] for _ in range(n_clusters)]
    labels = np.repeat(np.arange(n_clusters), n // n_clusters)
    Z = rng.standard_normal((n_clusters, n // n_clusters, subspace_dim))
    X = np.concatenate([z @ H.T for z, H in zip(Z, bases, strict=True)])
    X += noise * rng.standard_normal(X.shape)
    return Points(X, labels)
