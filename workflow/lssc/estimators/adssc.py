"""A-DSSC: doubly stochastic subspace clustering (Lim, Vidal and Haeffele 2020)."""

from __future__ import annotations

from typing import Any

from lssc.estimators.base import Params, SubspaceClustering
from lssc.estimators.docstrings import documented


@documented
class ADSSC(SubspaceClustering):
    """Doubly stochastic subspace clustering: codes by ridge regression, an affinity whose rows and columns sum to 1.

    ``min eta3 |c|_1 + eta1/2 |c|^2 + 1/2 |x - X'c|^2`` with the point itself excluded, then ``A = argmin -<|C|, A> +
    eta2/2 |A|^2`` over all nonnegative matrices with rows and columns of sum 1; the graph is ``(A + A')/2``. Both are
    solved exactly, except that of the codes without `eta3` only the largest coefficients are kept. Time grows with
    n^2 D, memory with n: there is no n x n matrix.

    {parameters}
    eta1 : float, default=50.0
        Weight of ``|c|^2`` against the residual. The authors search 0.1 to 50.
    eta2 : float, default=0.01
        Weight of ``|A|^2``: the smaller, the fewer neighbours each point has. The authors search 0.0005 to 0.1.
    eta3 : float, default=0.0
        Weight of ``|c|_1``; 0 gives the codes in closed form, other values by the elastic net.
    n_nonzero : int, default=100
        Coefficients of each code that are kept, the largest ones.
    {common}

    References
    ----------
    D. Lim, R. Vidal, B. Haeffele, Doubly Stochastic Subspace Clustering, arXiv:2011.14859, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import ADSSC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> labels = ADSSC(n_clusters=3, random_state=0).fit_predict(X)
    >>> np.bincount(labels).tolist()
    [50, 50, 50]
    """

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        eta1: float = 50.0,
        eta2: float = 0.01,
        eta3: float = 0.0,
        n_nonzero: int = 100,
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
        self.eta1 = eta1
        self.eta2 = eta2
        self.eta3 = eta3
        self.n_nonzero = n_nonzero

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("all", {}),
            "coder": self._coder(),
            "embedder": ("doubly_stochastic", {"eta": self.eta2}),
            "clusterer": self._kmeans(),
        }

    def _coder(self) -> tuple[str, Params]:
        if self.eta3 == 0:
            return "least_squares", {"ridge": self.eta1, "n_nonzero": self.n_nonzero}
        total = self.eta1 + self.eta3
        choices = {"gamma": 1 / total, "tau": self.eta3 / total, "relative": False, "n_nonzero": self.n_nonzero}
        return "elastic_net", choices
