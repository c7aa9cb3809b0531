"""Farthest-first search for exemplars: ESC (You, Li, Robinson and Vidal 2018, algorithm 2)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import Above
from lssc.parts.registry import component
from lssc.types import Array, Landmarks


def warm_up() -> None:
    select_farthest_first(np.eye(3), 2, lam=10.0, rng=np.random.default_rng(0))


@component("selector", "farthest_first", warm_up=warm_up)
def select_farthest_first(X: Array, m: int, *, lam: Annotated[float, Above(0)], rng: np.random.Generator) -> Landmarks:
    """m points, the first at random, each next one the point that the ones before represent worst.

    The cost of a point x is min |c|_1 + lam/2 |x - X0'c|^2, X0 the points chosen so far (rows). Of points that cost the
    same, one is chosen at random.
    """
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.farthest_first import find_exemplars

    first, order = int(rng.integers(len(X))), rng.permutation(len(X))
    chosen, n_solves = find_exemplars(X, m, lam=lam, first=first, order=order)
    return Landmarks(chosen, {"n_solves": n_solves})
