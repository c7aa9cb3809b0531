"""K-means on the points themselves: the baseline without codes."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.clusterers.kmeans import cluster_kmeans, warm_up
from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, Clusters


@component("method", "kmeans", warm_up=warm_up)
def kmeans_points(
    X: Array,
    *,
    n_clusters: int,
    n_init: Annotated[int, AtLeast(1), AtMost(100_000)] = 10,
    max_iter: Annotated[int, AtLeast(1)] = 100,
    rng: np.random.Generator,
) -> Clusters:
    """K-means on the rows of X (n x D): the best of `n_init` starts, at most `max_iter` iterations each."""
    return cluster_kmeans(X, n_clusters=n_clusters, n_init=n_init, max_iter=max_iter, rng=rng)
