"""Mini-batch K-means (Sculley 2010), of scikit-learn."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import AtLeast, AtMost
from lssc.parts.peers import bounded, quietly_on_one_thread, seed_from
from lssc.parts.registry import component
from lssc.types import Array, Clusters


def warm_up() -> None:
    import sklearn.cluster  # noqa: F401


@component("method", "minibatch_kmeans", warm_up=warm_up)
def cluster_batches(
    X: Array,
    *,
    n_clusters: int,
    batch: Annotated[int, AtLeast(1)] = 1024,
    n_init: Annotated[int, AtLeast(1), AtMost(100_000)] = 10,
    max_iter: Annotated[int, AtLeast(1)] = 100,
    rng: np.random.Generator,
) -> Clusters:
    """K-means on the rows of X (n x D) by `batch` points at a time, up to `max_iter` passes.

    The best of `n_init` seedings on a sample goes on. Cost: n K D per pass; most runs stop within a few.
    """
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(n_clusters, batch_size=batch, n_init=n_init, max_iter=max_iter, random_state=seed_from(rng))
    with quietly_on_one_thread():
        model.fit(bounded(X))
    return Clusters(model.labels_.astype(np.int64), {"n_iter": int(model.n_iter_)})
