"""K-means on the spectral coordinates, the last step of every method."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, Clusters

# Sum of squared moves of the centres, over the mean variance, at which K-means stops; as in scikit-learn.
MAX_SQUARED_MOVE = 1e-4
# Costs within this share of the total sum of squares tie: without it, rounding would choose among equal partitions.
TIED_SHARE = 1e-10


def warm_up() -> None:
    cluster_kmeans(np.eye(2), n_clusters=2, n_init=1, rng=np.random.default_rng(0))


@component("clusterer", "kmeans", warm_up=warm_up)
def cluster_kmeans(
    vectors: Array,
    *,
    n_clusters: int,
    n_init: Annotated[int, AtLeast(1), AtMost(100_000)] = 10,
    max_iter: Annotated[int, AtLeast(1)] = 100,
    rng: np.random.Generator,
) -> Clusters:
    """Minimise the sum of squared distances to K centres: best of `n_init` starts of up to `max_iter` iterations.

    The first of tied starts wins.
    """
    # Points as columns, as the kernel takes them. Centre first, to avoid cancellation.
    X = np.array(vectors.T, order="C")
    mean = X.mean(axis=1, keepdims=True)
    X -= mean
    clusters = best_of_starts(X, n_clusters, n_init=n_init, max_iter=max_iter, rng=rng)
    return Clusters(clusters.labels, clusters.info, clusters.centres + mean.T)


def best_of_starts(
    X: Array, n_clusters: int, *, n_init: int, max_iter: int, unit_length: bool = False, rng: np.random.Generator
) -> Clusters:
    """The clusters of least cost from `n_init` starts by k-means++; X (D x n) has points as columns.

    With `unit_length` the centres have unit length, as the points must.
    """
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.kmeans import refine_centres, seed_centres

    squares = float(np.vdot(X, X))
    tolerance = MAX_SQUARED_MOVE * squares / X.size
    labels, best, result = np.empty(X.shape[1]), np.inf, None
    for draws in rng.random((n_init, n_clusters)):
        centres = np.empty((n_clusters, len(X)))
        seed_centres(X, draws, centres)
        cost, n_iter, converged = refine_centres(X, centres, labels, tolerance, max_iter, unit_length)
        if cost < best - TIED_SHARE * squares:
            best, result = cost, (labels.astype(np.int64), centres, int(n_iter), bool(converged))
    best_labels, best_centres, n_iter, converged = result
    info = {"inertia": max(squares + best, 0.0), "n_iter": n_iter, "converged": converged}
    return Clusters(best_labels, info, best_centres)
