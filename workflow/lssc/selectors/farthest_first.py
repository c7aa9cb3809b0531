"""Farthest-first search for exemplars: ESC (You, Li, Robinson and Vidal 2018, algorithm 2)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.params import Above
from lssc.registry import component
from lssc.types import Array, IndexArray, Landmarks

BATCH = 32


def warm_up() -> None:
    farthest_first(np.eye(3), 2, lam=10.0, first=0)


@component("selector", "farthest_first", warm_up=warm_up)
def select_farthest_first(X: Array, m: int, *, lam: Annotated[float, Above(0)], rng: np.random.Generator) -> Landmarks:
    """From a random point on, always add the point that the chosen ones represent worst, m in all.

    The cost of a point is min |c|_1 + lam/2 |x - X0'c|^2. It can only fall as exemplars are added, so an old cost is an
    upper bound: points are looked at in order of decreasing bound until none left can be the worst.
    """
    return farthest_first(X, m, lam=lam, first=int(rng.integers(len(X))))


def farthest_first(X: Array, m: int, *, lam: float, first: int) -> Landmarks:
    """The search from a given first exemplar; indices in order of selection."""
    search = _Search(X, m, lam)
    search.add(first)
    # One pass over all points gives bounds below the trivial ones, which are equal for points of unit length.
    search.bound[:] = search.costs(np.arange(len(X)))
    while search.size < m:
        search.add(search.worst())
    return Landmarks(search.indices.copy(), {"n_solves": search.n_solves})


class _Search:
    """The exemplars so far with their Gram matrix, and an upper bound of every point's cost."""

    def __init__(self, X: Array, m: int, lam: float) -> None:
        self.X, self.lam = X, lam
        self.half_lengths = lam / 2 * (X**2).sum(axis=1)
        self.bound = self.half_lengths.copy()
        self.indices = np.zeros(m, dtype=np.int64)
        self.gram = np.zeros((m, m))
        self.size, self.n_solves = 0, 0

    def add(self, point: int) -> None:
        i = self.size
        self.indices[i] = point
        self.size += 1
        self.gram[i, : i + 1] = self.gram[: i + 1, i] = self.X[self.indices[: i + 1]] @ self.X[point]
        # Never chosen twice, even where a duplicate or a zero point leaves all costs equal.
        self.bound[point] = -np.inf

    def costs(self, points: IndexArray) -> Array:
        """Each point's cost with the exemplars so far."""
        import spams

        exemplars = self.X[self.indices[: self.size]]
        q = np.asfortranarray(exemplars @ self.X[points].T)
        Q = np.asfortranarray(self.gram[: self.size, : self.size])
        x = np.asfortranarray(self.X[points].T)
        codes = spams.lasso(x, Q=Q, q=q, lambda1=1 / self.lam, mode=2, numThreads=1)
        self.n_solves += len(points)
        # At the minimum the l1 norm equals lam c'(q - Qc), so that the cost is lam/2 (|x|^2 - c'Qc).
        fitted = codes.T @ Q
        quadratic = np.asarray(codes.T.multiply(fitted).sum(axis=1)).ravel()
        cost = self.half_lengths[points] - self.lam / 2 * quadratic
        cost[self.bound[points] == -np.inf] = -np.inf
        return cost

    def worst(self) -> int:
        """The point of the largest cost, found by looking at as few points as the bounds allow."""
        order = np.argsort(-self.bound, kind="stable")
        best, best_cost = -1, -np.inf
        for start in range(0, len(order), BATCH):
            if best_cost >= self.bound[order[start]]:
                break
            batch = order[start : start + BATCH]
            self.bound[batch] = self.costs(batch)
            top = batch[self.bound[batch].argmax()]
            if self.bound[top] > best_cost:
                best, best_cost = int(top), float(self.bound[top])
        return best
