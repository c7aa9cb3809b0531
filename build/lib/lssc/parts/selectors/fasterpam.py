"""K-medoids by FasterPAM (Schubert and Rousseeuw 2021), of the package kmedoids."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.parts.sampling import on_sample
from lssc.types import Array, IndexArray, Info, Landmarks

# Points whose distances to all are computed in double precision at a time.
POINTS_PER_CHUNK = 512


def warm_up() -> None:
    import kmedoids  # noqa: F401
    import scipy.spatial.distance  # noqa: F401


@component("selector", "fasterpam", warm_up=warm_up)
def select_fasterpam(
    X: Array,
    m: int,
    *,
    metric: Literal["cityblock", "euclidean", "cosine"] = "cityblock",
    max_iter: Annotated[int, AtLeast(1)] = 100,
    max_points: Annotated[int, AtLeast(1)] = 10_000,
    rng: np.random.Generator,
) -> Landmarks:
    """m medoids, swapped from a random start until no swap lowers the sum of distances to the nearest medoid.

    Time and memory are quadratic in the points used: beyond `max_points` a uniform sample, as in `kmedoids`.
    """
    return on_sample(_medoids, X, m, max_points=max_points, rng=rng, metric=metric, max_iter=max_iter)


def _medoids(X: Array, m: int, *, rng: np.random.Generator, metric: str, max_iter: int) -> tuple[IndexArray, Info]:
    import kmedoids
    from scipy.spatial.distance import cdist

    distances = np.empty((len(X), len(X)), dtype=np.float32)
    for i in range(0, len(X), POINTS_PER_CHUNK):
        # The cosine distance of a zero point is undefined: take that of orthogonal points.
        distances[i : i + POINTS_PER_CHUNK] = np.nan_to_num(cdist(X[i : i + POINTS_PER_CHUNK], X, metric), nan=1.0)
    start = rng.choice(len(X), m, replace=False).astype(np.uint64)
    result = kmedoids.fasterpam(distances, start, max_iter=max_iter, n_cpu=1)
    return result.medoids, {
        "cost": float(result.loss),
        "n_iter": int(result.n_iter),
        "converged": bool(result.n_iter < max_iter),
    }
