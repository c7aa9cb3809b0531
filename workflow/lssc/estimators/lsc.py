"""LSC: spectral clustering with landmarks as anchors (Chen and Cai 2011)."""

from __future__ import annotations

from typing import Any

from lssc.estimators.automatic import Rule
from lssc.estimators.base import LandmarkClustering, Params
from lssc.estimators.docstrings import documented
from lssc.types import Codes, LandmarkArray, Rows

# Points on which K-means looks for centres; more are sampled to this size.
MAX_POINTS = 100_000
# Selector -> its parameters. LSC-K makes five passes of K-means, and its landmarks are the centres.
SELECTORS: dict[str, Params] = {
    "kmeans": {"centres": True, "batches": False, "max_iter": 5, "max_points": MAX_POINTS},
}


@documented
class LSC(LandmarkClustering):
    """Landmark-based spectral clustering: each point is joined to its nearest landmarks.

    Point x has weight ``exp(-|x - l|^2 / (2 sigma^2))`` for each of the r landmarks l nearest to it, divided by their
    sum; sigma is the mean of these distances. With Z the weights (n x m), the coordinates are the left singular vectors
    2 to K + 1 of ``Z diag(Z'1)^-1/2``, rows at unit norm. It looks for groups of near points, not for subspaces. Time
    is linear in n: n m D operations for the weights, five times as many for the centres, and m^3.

    {parameters}
    n_landmarks : int or "auto", default=1000
        Number of landmarks m; all points if there are fewer. "auto" is 1,000, or 10 for every
        cluster if these are more.
    landmarks : {"kmeans", "uniform", ...}, default="kmeans"
        "kmeans" takes centres of K-means after five passes over the points (LSC-K), beyond 100,000 over a sample of
        them. "uniform" takes random points (LSC-R). Any other selector will do.
    r : int, default=5
        Landmarks that each point is joined to.
    {common}
    sigma_ : float
        The width of the Gaussian weights.

    See Also
    --------
    FSC : The same graph from sparse codes, for subspaces.

    References
    ----------
    X. Chen, D. Cai, Large Scale Spectral Clustering with Landmark-Based Representation, AAAI 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from lssc import LSC
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(rng.normal(size=(3, 20)), 50, axis=0) + 0.1 * rng.normal(size=(150, 20))
    >>> labels = LSC(n_clusters=3, n_landmarks=30, random_state=0).fit_predict(X)
    >>> np.bincount(labels).tolist()
    [50, 50, 50]
    """

    # No parameter lam: only the number of landmarks counts.
    _rule = Rule(equal_lengths=1.0, other_lengths=1.0, least=1000)

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        n_landmarks: int | str = 1000,
        landmarks: str = "kmeans",
        r: int = 5,
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
        self.landmarks = landmarks
        self.r = r

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        if not isinstance(self.landmarks, str):
            raise ValueError(f'landmarks={self.landmarks!r} must be the name of a selector: "kmeans", "uniform", ...')
        # New points are coded with the width of the fit; during the fit it is unknown.
        coder = {"r": self.r, "exclude_self": False, "sigma": getattr(self, "sigma_", 0.0)}
        return {
            "selector": (self.landmarks, SELECTORS.get(self.landmarks, {})),
            "coder": ("anchor_graph", coder),
            "embedder": ("lsc", {}),
            "clusterer": self._kmeans(),
        }

    def _choose_params(self, points: Rows) -> None:
        vars(self).pop("sigma_", None)
        super()._choose_params(points)

    def _code(self, points: Rows, landmarks: LandmarkArray) -> Codes:
        codes = super()._code(points, landmarks)
        self.sigma_ = codes.info["sigma"]
        return codes
