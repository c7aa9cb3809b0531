"""Spectral clustering on a nearest-neighbour graph; pynndescent searches the neighbours of many points."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.linalg.scaling import unit_rows
from lssc.linalg.spectral import spectral_embedding
from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.clusterers.kmeans import warm_up as load_kmeans
from lssc.parts.embedders.affinity import warm_up as load_spectral
from lssc.parts.params import AtLeast, AtMost, Below
from lssc.parts.peers import approximate_neighbours, near_neighbours, quietly_on_one_thread, single
from lssc.parts.registry import component
from lssc.types import Array, Clusters


def warm_up() -> None:
    load_spectral()
    load_kmeans()
    with quietly_on_one_thread():
        approximate_neighbours(np.eye(12, dtype=np.float32), 3, rng=np.random.default_rng(0))


@component("method", "knn_spectral", warm_up=warm_up)
def cluster_neighbours(
    X: Array,
    *,
    n_clusters: int,
    t: Annotated[int, AtLeast(1), Below("n")] = 10,
    n_init: Annotated[int, AtLeast(1), AtMost(100_000)] = 10,
    max_iter: Annotated[int, AtLeast(1)] = 100,
    rng: np.random.Generator,
) -> Clusters:
    """K-means on the top K eigenvectors of D^-1/2 (W + W') D^-1/2, rows at unit length.

    W[i, j] = 1 if j is among the t nearest points of i by Euclidean distance; D holds the degrees. The neighbours of
    more than 4,096 points are approximate (NN-descent), and time grows with n log n; memory grows with n (D + t).
    `n_init` and `max_iter` are those of K-means.
    """
    with quietly_on_one_thread():
        W = neighbour_graph(X, t, rng=rng)
        embedding = spectral_embedding(sparse.csr_matrix(W + W.T), n_clusters, rng=rng)
    vectors = unit_rows(embedding.vectors)
    clusters = cluster_kmeans(vectors, n_clusters=n_clusters, n_init=n_init, max_iter=max_iter, rng=rng)
    return Clusters(clusters.labels, {**embedding.info, **clusters.info})


def neighbour_graph(X: Array, t: int, *, rng: np.random.Generator) -> sparse.csr_matrix:
    """W (n x n): a 1 for each of the t nearest points of a row, the point itself left out."""
    # Among duplicates a point may miss itself: then the farthest of its t + 1 neighbours is left out.
    nearest, _ = near_neighbours(single(X), t + 1, rng=rng)
    n, own = len(X), np.arange(len(X))[:, None]
    counts = (nearest >= 0) & (nearest != own)
    counts &= np.cumsum(counts, axis=1) <= t
    columns, ends = nearest[counts], np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
    W = sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=(n, n))
    W.sort_indices()
    return W
