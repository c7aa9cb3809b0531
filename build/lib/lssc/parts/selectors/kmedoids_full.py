"""K-medoids by alternation (Park and Jun 2009), of scikit-learn-extra, to compare `kmedoids` with."""

from __future__ import annotations

import warnings
from typing import Annotated, Literal

import numpy as np

from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.parts.sampling import on_sample
from lssc.types import Array, IndexArray, Info, Landmarks


def warm_up() -> None:
    import sklearn_extra.cluster  # noqa: F401


@component("selector", "kmedoids_full", warm_up=warm_up)
def select_kmedoids_full(
    X: Array,
    m: int,
    *,
    metric: Literal["cityblock", "euclidean", "cosine"] = "cityblock",
    max_iter: Annotated[int, AtLeast(1)] = 100,
    max_points: Annotated[int, AtLeast(1)] = 10_000,
    rng: np.random.Generator,
) -> Landmarks:
    """m medoids, from k-medoids++: assign points to medoids and recompute medoids until neither changes.

    Time and memory are quadratic in the points used: beyond `max_points` a uniform sample, as in `kmedoids`.
    """
    return on_sample(_medoids, X, m, max_points=max_points, rng=rng, metric=metric, max_iter=max_iter)


def _medoids(X: Array, m: int, *, rng: np.random.Generator, metric: str, max_iter: int) -> tuple[IndexArray, Info]:
    from sklearn_extra.cluster import KMedoids

    model = KMedoids(
        m,
        metric=metric,
        method="alternate",
        init="k-medoids++",
        max_iter=max_iter,
        random_state=int(rng.integers(2**31)),
    )
    # Reaching max_iter is recorded. Empty clusters of duplicates are harmless; the rest are deprecation warnings.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    return model.medoid_indices_, {
        "cost": float(model.inertia_),
        "n_iter": int(model.n_iter_),
        "converged": not any("Maximum number of iteration" in str(warning.message) for warning in caught),
    }
