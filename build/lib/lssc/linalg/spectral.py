"""Spectral embedding of a sparse graph, the same on every run."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from lssc.linalg.eigen import top_eigenpairs
from lssc.linalg.scaling import fixed_signs
from lssc.types import Array, Embedding, IndexArray

# Least size of a component that is embedded, as a share of the mean cluster size: a few points are no cluster.
MIN_COMPONENT_SHARE = 0.1
# Components up to this many vertices go to the dense solver, which is quicker there and finds all tied eigenvalues.
MAX_DENSE_VERTICES = 256


def spectral_embedding(W: sparse.csr_matrix, n_clusters: int, *, rng: np.random.Generator) -> Embedding:
    """The top K eigenvectors of D^-1/2 W D^-1/2 (n x n), W symmetric and nonnegative, D = diag(W 1).

    Connected components are solved one by one: each has eigenvalue 1, and an iterative solver may miss copies of an
    eigenvalue. Components too small to be a cluster stay at the origin, as do isolated vertices: their eigenvectors
    would displace those that split large components. If more than K components are left, the K largest count.
    """
    from scipy.sparse.csgraph import connected_components

    degree = np.asarray(W.sum(axis=1)).ravel()
    n_components, component_of = connected_components(W, directed=False)
    order = np.argsort(component_of, kind="stable")
    sizes = np.bincount(component_of, minlength=n_components)
    components = np.split(order, np.cumsum(sizes)[:-1])
    linked = sorted((c for c in components if len(c) > 1 or degree[c[0]] > 0), key=len, reverse=True)
    least = MIN_COMPONENT_SHARE * W.shape[0] / n_clusters
    counted = [c for place, c in enumerate(linked) if place == 0 or len(c) >= least][:n_clusters]
    results = [_embed_component(W, degree, c, n_clusters, rng) for c in counted]
    candidates = [(value, i, j) for i, (values, _) in enumerate(results) for j, value in enumerate(values)]
    # The first eigenvector of every component comes first: rounding of its eigenvalue 1 must not decide.
    best = sorted(candidates, key=lambda c: (c[2] > 0, -c[0], c[1]))[:n_clusters]
    vectors, values = np.zeros((W.shape[0], n_clusters)), np.zeros(n_clusters)
    for column, (value, i, j) in enumerate(best):
        vectors[counted[i], column], values[column] = results[i][1][:, j], value
    info = {"n_pieces": len(linked), "n_isolated": n_components - len(linked)}
    return Embedding(fixed_signs(vectors), values, info)


def _embed_component(
    W: sparse.csr_matrix, degree: Array, component: IndexArray, k: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The largest k eigenvalues, descending, and eigenvectors of one connected component."""
    from scipy.linalg import eigh

    scale = sparse.diags(1 / np.sqrt(degree[component]))
    A = scale @ W[component][:, component] @ scale
    k = min(k, len(component))
    if len(component) > max(MAX_DENSE_VERTICES, 4 * k):
        return top_eigenpairs(A.dot, len(component), k, rng=rng)
    values, vectors = eigh(A.toarray(), subset_by_index=(len(component) - k, len(component) - 1))
    return values[::-1], vectors[:, ::-1]
