"""EnSC: elastic net subspace clustering (You, Li, Robinson and Vidal 2016)."""

from __future__ import annotations

from typing import Any

from lssc.estimators.base import Params, SubspaceClustering
from lssc.estimators.docstrings import documented


@documented
class EnSC(SubspaceClustering):
    """Elastic net subspace clustering: every point coded by all others, a graph of similar codes.

    ``min tau |c|_1 + (1 - tau)/2 |c|^2 + lam/2 |x - X'c|^2`` with the point itself excluded, solved exactly. For each
    point lam is `gamma` times the value up to which its code is zero. The second term adds points of the same subspace
    to the code, so that clusters hold together; tau = 1 is the lasso. The graph joins each point to the `t` points with
    the most similar codes. Time grows with n^2 D, memory with n: there is no n x n matrix.

    {parameters}
    gamma : float, default=50.0
        Weight of the residual, relative to the value up to which a code is zero; greater than 1. The authors use 200 on
        MNIST.
    tau : float, default=0.9
        Share of ``|c|_1`` in the penalty, above 0 and at most 1.
    n_nonzero : int, default=50
        Coefficients of each code that are kept, the largest ones; 0 keeps all.
    t : int, default=3
        Neighbours of each point in the graph; at most n - 1.
    {common}

    References
    ----------
    C. You, C. Li, D. Robinson, R. Vidal, Oracle Based Active Set Algorithm for Scalable Elastic Net Subspace
    Clustering, CVPR 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import EnSC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> labels = EnSC(n_clusters=3, random_state=0).fit_predict(X)
    >>> np.bincount(labels).tolist()
    [50, 50, 50]
    """

    _residual_weight = "gamma"

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        gamma: float = 50.0,
        tau: float = 0.9,
        n_nonzero: int = 50,
        t: int = 3,
        max_clusters: int = 20,
        unit_norm: bool = True,
        affine: bool = False,
        n_init: int = 10,
        max_iter: int = 100,
        keep_codes: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters, max_clusters, unit_norm, affine, n_init, max_iter, keep_codes, random_state, n_jobs, verbose
        )
        self.gamma = gamma
        self.tau = tau
        self.n_nonzero = n_nonzero
        self.t = t

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("all", {}),
            "coder": ("elastic_net", {"gamma": self.gamma, "tau": self.tau, "n_nonzero": self.n_nonzero}),
            "embedder": ("neighbours", {"t": min(self.t, n - 1)}),
            "clusterer": self._kmeans(),
        }
