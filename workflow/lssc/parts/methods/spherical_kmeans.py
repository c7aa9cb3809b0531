"""Spherical K-means (Dhillon and Modha 2001): K-means by the angle between points and centres."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.linalg.scaling import unit_rows
from lssc.parts.clusterers.kmeans import best_of_starts
from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, Clusters


def warm_up() -> None:
    cluster_directions(np.eye(2), n_clusters=2, n_init=1, rng=np.random.default_rng(0))


@component("method", "spherical_kmeans", warm_up=warm_up)
def cluster_directions(
    X: Array,
    *,
    n_clusters: int,
    n_init: Annotated[int, AtLeast(1), AtMost(100_000)] = 10,
    max_iter: Annotated[int, AtLeast(1)] = 100,
    rng: np.random.Generator,
) -> Clusters:
    """Maximise the sum of x'c over the rows x of X at unit length, each with the nearest of K unit centres c.

    The best of `n_init` starts of up to `max_iter` iterations. `inertia` is the sum of |x - c|^2 = 2 - 2 x'c. A zero
    row has no direction; any centre is equally near. Cost: n K D per iteration; memory: a copy of X.
    """
    columns = np.ascontiguousarray(unit_rows(X).T)
    return best_of_starts(columns, n_clusters, n_init=n_init, max_iter=max_iter, unit_length=True, rng=rng)
