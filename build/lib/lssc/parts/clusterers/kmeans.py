"""K-means on the spectral coordinates, the last step of every method."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, Clusters

# Sum of squared moves of the centres, over the mean variance, at which K-means stops; as in scikit-learn.
MAX_SQUARED_MOVE = 1e-4


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
    """Minimise the sum of squared distances to K centres: best of `n_init` starts of up to `max_iter` iterations."""
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.kmeans import refine_centres, seed_centres

    # Points as columns, as the kernel takes them. Centre first, to avoid cancellation.
    X = np.array(vectors.T, order="C")
    mean = X.mean(axis=1, keepdims=True)
    X -= mean
    squares = float(np.vdot(X, X))
    tolerance = MAX_SQUARED_MOVE * squares / X.size
    labels, best, result = np.empty(len(vectors)), np.inf, None
    for draws in rng.random((n_init, n_clusters)):
        centres = np.empty((n_clusters, len(X)))
        seed_centres(X, draws, centres)
        cost, n_iter, converged = refine_centres(X, centres, labels, tolerance, max_iter)
        if cost < best:
            best, result = cost, (labels.astype(np.int64), centres, int(n_iter), bool(converged))
    best_labels, best_centres, n_iter, converged = result
    info = {"inertia": max(squares + best, 0.0), "n_iter": n_iter, "converged": converged}
    return Clusters(best_labels, info, best_centres + mean.T)
