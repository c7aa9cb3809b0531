"""The last step of every method: K-means on the spectral coordinates."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, Clusters

# Centres that move by less than this share of the mean variance stand still, as in scikit-learn.
TOLERANCE = 1e-4


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
    """K-means with `n_init` restarts of at most `max_iter` iterations, the best of them kept."""
    from lssc.kernels.kmeans import refine_centres, seed_centres

    # Columns, for the compiler's sake; about their middle, so that squares do not drown differences.
    X = np.array(vectors.T, order="C")
    X -= X.mean(axis=1, keepdims=True)
    squares = float(np.vdot(X, X))
    tolerance = TOLERANCE * squares / X.size
    labels, best, kept = np.empty(len(vectors)), np.inf, None
    for draws in rng.random((n_init, n_clusters)):
        centres = np.empty((n_clusters, len(X)))
        seed_centres(X, draws, centres)
        cost, n_iter, converged = refine_centres(X, centres, labels, tolerance, max_iter)
        if cost < best:
            best, kept = cost, (labels.astype(np.int64), int(n_iter), bool(converged))
    found, n_iter, converged = kept
    return Clusters(found, {"inertia": max(squares + best, 0.0), "n_iter": n_iter, "converged": converged})
