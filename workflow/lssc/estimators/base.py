"""What all estimators share: validate the points, run the parts of a method in order, keep their results."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from lssc.linalg.scaling import unit_rows
from lssc.parts.embedders.landmark_svd import project_codes
from lssc.parts.registry import Component, find, param_problems
from lssc.parts.results import require_result
from lssc.parts.seeding import rng_for
from lssc.types import Array, Codes, IndexArray, Landmarks

# Beyond this size squares overflow, and compiled code crashes on infinity.
MAX_MAGNITUDE = 1e100
# Share of points without a code from which on a warning says that lam is too small.
MAX_UNCODED_SHARE = 0.01

Params = Mapping[str, Any]

# Parts of the docstrings of all estimators.
PARAMETERS = """\
Parameters
    ----------
    n_clusters : int, default=8
        Number of subspaces K."""
COMMON = """\
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
    seconds_ : dict, seconds by step"""


def documented(estimator: type) -> type:
    """Fill the parameters and attributes that all estimators share into the docstring of one."""
    estimator.__doc__ = estimator.__doc__.replace("{parameters}", PARAMETERS).replace("{common}", COMMON)
    return estimator


class UncodedPointsWarning(UserWarning):
    """Points have no code: no landmark is correlated with them enough for this lam."""


class SubspaceClustering(ClusterMixin, BaseEstimator):
    """Selector, coder, embedder and clusterer in one process; a subclass names its parts and their parameters."""

    def __init__(
        self,
        n_clusters: int,
        unit_norm: bool,
        affine: bool,
        n_init: int,
        max_iter: int,
        keep_codes: bool,
        random_state: Any,
        n_jobs: int | None,
        verbose: int,
    ) -> None:
        self.n_clusters = n_clusters
        self.unit_norm = unit_norm
        self.affine = affine
        self.n_init = n_init
        self.max_iter = max_iter
        self.keep_codes = keep_codes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        """Kind -> (name, parameters) of the parts of this method on n points."""
        raise NotImplementedError

    def fit(self, X: Any, y: None = None) -> SubspaceClustering:
        """Cluster the rows of X (n x D); y is ignored."""
        points = self._points(X, reset=True)
        self._require_params(len(points))
        self.seconds_: dict[str, float] = {}
        self._seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        landmarks = self._select(points)
        codes = self._code(points, landmarks.indices)
        embedding = self._run("embedder", codes.matrix, key=("embedding",), n=len(points))
        clusters = self._run("clusterer", embedding.vectors, key=("kmeans",), n=len(points))
        self.landmark_indices_, self.landmarks_ = landmarks.indices, points[landmarks.indices]
        self.embedding_, self.singular_values_ = embedding.vectors, embedding.values
        self.labels_, self.cluster_centers_ = clusters.labels, clusters.centres
        self.n_iter_, self.inertia_ = clusters.info["n_iter"], clusters.info["inertia"]
        self._projection = embedding.projection
        if self.keep_codes:
            self.codes_ = codes.matrix
        return self

    def _points(self, X: Any, *, reset: bool) -> Array:
        """X as float64 rows, prepared as the parameters say; ValueError if X cannot be used."""
        X = validate_data(self, X, dtype=np.float64, order="C", reset=reset, ensure_min_samples=2 if reset else 1)
        if X.size and max(X.max(), -X.min()) > MAX_MAGNITUDE:
            raise ValueError(f"X holds values beyond {MAX_MAGNITUDE:g}, of which squares overflow; scale it first")
        if self.affine:
            # Affine subspaces of R^D are linear ones of R^(D + 1) at height 1.
            X = np.column_stack([X, np.ones(len(X))])
        return unit_rows(X) if self.unit_norm else X

    def _require_params(self, n: int) -> None:
        if not isinstance(self.n_clusters, int | np.integer) or self.n_clusters < 1:
            raise ValueError(f"n_clusters={self.n_clusters!r} must be a whole number from 1 on")
        if n < self.n_clusters:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}.")
        m = getattr(self, "n_landmarks", n)
        if not isinstance(m, int | np.integer) or m < self.n_clusters:
            raise ValueError(f"n_landmarks={m!r} must be a whole number from n_clusters={self.n_clusters} on")
        for kind, (name, params) in self._parts(n).items():
            for key, problem in param_problems(_part(kind, name), params, {"n": n, "m": self._n_landmarks(n)}).items():
                raise ValueError(f"{key}={problem}")

    def _n_landmarks(self, n: int) -> int:
        """Every point is a landmark unless a subclass selects some."""
        return n

    def _select(self, points: Array) -> Landmarks:
        n, m = len(points), self._n_landmarks(len(points))
        return self._run("selector", points, m, key=("landmarks", self._parts(n)["selector"][0], m), n=n, m=m)

    def _code(self, points: Array, landmarks: IndexArray) -> Codes:
        key = ("codes", self._parts(len(points))["coder"][0])
        codes = self._run("coder", points, landmarks, key=key, n=len(points), m=len(landmarks))
        uncoded = int((np.diff(codes.matrix.indptr) == 0).sum())
        if uncoded > MAX_UNCODED_SHARE * len(points):
            warnings.warn(f"{uncoded} of {len(points)} points have no code; use a larger lam", UncodedPointsWarning, 2)
        return codes

    def _run(self, kind: str, *args: Any, key: tuple[str | int, ...], n: int, m: int = 0) -> Any:
        """Run one part with the estimator's parameters; its time goes to `seconds_`."""
        name, params = self._parts(n)[kind]
        part, start = find(kind, name), time.perf_counter()
        supplied = {"n_clusters": self.n_clusters, "rng": self._rng(*key), "threads": self._n_threads()}
        result = part(*args, **supplied, **params)
        require_result(part, result, n=n, m=m, n_clusters=self.n_clusters)
        self.seconds_[kind] = time.perf_counter() - start
        if self.verbose:
            print(f"[{type(self).__name__}] {kind} {name}: {self.seconds_[kind]:.2f} s", flush=True)
        return result

    def _rng(self, *key: str | int) -> np.random.Generator:
        """A generator of its own for every step."""
        return rng_for(self._seed, *key)

    def _n_threads(self) -> int:
        """One thread for None, all cores for -1, as in scikit-learn."""
        return os.cpu_count() or 1 if self.n_jobs is not None and self.n_jobs < 0 else max(1, self.n_jobs or 1)

    def _kmeans(self) -> tuple[str, Params]:
        return "kmeans", {"n_init": self.n_init, "max_iter": self.max_iter}


