"""The last step of every method: K-means on the spectral coordinates."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from lssc.types import Array, IndexArray, Info


@dataclass(frozen=True)
class Clusters:
    labels: IndexArray
    info: Info


def warm_up() -> None:
    """Import scikit-learn (more than a second) and let it look up its thread pools, outside of any timing."""
    cluster(np.eye(2), 2, n_init=1, rng=np.random.default_rng(0))


def cluster(
    vectors: Array, n_clusters: int, *, n_init: int = 10, max_iter: int = 100, rng: np.random.Generator
) -> Clusters:
    """K-means with `n_init` restarts of at most `max_iter` iterations, the best of them kept."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        # Fewer distinct rows than clusters leave some clusters empty, which the scores show better than a warning.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = KMeans(n_clusters, n_init=n_init, max_iter=max_iter, random_state=seed).fit(vectors)
    info = {"inertia": float(model.inertia_), "n_iter": int(model.n_iter_), "converged": bool(model.n_iter_ < max_iter)}
    return Clusters(model.labels_.astype(np.int64), info)
