"""K-subspaces: fit a linear subspace to each cluster, move points to the nearest one, repeat."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Clusters, IndexArray


@component("refiner", "subspaces")
def refine_subspaces(
    X: Array,
    labels: IndexArray,
    *,
    n_clusters: int,
    dim: Annotated[int, AtLeast(1)],
    max_iter: Annotated[int, AtLeast(1)] = 10,
) -> Clusters:
    """Minimise the sum over points of min_k |x - U_k U_k'x|^2, U_k (D x dim) orthonormal, from the given labels.

    Each iteration costs n D^2 for the bases and n K D dim for the residuals; memory n x K beside the points.
    """
    n_iter, converged = 0, False
    while not converged and n_iter < max_iter:
        n_iter += 1
        # |x - UU'x|^2 = |x|^2 - |U'x|^2, and |x|^2 is the same for every cluster.
        explained = [((X @ _basis(X[labels == k], dim)) ** 2).sum(axis=1) for k in range(n_clusters)]
        nearest = np.argmax(explained, axis=0)
        converged = bool((nearest == labels).all())
        labels = nearest
    return Clusters(labels, {"n_iter": n_iter, "converged": converged})


def _basis(points: Array, dim: int) -> Array:
    """Top `dim` principal directions of the points through the origin (D x dim); fewer if D is smaller."""
    if not len(points):
        return np.zeros((points.shape[1], 1))  # explains nothing: an empty cluster stays empty
    return np.linalg.eigh(points.T @ points)[1][:, -dim:]
