"""The points nearest to K-means centres: landmarks where the points are."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.parts.sampling import on_sample
from lssc.types import Array, IndexArray, Info, Landmarks, Rows

# Points in a batch, for each centre.
BATCH_PER_CENTRE = 3


def warm_up() -> None:
    import sklearn.cluster
    import sklearn.metrics  # noqa: F401


@component("selector", "kmeans", warm_up=warm_up, by_rows=True)
def select_kmeans(
    X: Rows,
    m: int,
    *,
    max_iter: Annotated[int, AtLeast(1)] = 20,
    max_points: Annotated[int, AtLeast(1)] = 20_000,
    rng: np.random.Generator,
) -> Landmarks:
    """The points nearest to the m centres of mini-batch K-means (Sculley 2010), `max_iter` passes.

    Beyond `max_points` a uniform sample of max(m, max_points) points is used. Cost: at most m D max_iter operations
    per point of the sample.
    """
    return on_sample(_nearest_to_centres, X, m, max_points=max_points, rng=rng, max_iter=max_iter)


def _nearest_to_centres(X: Array, m: int, *, max_iter: int, rng: np.random.Generator) -> tuple[IndexArray, Info]:
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.metrics import pairwise_distances_argmin

    model = MiniBatchKMeans(
        m,
        init="random",
        n_init=1,
        max_iter=max_iter,
        batch_size=min(len(X), max(1024, BATCH_PER_CENTRE * m)),
        random_state=int(rng.integers(2**31)),
    ).fit(X)
    return pairwise_distances_argmin(model.cluster_centers_, X), {"n_iter": int(model.n_iter_)}
