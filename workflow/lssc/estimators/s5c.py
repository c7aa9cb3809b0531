"""S5C: selective sampling-based scalable sparse subspace clustering (Matsushima and Brbic 2019)."""

from __future__ import annotations

from typing import Any

from lssc.estimators.automatic import AUTO, Rule
from lssc.estimators.base import Params, SubspaceClustering
from lssc.estimators.docstrings import documented


@documented
class S5C(SubspaceClustering):
    """Sparse subspace clustering by landmarks of largest subgradient.

    A round takes a random point x, solves ``min |c|_1 + lam/2 |x - L'c|^2`` over the landmarks L so far, and adds the
    point x_j of largest ``soft(x_j'r, 1/lam)^2``, ``r = x - L'c``, soft the soft threshold. Then all points are coded
    in the same way, and the graph is ``|C| + |C|'``, C the codes (n x n, columns of landmarks only). Time is linear in
    n: n D operations for each round, about n m D to code.

    {parameters}
    n_landmarks : int or "auto", default="auto"
        Number of landmarks m; all points if there are fewer. "auto" is 20 for every cluster, as its authors have it.
    lam : float or "auto", default=8.0
        Weight of the residual against ``|c|_1``, in the search and in the codes; 1/lam is the authors' lambda. They
        try 2 to 1024 and show the best by the true labels. "auto" is 8 over the typical largest correlation.
    {common}

    See Also
    --------
    FSC : Random landmarks, and a graph of points that share landmarks.
    ESC : Landmarks that the others represent worst.

    References
    ----------
    S. Matsushima, M. Brbic, Selective Sampling-based Scalable Sparse Subspace Clustering, NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import S5C
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> labels = S5C(n_clusters=3, random_state=0).fit_predict(X)
    >>> np.bincount(labels).tolist()
    [50, 50, 50]
    """

    _rule = Rule(equal_lengths=8.0, other_lengths=8.0, each=20)

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        n_landmarks: int | str = AUTO,
        lam: float | str = 8.0,
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

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("s5c", {"lam": self._lam()}),
            "coder": ("lasso", {"lam": self._lam()}),
            "embedder": ("affinity", {"scale_codes": False}),
            "clusterer": self._kmeans(),
        }
