"""SSC: sparse subspace clustering with every point as a landmark, by lasso, matching pursuit or ADMM."""

from __future__ import annotations

from typing import Any

from lssc.estimators.base import Params, SubspaceClustering


class _FullData(SubspaceClustering):
    """Every point is a landmark, and the graph is |C| + |C|'."""

    def _coder(self, n: int) -> tuple[str, Params]:
        raise NotImplementedError

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        affinity = ("affinity", {})
        return {"selector": ("all", {}), "coder": self._coder(n), "embedder": affinity, "clusterer": self._kmeans()}


class SSC(_FullData):
    """Sparse subspace clustering: every point coded by all others with the lasso, solved exactly.

    min |c|_1 + lam/2 |x - X'c|^2 with the point itself excluded; the graph is |C| + |C|'. Time grows with n^2.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of subspaces K.
    lam : float, default=5.0
        Weight of the residual against |c|_1.
    unit_norm : bool, default=True
        Scale the points to unit norm first.
    affine : bool, default=False
        Look for affine subspaces, by a further coordinate that is 1 for every point.
    n_init, max_iter : int, default=10, 100
        Starts of K-means, and iterations of each.
    keep_codes : bool, default=True
        Keep `codes_`, which is the largest result.
    random_state : int, RandomState or None
        An int gives the same labels on every call.
    n_jobs : int, default=None
        Threads that code points, -1 for all cores; the labels do not depend on it.
    verbose : int, default=0
        1 prints the time of each step.

    Attributes
    ----------
    labels_ : array of shape (n,)
    landmarks_ : array of shape (m, D), and landmark_indices_, their rows in X
    codes_ : CSR matrix of shape (n, m)
    embedding_ : array of shape (n, K), and singular_values_ (K,)
    cluster_centers_ : array of shape (K, K), in the coordinates of `embedding_`
    seconds_ : dict, seconds by step

    References
    ----------
    E. Elhamifar, R. Vidal, Sparse Subspace Clustering: Algorithm, Theory, and Applications, TPAMI 2013.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float = 5.0,
        unit_norm: bool = True,
        affine: bool = False,
        n_init: int = 10,
        max_iter: int = 100,
        keep_codes: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(n_clusters, unit_norm, affine, n_init, max_iter, keep_codes, random_state, n_jobs, verbose)
        self.lam = lam

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("all", {}),
            "coder": ("lasso", {"lam": self.lam}),
            "embedder": ("affinity", {}),
            "clusterer": self._kmeans(),
        }


class SSCOMP(_FullData):
    """Sparse subspace clustering by orthogonal matching pursuit: every point coded by k others.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of subspaces K.
    k : int, default=5
        Nonzeros in a code; at most n - 1.
    unit_norm : bool, default=True
        Scale the points to unit norm first.
    affine : bool, default=False
        Look for affine subspaces, by a further coordinate that is 1 for every point.
    n_init, max_iter : int, default=10, 100
        Starts of K-means, and iterations of each.
    keep_codes : bool, default=True
        Keep `codes_`, which is the largest result.
    random_state : int, RandomState or None
        An int gives the same labels on every call.
    n_jobs : int, default=None
        Threads that code points, -1 for all cores; the labels do not depend on it.
    verbose : int, default=0
        1 prints the time of each step.

    Attributes
    ----------
    labels_ : array of shape (n,)
    landmarks_ : array of shape (m, D), and landmark_indices_, their rows in X
    codes_ : CSR matrix of shape (n, m)
    embedding_ : array of shape (n, K), and singular_values_ (K,)
    cluster_centers_ : array of shape (K, K), in the coordinates of `embedding_`
    seconds_ : dict, seconds by step

    References
    ----------
    C. You, D. Robinson, R. Vidal, Scalable Sparse Subspace Clustering by Orthogonal Matching Pursuit, CVPR 2016.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        k: int = 5,
        unit_norm: bool = True,
        affine: bool = False,
        n_init: int = 10,
        max_iter: int = 100,
        keep_codes: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(n_clusters, unit_norm, affine, n_init, max_iter, keep_codes, random_state, n_jobs, verbose)
        self.k = k

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("all", {}),
            "coder": ("omp", {"k": min(self.k, n - 1)}),
            "embedder": ("affinity", {}),
            "clusterer": self._kmeans(),
        }


class SSCADMM(_FullData):
    """Sparse subspace clustering by ADMM, as its authors run it, or by the modified version of lower cost.

    The original inverts an n x n matrix and costs n^3 an iteration; the modified version costs n^2 D and has no n x n
    matrix.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of subspaces K.
    alpha : float, default=20.0
        Weight of the residual, relative to the largest correlation between points.
    modified : bool, default=True
        Use the modified version (Pourkamali-Anaraki and Becker 2019).
    unit_norm : bool, default=True
        Scale the points to unit norm first.
    affine : bool, default=False
        Look for affine subspaces, by a further coordinate that is 1 for every point.
    n_init, max_iter : int, default=10, 100
        Starts of K-means, and iterations of each.
    keep_codes : bool, default=True
        Keep `codes_`, which is the largest result.
    random_state : int, RandomState or None
        An int gives the same labels on every call.
    n_jobs : int, default=None
        Threads that code points, -1 for all cores; the labels do not depend on it.
    verbose : int, default=0
        1 prints the time of each step.

    Attributes
    ----------
    labels_ : array of shape (n,)
    landmarks_ : array of shape (m, D), and landmark_indices_, their rows in X
    codes_ : CSR matrix of shape (n, m)
    embedding_ : array of shape (n, K), and singular_values_ (K,)
    cluster_centers_ : array of shape (K, K), in the coordinates of `embedding_`
    seconds_ : dict, seconds by step

    References
    ----------
    E. Elhamifar, R. Vidal, Sparse Subspace Clustering: Algorithm, Theory, and Applications, TPAMI 2013.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 20.0,
        modified: bool = True,
        unit_norm: bool = True,
        affine: bool = False,
        n_init: int = 10,
        max_iter: int = 100,
        keep_codes: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(n_clusters, unit_norm, affine, n_init, max_iter, keep_codes, random_state, n_jobs, verbose)
        self.alpha = alpha
        self.modified = modified

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": ("all", {}),
            "coder": ("admm_modified" if self.modified else "admm", {"alpha": self.alpha}),
            "embedder": ("affinity", {}),
            "clusterer": self._kmeans(),
        }
