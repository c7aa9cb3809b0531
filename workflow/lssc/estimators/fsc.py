"""FSC: sparse subspace clustering with landmarks (Pourkamali-Anaraki 2019)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from lssc.estimators.automatic import AUTO, Rule
from lssc.estimators.base import LandmarkClustering, Params
from lssc.estimators.docstrings import documented
from lssc.parts.registry import find
from lssc.parts.results import result_problem
from lssc.types import Landmarks, Rows


@documented
class FSC(LandmarkClustering):
    """Fast subspace clustering: code every point by a few landmarks, embed the codes, cluster by K-means.

    Each point x solves ``min |c|_1 + lam/2 |x - L'c|^2`` over the landmarks L (m x D), itself excluded. The coordinates
    are the top K right singular vectors of ``|C| D^-1/2``; no n x n matrix is formed. Time and memory are linear in n:
    about n m D operations to code, and n x K numbers beside the codes.

    {parameters}
    n_landmarks : int or "auto", default="auto"
        Number of landmarks m; all points if there are fewer. "auto" is 100 for every cluster, from 500 to 3,000, but at
        most a quarter of the points.
    landmarks : {"uniform", "kmedoids", ...} or array of int, default="uniform"
        A selector, or the rows of X that are landmarks.
    lam : float or "auto", default="auto"
        Weight of the residual against ``|c|_1``. At unit norm, lam <= 1 codes nothing. "auto" is 3 over the typical
        largest correlation between points, or 20 over it if points have different lengths.
    scale_rows : bool, default=False
        Scale the spectral coordinates of each point to unit norm.
    {common}

    See Also
    --------
    RefinedFSC : More accurate, by affine subspaces that start from the clusters of FSC.
    ESC : Landmarks one by one, each the point that the others represent worst.

    References
    ----------
    F. Pourkamali-Anaraki, Large-Scale Sparse Subspace Clustering Using Landmarks, MLSP 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import FSC
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(100, 3)) @ rng.normal(size=(3, 20)) for _ in range(3)])
    >>> model = FSC(n_clusters=3, n_landmarks=60, random_state=0).fit(X)
    >>> sorted(np.bincount(model.labels_).tolist())
    [100, 100, 100]
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _rule = Rule(equal_lengths=3.0, other_lengths=20.0, least=500, each=100, points_each=4)

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        n_landmarks: int | str = AUTO,
        landmarks: str | Any = "uniform",
        lam: float | str = AUTO,
        scale_rows: bool = False,
        max_clusters: int = 20,
        unit_norm: bool = True,
        affine: bool = False,
        n_init: int = 10,
        max_iter: int = 100,
        keep_codes: bool = True,
        spill: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters, max_clusters, unit_norm, affine, n_init, max_iter, keep_codes, random_state, n_jobs, verbose
        )
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.lam = lam
        self.scale_rows = scale_rows
        self.spill = spill

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        return {
            "selector": (self.landmarks if isinstance(self.landmarks, str) else "uniform", {}),
            "coder": ("lasso", {"lam": self._lam()}),
            "embedder": ("landmark_svd", {"scale_rows": self.scale_rows}),
            "clusterer": self._kmeans(),
        }

    def _takes_blocks(self) -> bool:
        return all(find(kind, name).by_rows for kind, (name, _) in self._parts(1).items())

    def _n_landmarks(self, n: int) -> int:
        return super()._n_landmarks(n) if isinstance(self.landmarks, str) else len(self.landmarks)

    def _select(self, points: Rows) -> Landmarks:
        if isinstance(self.landmarks, str):
            return super()._select(points)
        landmarks = Landmarks(np.asarray(self.landmarks))
        if problem := result_problem("selector", landmarks, n=len(points), m=len(self.landmarks)):
            raise ValueError(f"landmarks: {problem}; give different rows of X")
        return landmarks
