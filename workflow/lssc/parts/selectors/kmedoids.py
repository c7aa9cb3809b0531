"""K-medoids by a compiled local search: FSC-nonuniform."""

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
    """The medoids of m clusters: from k-medoids++, random points take the place of medoids where that lowers the cost.

    The cost is the sum of all points' distances to the nearest medoid. Time is linear in the points that take part, in
    at most `max_iter` rounds; beyond `max_points` a uniform sample of that size (or of m, if larger) takes part.
    """
    # Compiled code is loaded when it is needed.
    from lssc.kernels.kmedoids import find_medoids

    return on_sample(find_medoids, X, m, max_points=max_points, rng=rng, metric=metric, max_iter=max_iter)
