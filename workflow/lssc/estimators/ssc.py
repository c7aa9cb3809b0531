"""SSC: sparse subspace clustering with every point as a landmark, by lasso, matching pursuit or ADMM."""

from __future__ import annotations

from typing import Any

from lssc.estimators.automatic import AUTO, Rule
from lssc.estimators.base import Params, SubspaceClustering
from lssc.estimators.docstrings import documented


class _FullData(SubspaceClustering):
    """Every point is a landmark, and the graph is ``|C| + |C|'``."""

    def _coder(self, n: int) -> tuple[str, Params]:
        raise NotImplementedError

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        affinity = ("affinity", {})
        return {"selector": ("all", {}), "coder": self._coder(n), "embedder": affinity, "clusterer": self._kmeans()}


@documented
class SSC(_FullData):
    """Sparse subspace clustering: every point coded by all others with the lasso, solved exactly.

    ``min |c|_1 + lam/2 |x - X'c|^2`` with the point itself excluded; the graph is ``|C| + |C|'``. Time grows with n^2.

    {parameters}
    lam : float or "auto", default="auto"
        Weight of the residual against ``|c|_1``. "auto" is 3 over the typical largest correlation between points, or 20
        over it if points have different lengths.
    {common}

    References
    ----------
    E. Elhamifar, R. Vidal, Sparse Subspace Clustering: Algorithm, Theory, and Applications, TPAMI 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import SSC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> labels = SSC(n_clusters=3, random_state=0).fit_predict(X)
    >>> np.bincount(labels).tolist()
    [50, 50, 50]
    """

    _rule = Rule(equal_lengths=3.0, other_lengths=20.0)

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        lam: float | str = AUTO,
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
        self.lam = lam

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("all", {}),
            "coder": ("lasso", {"lam": self._lam()}),
            "embedder": ("affinity", {}),
            "clusterer": self._kmeans(),
        }


@documented
class SSCOMP(_FullData):
    """Sparse subspace clustering by orthogonal matching pursuit: every point coded by k others.

    Each step adds the point most correlated with the residual. Time grows with n^2, memory with n k.

    {parameters}
    k : int, default=5
        Nonzeros in a code; at most n - 1.
    {common}

    References
    ----------
    C. You, D. Robinson, R. Vidal, Scalable Sparse Subspace Clustering by Orthogonal Matching Pursuit, CVPR 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import SSCOMP
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> labels = SSCOMP(n_clusters=3, random_state=0).fit_predict(X)
    >>> np.bincount(labels).tolist()
    [50, 50, 50]
    """

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        k: int = 5,
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
        self.k = k

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("all", {}),
            "coder": ("omp", {"k": min(self.k, n - 1)}),
            "embedder": ("affinity", {}),
            "clusterer": self._kmeans(),
        }


@documented
class SSCADMM(_FullData):
    """Sparse subspace clustering by ADMM, as its authors run it, or by the modified version of lower cost.

    The original inverts an n x n matrix and costs n^3 an iteration; the modified version costs n^2 D and has no n x n
    matrix.

    {parameters}
    alpha : float, default=20.0
        Weight of the residual, relative to the largest correlation between points.
    modified : bool, default=True
        Use the modified version (Pourkamali-Anaraki and Becker 2019).
    {common}

    References
    ----------
    E. Elhamifar, R. Vidal, Sparse Subspace Clustering: Algorithm, Theory, and Applications, TPAMI 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import SSCADMM
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(50, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> labels = SSCADMM(n_clusters=3, random_state=0).fit_predict(X)
    >>> np.bincount(labels).tolist()
    [50, 50, 50]
    """

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        alpha: float = 20.0,
        modified: bool = True,
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
        self.alpha = alpha
        self.modified = modified

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("all", {}),
            "coder": ("admm_modified" if self.modified else "admm", {"alpha": self.alpha}),
            "embedder": ("affinity", {}),
            "clusterer": self._kmeans(),
        }
