"""What methods from other libraries share: one thread, a seed, bounded numbers, and the search for near neighbours."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lssc.types import Array


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


def search_neighbours(points: NDArray[np.float32], t: int, *, rng: np.random.Generator) -> Any:
    """An index of pynndescent over the rows, with an approximate graph of near neighbours (Dong et al. 2011).

    Its `neighbor_graph` holds indices and Euclidean distances (n x t), where a point is a neighbour of itself; an index
    is -1 where fewer were found.
    """
    from pynndescent import NNDescent

    return NNDescent(points, n_neighbors=t, random_state=seed_from(rng), n_jobs=1)