def _part(kind: str, name: str) -> Component:
    """The part of that name; ValueError, as scikit-learn raises for parameters, if there is none."""
    try:
        return find(kind, name)
    except LookupError as error:
        raise ValueError(str(error)) from None


class LandmarkClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SubspaceClustering):
    """Methods that label new points: code them by the landmarks, map the codes, take the nearest centre."""

    def transform(self, X: Any) -> Array:
        """Spectral coordinates (n x K) of new points."""
        check_is_fitted(self)
        points = self._points(X, reset=False)
        name, params = self._parts(len(self.embedding_))["coder"]
        stacked = np.concatenate([self.landmarks_, points])
        m = len(self.landmarks_)
        codes = find("coder", name)(stacked, np.arange(m), threads=self._n_threads(), **params).matrix
        # A landmark is not used in its own code, in training and here.
        rows = self._rows_of_landmarks(points)
        return project_codes(codes[np.where(rows >= 0, rows, m + np.arange(len(points)))], self._projection)

    def _rows_of_landmarks(self, points: Array) -> IndexArray:
        """The landmark that equals each point; -1 if none does."""
        known = {row.tobytes(): place for place, row in reversed(list(enumerate(self.landmarks_)))}
        rows = np.full(len(points), -1)
        # Few points share their first coordinate with a landmark; compare these alone.
        for i in np.flatnonzero(np.isin(points[:, 0], self.landmarks_[:, 0])):
            rows[i] = known.get(points[i].tobytes(), -1)
        return rows

    def predict(self, X: Any) -> IndexArray:
        """The cluster of each new point."""
        vectors, centres = self.transform(X), self.cluster_centers_
        return np.argmin((centres**2).sum(axis=1) / 2 - vectors @ centres.T, axis=1)

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[1]
