"""Selective sampling by subgradients: S5C (Matsushima and Brbic 2019)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import Above
from lssc.parts.registry import component
from lssc.parts.sampling import distinct_rows
from lssc.types import Array, Landmarks

# Rounds for each landmark, as the authors have it: a round adds none if the landmarks represent its point well.
ROUNDS_PER_LANDMARK = 2


def warm_up() -> None:
    select_s5c(np.eye(3), 2, lam=10.0, rng=np.random.default_rng(0))


@component("selector", "s5c", warm_up=warm_up)
def select_s5c(X: Array, m: int, *, lam: Annotated[float, Above(0)], rng: np.random.Generator) -> Landmarks:
    """m points, each of largest subgradient for a random point. A round goes as follows, with L the landmarks so far:

    1. Draw a point x and solve min |c|_1 + lam/2 |x - L'c|^2, x itself excluded; r = x - L'c.
    2. Add the point x_j, no landmark and not x, of largest soft(x_j'r, 1/lam)^2; none if all are zero.

    After 2 m rounds, random points make up for those that are missing. Cost: n D operations for each round.
    """
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.subgradient_search import find_by_subgradient

    n, rounds = len(X), ROUNDS_PER_LANDMARK * m
    order = np.concatenate([rng.permutation(n) for _ in range(-(-rounds // n))])[:rounds]
    chosen, n_rounds = find_by_subgradient(X, m, order, lam=lam)
    rows = distinct_rows(np.arange(n), chosen, m, rng=rng)
    return Landmarks(rows, {"n_rounds": n_rounds, "n_random": m - len(chosen)})
