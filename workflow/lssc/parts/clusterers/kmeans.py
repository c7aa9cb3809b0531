"""K-means on the spectral coordinates, the last step of every method."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from lssc.blocks import Blocks, Sums, as_blocks, sample_rows
from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, Clusters, IndexArray, Info, Rows

# Sum of squared moves of the centres, over the mean variance, at which K-means stops; as in scikit-learn.
MAX_SQUARED_MOVE = 1e-4
# Costs within this share of the total sum of squares tie: without it, rounding would choose among equal partitions.
TIED_SHARE = 1e-10
# Points by which starts are compared.
MAX_SAMPLE = 2**17


def warm_up() -> None:
    cluster_kmeans(np.eye(2), n_clusters=2, n_init=1, rng=np.random.default_rng(0))


@component("clusterer", "kmeans", warm_up=warm_up, by_rows=True)
def cluster_kmeans(
    vectors: Rows | Blocks,
    *,
    n_clusters: int,
    n_init: Annotated[int, AtLeast(1), AtMost(100_000)] = 10,
    max_iter: Annotated[int, AtLeast(1)] = 100,
    rng: np.random.Generator,
) -> Clusters:
    """Minimise the sum of squared distances to K centres: best of `n_init` starts of up to `max_iter` iterations.

    The first of tied starts wins. Of more than 131,072 points, a sample of as many decides which start is the best;
    from its centres on, up to `max_iter` iterations use all points.
    """
    blocks = as_blocks(vectors)
    rows = sample_rows(len(blocks), MAX_SAMPLE, rng=rng)
    start = partial(_best_start, n_clusters=n_clusters, n_init=n_init, max_iter=max_iter, rng=rng)
    centres, mean, tolerance, info = blocks.gather(start, rows)
    if len(rows) < len(blocks):
        centres, full = _iterate(blocks, centres, mean, tolerance, max_iter)
        info = {**full, "n_iter": info["n_iter"] + full["n_iter"]}
    labels = blocks.map(partial(_labels, centres=centres, mean=mean), row=(), dtype=np.int64)
    return Clusters(labels, info, centres + mean.T)


def _best_start(
    sample: Array, *, n_clusters: int, n_init: int, max_iter: int, rng: np.random.Generator
) -> tuple[Array, Array, float, Info]:
    """Centres of the centred sample, its mean (D x 1), the squared move at which K-means stops, and facts."""
    X = np.array(sample.T, order="C", dtype=np.float64)
    mean = X.mean(axis=1, keepdims=True)
    X -= mean
    clusters = best_of_starts(X, n_clusters, n_init=n_init, max_iter=max_iter, rng=rng)
    return clusters.centres, mean, MAX_SQUARED_MOVE * float(np.vdot(X, X)) / X.size, clusters.info


def _iterate(blocks: Blocks, centres: Array, mean: Array, tolerance: float, max_iter: int) -> tuple[Array, Info]:
    """Lloyd's iteration on all points."""
    moved, n_iter = np.inf, 0
    while moved > tolerance and n_iter < max_iter:
        n_iter += 1
        sums, counts, _ = blocks.sum(partial(_cluster_sums, centres=centres, mean=mean))
        # An empty cluster stays where it is: points may come back to it.
        after = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
        moved, centres = float(((after - centres) ** 2).sum()), after
    inertia = float(blocks.sum(partial(_cluster_sums, centres=centres, mean=mean))[2])
    return centres, {"inertia": max(inertia, 0.0), "n_iter": n_iter, "converged": moved <= tolerance}


def _cluster_sums(block: Array, *, centres: Array, mean: Array) -> Sums:
    """Sums and numbers of the points of each cluster, and the sum of their squared distances."""
    X = _centred_columns(block, mean)
    _, sums, counts, cost = _assign(X, centres)
    return sums, counts, np.array(cost + float(np.vdot(X, X)))


def _labels(block: Array, *, centres: Array, mean: Array) -> IndexArray:
    return _assign(_centred_columns(block, mean), centres)[0].astype(np.int64)


def _assign(X: Array, centres: Array) -> tuple[Array, Array, IndexArray, float]:
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.kmeans import assign_labels

    labels, sums, counts = np.empty(X.shape[1]), np.empty_like(centres), np.empty(len(centres), dtype=np.int64)
    cost = assign_labels(X, centres, labels, sums, counts)
    return labels, sums, counts, cost


def _centred_columns(vectors: Array, mean: Array) -> Array:
    """Points as columns, as the kernel takes them, and centred, to avoid cancellation."""
    X = np.array(vectors.T, order="C", dtype=np.float64)
    X -= mean
    return X


def best_of_starts(
    X: Array, n_clusters: int, *, n_init: int, max_iter: int, unit_length: bool = False, rng: np.random.Generator
) -> Clusters:
    """The clusters of least cost from `n_init` starts by k-means++; X (D x n) has points as columns.

    With `unit_length` the centres have unit length, as the points must.
    """
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.kmeans import refine_centres, seed_centres

    squares = float(np.vdot(X, X))
    tolerance = MAX_SQUARED_MOVE * squares / X.size
    labels, best, result = np.empty(X.shape[1]), np.inf, None
    for draws in rng.random((n_init, n_clusters)):
        centres = np.empty((n_clusters, len(X)))
        seed_centres(X, draws, centres)
        cost, n_iter, converged = refine_centres(X, centres, labels, tolerance, max_iter, unit_length)
        if cost < best - TIED_SHARE * squares:
            best, result = cost, (labels.astype(np.int64), centres, int(n_iter), bool(converged))
    best_labels, best_centres, n_iter, converged = result
    info = {"inertia": max(squares + best, 0.0), "n_iter": n_iter, "converged": converged}
    return Clusters(best_labels, info, best_centres)
