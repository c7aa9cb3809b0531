"""k-FSC: points as combinations of atoms, in one block of atoms for each cluster (Fan 2021)."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from lssc.estimators.base import Params, SubspaceClustering, one_blas_thread
from lssc.linalg.factorization import nearest_blocks
from lssc.types import IndexArray, Rows


class KFSC(SubspaceClustering):
    """k-factorization subspace clustering: K blocks of atoms, of which each point uses few.

    With the points scaled to unit norm, codes C (n x Kd) and atoms A (Kd x D, rows of length at most 1) solve ``min
    |X - CA|^2 / 2 + lam sum_ij |c_ij|``, where c_ij holds the d coefficients of point i in block j. Proximal gradient
    steps on the blocks, with momentum, alternate with projected gradient steps on the atoms. A point belongs to the
    block of least ridge residual. The start is spherical K-means, on which the result depends much.

    Time is linear in n: K d D operations per point and round. Memory: the codes that are not zero.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of subspaces K.
    variant : {"full", "minibatch", "landmarks"}, default="full"
        "full" makes rounds over all points. "minibatch" updates the atoms from batches of points and keeps no codes.
        "landmarks" fits K-means centres only, then labels all points: the fastest for many points.
    dim : int, default=30
        Atoms d in each block; at most half of the features, as blocks that span everything do not tell points apart.
    lam : float, default=0.5
        Weight of the codes' lengths. Halved if a tenth of the points has no code; `lam_` is the last one.
    n_init : int, default=10
        Starts of spherical K-means; the best one counts. The author uses 100 with landmarks.
    max_iter : int, default=200
        Most rounds, for "full" and "landmarks".
    tol : float, default=0.0001
        Relative change of codes and atoms at which rounds end.
    batch_size : int, default=1000
        Points in a batch, for "minibatch".
    passes : int, default=5
        Passes over the points, for "minibatch".
    landmarks : int, default=500
        K-means centres for each cluster, for "landmarks".
    affine : bool, default=False
        Look for affine subspaces, by a further coordinate that is 1 for every point.
    random_state : int, RandomState or None, default=None
        An int gives the same labels on every call: those of the pipeline's trial 0 with this `seed`.
    n_jobs : int, default=None
        Without effect: k-FSC runs on one thread.
    verbose : int, default=0
        1 prints the time.

    Attributes
    ----------
    labels_ : array of shape (n,)
        Cluster of each point, from 0 to K - 1.
    dictionary_ : array of shape (K, d, D)
        The atoms of each cluster.
    lam_ : float
        The weight used.
    objective_ : float
        The objective after the last round; with "minibatch", the sum over the batches of the last pass.
    n_clusters_ : int
        The number of clusters used.
    n_iter_ : int
        Rounds, or passes, made.
    n_features_in_ : int
        Number of columns D of X.
    seconds_ : dict
        Seconds by step.

    See Also
    --------
    RefinedFSC : Affine subspaces whose dimension is estimated, from a start by landmark codes.

    References
    ----------
    J. Fan, Large-Scale Subspace Clustering via k-Factorization, KDD 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import KFSC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(100, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> model = KFSC(n_clusters=3, dim=3, random_state=0).fit(X)
    >>> sorted(np.bincount(model.labels_).tolist())
    [100, 100, 100]
    >>> model.dictionary_.shape
    (3, 3, 20)
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    # No parameters here: the part scales the points itself, and the number of clusters is never estimated.
    unit_norm, max_clusters = False, 2

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        variant: str = "full",
        dim: int = 30,
        lam: float = 0.5,
        n_init: int = 10,
        max_iter: int = 200,
        tol: float = 1e-4,
        batch_size: int = 1000,
        passes: int = 5,
        landmarks: int = 500,
        affine: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.variant = variant
        self.dim = dim
        self.lam = lam
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.passes = passes
        self.landmarks = landmarks
        self.affine = affine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        names = ("variant", "dim", "lam", "n_init", "max_iter", "tol", "batch_size", "passes", "landmarks")
        return {"method": ("kfsc", {name: getattr(self, name) for name in names})}

    def _works_by_rows(self) -> bool:
        return True

    def _choose_params(self, points: Rows) -> None:
        if self.n_clusters is None:
            raise ValueError("n_clusters=None must be a whole number from 1 on: KFSC does not estimate it")
        self.n_clusters_ = self.n_clusters

    def _fit(self, points: Rows) -> None:
        clusters = self._run("method", points, key=("method", "kfsc"), n=len(points))
        self.labels_, self.dictionary_ = clusters.labels, clusters.dictionary
        self.n_iter_, self.lam_, self.objective_ = (clusters.info[name] for name in ("n_iter", "lam", "objective"))

    def predict(self, X: Any) -> IndexArray:
        """The cluster of each new point: the block of least ridge residual."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        with one_blas_thread():
            return nearest_blocks(rows, self.dictionary_)
