"""Gaussian weights of the nearest landmarks: the anchor graph of LSC (Chen and Cai 2011)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.linalg.nearest import Closeness
from lssc.parts.landmarks import landmark_rows
from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Codes, IndexArray, LandmarkArray, Rows, block_sizes


def warm_up() -> None:
    code_anchor_graph(np.eye(2), np.arange(2))


@component("coder", "anchor_graph", warm_up=warm_up, by_rows=True)
def code_anchor_graph(
    X: Rows,
    landmarks: LandmarkArray,
    *,
    r: Annotated[int, AtLeast(1)] = 5,
    sigma: Annotated[float, AtLeast(0)] = 0.0,
    exclude_self: bool = True,
    threads: int = 1,
) -> Codes:
    """c_j = exp(-|x - l_j|^2 / (2 sigma^2)) for the r landmarks nearest to x, 0 for others; each code sums to 1.

    `sigma` 0 is the mean distance of all points to their r landmarks, as in the paper. If there are fewer landmarks,
    all are used. With `exclude_self` no landmark takes part in its own code; LSC allows it. Cost: n m D operations.
    """
    L, own = landmark_rows(X, landmarks, exclude_self=exclude_self)
    t = min(r, len(L))
    places, squares, counts = np.empty((len(X), t), dtype=np.int32), np.zeros((len(X), t)), np.empty(len(X), np.int64)
    search, sizes = _Search(X, L, own, places, squares, counts), block_sizes(len(X), max(L.shape))
    with ThreadPoolExecutor(threads) as pool:
        starts = np.concatenate([[0], np.cumsum(sizes)])
        list((pool.map if threads > 1 else map)(search, starts[:-1], starts[1:]))
    used = np.arange(t) < counts[:, None]
    width = sigma or _mean_distance(squares[used])
    # Relative to the nearest landmark: the weights of a distant point would all round to zero.
    weights = used * np.exp(np.where(used, squares[:, :1] - squares, 0.0) / (2 * width**2))
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    ends = np.concatenate([[0], np.cumsum(counts)])
    codes = sparse.csr_matrix((weights[used], places[used], ends), shape=(len(X), len(L)))
    codes.sort_indices()
    return Codes(codes, {"sigma": width})


def _mean_distance(squares: Array) -> float:
    mean = float(np.sqrt(squares).mean()) if len(squares) else 0.0
    # All points are landmarks, or equal to one: any width gives equal weights.
    return mean or 1.0


class _Search:
    """Finds the nearest landmarks of the points from one row to another, and their squared distances."""

    def __init__(
        self, X: Rows, L: Array, own: IndexArray, places: IndexArray, squares: Array, counts: IndexArray
    ) -> None:
        self.X, self.L, self.own, self.closeness = X, L, own, Closeness(L)
        self.places, self.squares, self.counts = places, squares, counts

    def __call__(self, start: int, stop: int) -> None:
        # Imported on use: Numba takes half a second to load.
        from lssc.kernels.neighbours import find_nearest, measure_distances

        rows, best = slice(start, stop), np.empty(self.places.shape[1])
        # Writable: Numba would compile another version for read-only arrays.
        points = np.require(self.X[rows], np.float64, ["C", "W"])
        places, counts = self.places[rows], self.counts[rows]
        find_nearest(self.closeness(points), self.own[rows], best, places, counts)
        measure_distances(points, self.L, places, counts, self.squares[rows])
