"""Gaussian mixture with full covariances, of scikit-learn, on principal components."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.linalg.pca import fit_pca
from lssc.parts.params import Above, AtLeast, AtMost
from lssc.parts.peers import bounded, quietly_on_one_thread, seed_from
from lssc.parts.registry import component
from lssc.types import Array, Clusters


def warm_up() -> None:
    cluster_gaussians(np.eye(4), n_clusters=2, rng=np.random.default_rng(0))


@component("method", "gmm", warm_up=warm_up)
def cluster_gaussians(
    X: Array,
    *,
    n_clusters: int,
    dim: Annotated[int, AtLeast(1)] = 50,
    reg_covar: Annotated[float, Above(0)] = 1e-6,
    n_init: Annotated[int, AtLeast(1), AtMost(100_000)] = 1,
    max_iter: Annotated[int, AtLeast(1)] = 100,
    rng: np.random.Generator,
) -> Clusters:
    """Maximise the likelihood of K Gaussians by EM from K-means; a label is the component of largest probability.

    X (n x D) is reduced to its first `dim` principal components if D is larger, then scaled to a mean variance of 1, of
    which `reg_covar` is added to every variance. Cost: n K dim^2 per iteration.
    """
    from sklearn.mixture import GaussianMixture

    with quietly_on_one_thread():
        points = _standard_points(bounded(X), dim)
        # The library wants two points at least.
        if len(points) == 1:
            return Clusters(np.zeros(1, dtype=np.int64), {"n_iter": 0, "converged": True})
        model = GaussianMixture(
            n_clusters, reg_covar=reg_covar, n_init=n_init, max_iter=max_iter, random_state=seed_from(rng)
        )
        labels = model.fit_predict(points)
    return Clusters(labels.astype(np.int64), {"n_iter": int(model.n_iter_), "converged": bool(model.converged_)})


def _standard_points(X: Array, dim: int) -> Array:
    """The first `dim` principal components, or all coordinates if there are no more, at a mean variance of 1."""
    if X.shape[1] > dim:
        X = fit_pca([X], dim=min(dim, len(X)), centre=True).project(X)
    spread = np.sqrt(X.var(axis=0).mean())
    return (X - X.mean(axis=0)) / (spread if spread > 0 else 1.0)
