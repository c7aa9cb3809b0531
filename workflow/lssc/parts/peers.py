"""What methods from other libraries share: one thread, a seed, bounded numbers, and the search for near neighbours."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lssc.types import Array

Neighbours = tuple[NDArray[np.int32], NDArray[np.float32]]

# Up to so many points, all distances take less time than the compilation of pynndescent.
FEW = 4096


def seed_from(rng: np.random.Generator) -> int:
    """A seed for libraries that take a whole number."""
    return int(rng.integers(2**31))


@contextlib.contextmanager
def quietly_on_one_thread() -> Iterator[None]:
    """BLAS and OpenMP on one thread, as sums on more differ in their last bits; no warnings of other libraries.

    What they warn of, such as reaching the last iteration, is in the `info` of the result.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def bounded(X: Array) -> Array:
    """X over a power of two that brings its largest magnitude to 0.5 to 1: exact, and its squares do not overflow."""
    exponent = np.frexp(max(X.max(), -X.min()))[1]
    return np.ldexp(X, -exponent)


def single(X: Array) -> NDArray[np.float32]:
    """X in single precision, bounded first."""
    return bounded(X).astype(np.float32)


def near_neighbours(points: NDArray[np.float32], t: int, *, rng: np.random.Generator) -> Neighbours:
    """Indices and Euclidean distances of the t nearest rows of each row (n x t), the row itself among them.

    Up to `FEW` points are compared with all others; more points go to `approximate_neighbours`.
    """
    if len(points) > FEW:
        return approximate_neighbours(points, t, rng=rng)
    from sklearn.neighbors import NearestNeighbors

    distances, nearest = NearestNeighbors(n_neighbors=t, algorithm="brute", n_jobs=1).fit(points).kneighbors(points)
    return nearest.astype(np.int32), distances.astype(np.float32)


def approximate_neighbours(points: NDArray[np.float32], t: int, *, rng: np.random.Generator) -> Neighbours:
    """The same by NN-descent (Dong et al. 2011), not always the nearest; an index is -1 where fewer were found."""
    from pynndescent import NNDescent

    return NNDescent(points, n_neighbors=t, random_state=seed_from(rng), n_jobs=1).neighbor_graph
