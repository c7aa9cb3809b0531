"""UMAP (McInnes et al. 2018), then HDBSCAN (Campello et al. 2013) or K-means on its coordinates."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.clusterers.kmeans import warm_up as load_kmeans
from lssc.parts.params import Above, AtLeast, AtMost, Below
from lssc.parts.peers import approximate_neighbours, near_neighbours, quietly_on_one_thread, seed_from, single
from lssc.parts.registry import component
from lssc.types import Array, Clusters, IndexArray, Info

# Neighbours that make a point a core point of HDBSCAN, as UMAP's authors advise after UMAP.
CORE_NEIGHBOURS = 10


def warm_up() -> None:
    load_kmeans()
    points = np.random.default_rng(0).standard_normal((30, 3))
    for clusterer in ("hdbscan", "kmeans"):
        cluster_umap(points, n_clusters=2, t=5, dim=2, clusterer=clusterer, rng=np.random.default_rng(0))
    approximate_neighbours(single(points), 5, rng=np.random.default_rng(0))


@component("method", "umap_hdbscan", warm_up=warm_up)
def cluster_umap(
    X: Array,
    *,
    n_clusters: int,
    clusterer: Literal["hdbscan", "kmeans"] = "hdbscan",
    t: Annotated[int, AtLeast(2), Below("n")] = 30,
    dim: Annotated[int, AtLeast(1)] = 10,
    min_share: Annotated[float, Above(0), AtMost(1)] = 0.02,
    rng: np.random.Generator,
) -> Clusters:
    """Cluster the `dim` coordinates that UMAP draws from the graph of t near neighbours, minimum distance 0.

    HDBSCAN is not told K. It finds clusters of at least `min_share` of the points, and noise. If it finds more than K,
    the K largest stay. Every other point goes to the nearest mean of a cluster that stays. `info` counts the clusters
    and the noise that HDBSCAN found. K-means takes K. Time: near n log n for UMAP, up to n^2 for HDBSCAN.
    """
    with quietly_on_one_thread():
        Y = _umap_coordinates(X, t, min(dim, len(X) - 2), rng=rng)
        if clusterer == "kmeans":
            return cluster_kmeans(Y, n_clusters=n_clusters, rng=rng)
        return Clusters(*_cluster_by_density(Y, n_clusters, max(2, round(min_share * len(Y)))))


def _umap_coordinates(X: Array, t: int, dim: int, *, rng: np.random.Generator) -> Array:
    """UMAP on the graph of `near_neighbours`."""
    from umap import UMAP

    points = single(X)
    model = UMAP(
        n_neighbors=t,
        n_components=dim,
        min_dist=0.0,
        precomputed_knn=near_neighbours(points, t, rng=rng),
        force_approximation_algorithm=True,
        random_state=seed_from(rng),
        n_jobs=1,
    )
    return model.fit_transform(points).astype(np.float64)


def _cluster_by_density(Y: Array, n_clusters: int, min_size: int) -> tuple[IndexArray, Info]:
    """Labels from 0 to K - 1 by HDBSCAN, the largest cluster first; noise goes to the nearest mean."""
    from sklearn.cluster import HDBSCAN

    found = HDBSCAN(min_cluster_size=min_size, min_samples=min(CORE_NEIGHBOURS, len(Y)), copy=True).fit_predict(Y)
    sizes = np.bincount(found[found >= 0])
    info = {"n_found": len(sizes), "n_noise": int((found < 0).sum())}
    kept = np.argsort(-sizes, kind="stable")[:n_clusters]
    labels = np.full(len(Y), -1)
    for label, cluster in enumerate(kept):
        labels[found == cluster] = label
    # All points are noise: one cluster.
    means = np.array([Y[labels == k].mean(axis=0) for k in range(len(kept))]) if len(kept) else Y[:1]
    rest = np.flatnonzero(labels < 0)
    labels[rest] = ((Y[rest, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    return labels, info
