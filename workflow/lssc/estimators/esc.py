"""ESC: exemplar-based subspace clustering (You, Li, Robinson and Vidal 2018)."""

from __future__ import annotations

from typing import Any

from lssc.estimators.automatic import AUTO, Rule
from lssc.estimators.base import Params, SubspaceClustering
from lssc.estimators.docstrings import documented


@documented
class ESC(SubspaceClustering):
    """Exemplar-based subspace clustering: farthest-first exemplars, lasso codes, a graph of similar codes.

    Exemplars are added one by one: always the point of largest cost ``min |c|_1 + lam/2 |x - X0'c|^2`` over the
    exemplars X0 so far. The graph joins each point to the `t` points with the most similar codes. To find
    them takes time that grows with n^2.

    {parameters}
    n_landmarks : int or "auto", default="auto"
        Number of exemplars m; at most half of the points. "auto" is 25 for every cluster, from 100 to 3,000, but at
        most a tenth of the points.
    lam : float or "auto", default="auto"
        Weight of the residual against ``|c|_1``, in the search and in the codes. "auto" is 30 over the typical largest
        correlation between points.
    t : int, default=10
        Neighbours of each point in the graph; at most n - 1.
    {common}

    References
    ----------
    C. You, C. Li, D. Robinson, R. Vidal, Scalable Exemplar-based Subspace Clustering on Class-Imbalanced Data,
    ECCV 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import ESC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> labels = ESC(n_clusters=3, n_landmarks=30, random_state=0).fit_predict(X)
    >>> np.bincount(labels).tolist()
    [50, 50, 50]
    """

    # Larger weights than for FSC: an exemplar that codes itself gains by every increase.
    _rule = Rule(equal_lengths=30.0, other_lengths=30.0, least=100, each=25, points_each=10)

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        n_landmarks: int | str = AUTO,
        lam: float | str = AUTO,
        t: int = 10,
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
        self.n_landmarks = n_landmarks
        self.lam = lam
        self.t = t

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("farthest_first", {"lam": self._lam()}),
            "coder": ("lasso", {"lam": self._lam(), "exclude_self": False}),
            "embedder": ("neighbours", {"t": min(self.t, n - 1)}),
            "clusterer": self._kmeans(),
        }

    def _n_landmarks(self, n: int) -> int:
        # Exemplars code themselves: with too many of them, no two points share a code.
        return min(super()._n_landmarks(n), max(self._assumed_clusters(), n // 2))
