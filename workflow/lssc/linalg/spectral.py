"""Spectral coordinates of a sparse graph, made to be the same on every run."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from lssc.linalg.eigen import top_eigenpairs
from lssc.linalg.scaling import fixed_signs
from lssc.types import Array, Embedding, IndexArray

# A piece of a graph counts from this share of the mean cluster size on: a few points by themselves are no cluster.
LEAST = 0.1
# Up to this many vertices a dense solver is quicker and has no trouble with ties.
DENSE = 256


def spectral_embedding(W: sparse.csr_matrix, n_clusters: int, *, rng: np.random.Generator) -> Embedding:
    """The top K eigenvectors of D^-1/2 W D^-1/2, W symmetric and nonnegative.

    A graph in several pieces is solved piece by piece: each piece has eigenvalue 1, and an iterative solver may miss
    some of equal eigenvalues. Pieces too small to be a cluster stay at the origin, as does a vertex without neighbours:
    their eigenvectors would take the place of those that split the large pieces. Where more than K are left, the K
    largest count.
    """
    from scipy.sparse.csgraph import connected_components

    degree = np.asarray(W.sum(axis=1)).ravel()
    n_pieces, piece_of = connected_components(W, directed=False)
    order = np.argsort(piece_of, kind="stable")
    sizes = np.bincount(piece_of, minlength=n_pieces)
    pieces = np.split(order, np.cumsum(sizes)[:-1])
    linked = sorted((p for p in pieces if len(p) > 1 or degree[p[0]] > 0), key=len, reverse=True)
    least = LEAST * W.shape[0] / n_clusters
    counted = [piece for place, piece in enumerate(linked) if place == 0 or len(piece) >= least][:n_clusters]
    found = [_top_of_piece(W, degree, piece, n_clusters, rng) for piece in counted]
    candidates = [(value, i, j) for i, (values, _) in enumerate(found) for j, value in enumerate(values)]
    # Eigenvalue 1 of every piece comes before all else; rounding must not decide which pieces count.
    best = sorted(candidates, key=lambda c: (c[2] > 0, -c[0], c[1]))[:n_clusters]
    vectors, values = np.zeros((W.shape[0], n_clusters)), np.zeros(n_clusters)
    for column, (value, i, j) in enumerate(best):
        vectors[counted[i], column], values[column] = found[i][1][:, j], value
    info = {"n_pieces": len(linked), "n_isolated": n_pieces - len(linked)}
    return Embedding(fixed_signs(vectors), values, info)


def _top_of_piece(
    W: sparse.csr_matrix, degree: Array, piece: IndexArray, k: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Largest eigenvalues, descending, and eigenvectors of one connected piece of the graph."""
    from scipy.linalg import eigh

    scale = sparse.diags(1 / np.sqrt(degree[piece]))
    A = scale @ W[piece][:, piece] @ scale
    k = min(k, len(piece))
    if len(piece) > max(DENSE, 4 * k):
        return top_eigenpairs(A.dot, len(piece), k, rng=rng)
    values, vectors = eigh(A.toarray(), subset_by_index=(len(piece) - k, len(piece) - 1))
    return values[::-1], vectors[:, ::-1]
