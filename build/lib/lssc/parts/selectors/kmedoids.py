"""K-medoids by local search: FSC-nonuniform."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.parts.sampling import on_sample
from lssc.types import Landmarks, Rows


def warm_up() -> None:
    select_kmedoids(np.eye(3), 2, rng=np.random.default_rng(0))


@component("selector", "kmedoids", warm_up=warm_up, by_rows=True)
def select_kmedoids(
    X: Rows,
    m: int,
    *,
    metric: Literal["cityblock", "euclidean", "cosine"] = "cityblock",
    max_iter: Annotated[int, AtLeast(1)] = 100,
    max_points: Annotated[int, AtLeast(1)] = 10_000,
    rng: np.random.Generator,
) -> Landmarks:
    """m medoids, from k-medoids++, improved by swaps with random points that lower the cost.

    The cost is the sum over all points of the distance to the nearest medoid. Time is linear in the points used, in at
    most `max_iter` rounds. Beyond `max_points` a uniform sample of max(m, max_points) points is used.
    """
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.kmedoids import find_medoids

    return on_sample(find_medoids, X, m, max_points=max_points, rng=rng, metric=metric, max_iter=max_iter)
