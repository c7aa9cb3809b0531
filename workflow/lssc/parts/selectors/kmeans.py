"""K-means centres, or the points nearest to them: landmarks where the points are."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.parts.sampling import distinct_rows, draw_sample
from lssc.types import Array, Info, Landmarks, Rows

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
    centres: bool = False,
    max_iter: Annotated[int, AtLeast(1)] = 20,
    max_points: Annotated[int, AtLeast(1)] = 20_000,
    rng: np.random.Generator,
) -> Landmarks:
    """The points nearest to the m centres of mini-batch K-means (Sculley 2010), `max_iter` passes.

    With `centres`, the landmarks are the centres themselves. Beyond `max_points` a uniform sample of
    max(m, max_points) points is used. Cost: at most m D max_iter operations per point of the sample.
    """
    from sklearn.metrics import pairwise_distances_argmin

    sample, pool = draw_sample(X, max(m, max_points), rng=rng)
    found, info = _find_centres(sample, m, max_iter=max_iter, rng=rng)
    rows = distinct_rows(pool, pairwise_distances_argmin(found, sample), m, rng=rng)
    return Landmarks(rows, {**info, "sampled": len(pool)}, points=found if centres else None)


def _find_centres(X: Array, m: int, *, max_iter: int, rng: np.random.Generator) -> tuple[Array, Info]:
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(
        m,
        init="random",
        n_init=1,
        max_iter=max_iter,
        batch_size=min(len(X), max(1024, BATCH_PER_CENTRE * m)),
        random_state=int(rng.integers(2**31)),
    ).fit(X)
    return model.cluster_centers_, {"n_iter": int(model.n_iter_)}
