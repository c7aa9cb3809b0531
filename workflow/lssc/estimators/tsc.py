"""TSC: thresholding-based subspace clustering (Heckel and Boelcskei 2015)."""

from __future__ import annotations

from typing import Any

from lssc.estimators.base import Params, SubspaceClustering
from lssc.estimators.docstrings import documented


@documented
class TSC(SubspaceClustering):
    """Thresholding-based subspace clustering: each point is joined to those of largest inner product.

    Point x has weight ``exp(-2 arccos |x'x_j|)`` for each of the q other points of largest ``|x'x_j|``, all points at
    unit norm; the graph is ``Z + Z'``, Z the weights (n x n, sparse). No code is computed, so it is the quickest method
    on all points: n^2 D / 2 multiplications. Memory grows with n q.

    {parameters}
    q : int, default=10
        Points that each point is joined to, before the graph is made symmetric; at most n - 1. The authors use 1/20 of
        the points of a cluster on small data.
    {common}

    See Also
    --------
    SSC : Codes instead of inner products.

    References
    ----------
    R. Heckel, H. Boelcskei, Robust Subspace Clustering via Thresholding, IEEE Transactions on Information Theory 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import TSC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> labels = TSC(n_clusters=3, random_state=0).fit_predict(X)
    >>> np.bincount(labels).tolist()
    [50, 50, 50]
    """

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        q: int = 10,
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
        self.q = q

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("all", {}),
            "coder": ("thresholded", {"q": self.q}),
            "embedder": ("affinity", {"scale_codes": False}),
            "clusterer": self._kmeans(),
        }
