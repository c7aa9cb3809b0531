"""What all estimators share: validate the points, run the parts of a method in order, keep their results."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from copy import copy
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from lssc.blocks import Blocks
from lssc.estimators.automatic import AUTO, Rule, count_clusters, is_auto
from lssc.estimators.inputs import PreparedRows, is_dask, require_rows, row_blocks
from lssc.estimators.spilling import code_to_files, new_folder
from lssc.parts.embedders.landmark_svd import project_codes
from lssc.parts.inputs import SparseRows
from lssc.parts.registry import Component, find, param_problems
from lssc.parts.results import require_result
from lssc.parts.seeding import first_trial, rng_for
from lssc.shards import write_array
from lssc.types import (
    Array,
    Codes,
    Embedding,
    IndexArray,
    LandmarkArray,
    Landmarks,
    RowBlocks,
    Rows,
    StoredRows,
    is_stored,
)

# Share of points without a code from which on a warning says that lam is too small.
MAX_UNCODED_SHARE = 0.01

Params = Mapping[str, Any]


class UncodedPointsWarning(UserWarning):
    """Points have no code: no landmark is correlated with them enough for this lam."""


class SubspaceClustering(ClusterMixin, BaseEstimator):
    """Selector, coder, embedder and clusterer in one process; a subclass names its parts and their parameters."""

    # For subclasses that have the parameters lam or n_landmarks.
    _rule: Rule

    # The parameter that weighs the residual: if it is small, points have no code.
    _residual_weight = "lam"

    def __init__(
        self,
        n_clusters: int | None,
        max_clusters: int,
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
        self.max_clusters = max_clusters
        self.unit_norm = unit_norm
        self.affine = affine
        self.n_init = n_init
        self.max_iter = max_iter
        self.keep_codes = keep_codes
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # `fit` reports wrong parameters; tags are read before.
        with suppress(ValueError):
            tags.input_tags.sparse = self._works_by_rows()
        return tags

    def _parts(self, n: int) -> dict[str, tuple[str, Params]]:
        """Kind -> (name, parameters) of the parts of this method on n points."""
        raise NotImplementedError

    def fit(self, X: Any, y: None = None) -> SubspaceClustering:
        """Cluster the rows of X (n x D); y is ignored.

        X is an array, list or DataFrame of numbers, a memory map, an HDF5 dataset or a Zarr array. FSC with landmarks
        "uniform", "kmedoids" or chosen rows reads it in blocks, and takes sparse matrices, as SSC does; only landmarks
        become dense as a whole. Numbers of any type are converted to double precision, block by block.
        """
        rows = self._rows(X, reset=True)
        if isinstance(rows, Blocks) and not self._takes_blocks():
            raise ValueError(f"{type(self).__name__} needs all points in memory; FSC and RefinedFSC take Dask arrays")
        self._seed = (_whole_seed(self.random_state), *first_trial(len(rows)))
        self.seconds_: dict[str, float] = {}
        # Where results go that are larger than memory.
        self._folder = new_folder(getattr(self, "spill", None))
        with one_blas_thread():
            self._choose_params(rows)
            self._require_params(len(rows))
            self._fit(rows if self._works_by_rows() else rows[0 : len(rows)])
        return self

    def _takes_blocks(self) -> bool:
        """Whether every part works on blocks of rows, one by one."""
        return False

    def _fit(self, points: Rows | Blocks) -> None:
        landmarks = self._select(points)
        codes = self._code(points, landmarks.for_coder)
        embedding = self._embed(codes.matrix, landmarks)
        if isinstance(codes.matrix, Blocks):
            # Counted on the way: another look at the codes would read them again.
            self._warn_of_uncoded(embedding.info["n_uncoded"], len(points))
        vectors = self._kept("embedding", embedding.vectors)
        clusters = self._run("clusterer", vectors, key=("kmeans",), n=len(points))
        self.n_landmarks_ = len(landmarks.indices)
        self.landmark_indices_, self._own_points = landmarks.indices, landmarks.points is not None
        self.landmarks_ = landmarks.points if self._own_points else points[landmarks.indices]
        self._landmark_vectors = vectors[landmarks.indices]
        self.embedding_, self.singular_values_ = _public(vectors), embedding.values
        labels, self.cluster_centers_ = self._kept("labels", clusters.labels), clusters.centres
        if "refiner" in self._parts(len(points)):
            key = ("refined", self._parts(len(points))["refiner"][0])
            refined = self._run("refiner", points, labels, key=key, n=len(points), coordinates=vectors)
            labels, self.subspaces_ = self._kept("refined", refined.labels), refined.subspaces
        self.labels_ = _public(labels)
        self.n_iter_, self.inertia_ = clusters.info["n_iter"], clusters.info["inertia"]
        self._projection = embedding.projection
        vars(self).pop("codes_", None)
        if self.keep_codes and not isinstance(codes.matrix, Blocks):
            self.codes_ = codes.matrix

    def _rows(self, X: Any, *, reset: bool) -> PreparedRows | Blocks:
        """The points of X, read and prepared block by block; ValueError if X cannot be used."""
        least = 2 if reset else 1
        if is_dask(X) or is_stored(X):
            require_rows(X, least, type(self).__name__)
            validate_data(self, X, skip_check_array=True, reset=reset)
            if is_dask(X):
                from lssc.distributed.points import as_points

                return as_points(X, affine=self.affine, unit_norm=self.unit_norm)
            source = StoredRows(X)
        else:
            accepted = "csr" if self._works_by_rows() else False
            checks = {"dtype": "numeric", "accept_sparse": accepted, "ensure_min_samples": least}
            source = validate_data(self, X, reset=reset, **checks)
            source = SparseRows(source) if hasattr(source, "tocsr") else source
        progress = Progress(type(self).__name__) if self.verbose else None
        return PreparedRows(source, affine=self.affine, unit_norm=self.unit_norm, progress=progress)

    def _works_by_rows(self) -> bool:
        """Whether the parts that read the points take them in blocks of rows."""
        parts = self._parts(1)
        return all(_part(kind, parts[kind][0]).by_rows for kind in ("selector", "coder"))

    def _choose_params(self, points: Rows) -> None:
        """Set `lam_`, and `n_clusters_` to the most that it can be until it is estimated."""
        self.n_clusters_ = self.max_clusters if self.n_clusters is None else self.n_clusters
        # The gaps of an earlier fit, if any.
        vars(self).pop("eigengaps_", None)
        if hasattr(self, "lam"):
            auto = is_auto("lam", self.lam, "a number greater than 0")
            self.lam_ = self._rule.lam(points, rng=self._rng("lam")) if auto else self.lam

    def _lam(self) -> float | str:
        """The weight that the parts get; before `fit` the parameter as it is."""
        return getattr(self, "lam_", self.lam)

    def _require_params(self, n: int) -> None:
        least = 2 if self.n_clusters is None else self.n_clusters
        if not isinstance(least, int | np.integer) or least < 1:
            raise ValueError(f"n_clusters={least!r} must be a whole number from 1 on, or None")
        if not isinstance(self.max_clusters, int | np.integer) or self.max_clusters < 2:
            raise ValueError(f"max_clusters={self.max_clusters!r} must be a whole number from 2 on")
        if n < least:
            raise ValueError(f"n_samples={n} should be >= n_clusters={least}.")
        m, allowed = getattr(self, "n_landmarks", n), f"a whole number from n_clusters={least} on"
        if not is_auto("n_landmarks", m, allowed) and (not isinstance(m, int | np.integer) or m < least):
            raise ValueError(f'n_landmarks={m!r} must be {allowed} or "auto"')
        for kind, (name, params) in self._parts(n).items():
            for key, problem in param_problems(_part(kind, name), params, {"n": n, "m": self._n_landmarks(n)}).items():
                raise ValueError(f"{key}={problem}")

    def _n_landmarks(self, n: int) -> int:
        """The number of landmarks of n points: all of them, unless the estimator has `n_landmarks`."""
        m = getattr(self, "n_landmarks", n)
        return self._rule.n_landmarks(n, self._assumed_clusters()) if m == AUTO else min(n, m)

    def _assumed_clusters(self) -> int:
        """The number of clusters; half of the largest number while it is unknown."""
        return self.max_clusters // 2 if self.n_clusters is None else self.n_clusters

    def _select(self, points: Rows) -> Landmarks:
        n, m = len(points), self._n_landmarks(len(points))
        return self._run("selector", points, m, key=("landmarks", self._parts(n)["selector"][0], m), n=n, m=m)

    def _code(self, points: Rows | Blocks, landmarks: LandmarkArray) -> Codes:
        key = ("codes", self._parts(len(points))["coder"][0])
        codes = self._run("coder", points, landmarks, key=key, n=len(points), m=len(landmarks))
        if not isinstance(codes.matrix, Blocks):
            self._warn_of_uncoded(int((np.diff(codes.matrix.indptr) == 0).sum()), len(points))
        return codes

    def _warn_of_uncoded(self, uncoded: int, n: int) -> None:
        if uncoded > MAX_UNCODED_SHARE * n:
            remedy = f"use a larger {self._residual_weight}"
            warnings.warn(f"{uncoded} of {n} points have no code; {remedy}", UncodedPointsWarning, 5)

    def _embed(self, codes: sparse.csr_matrix, landmarks: Landmarks) -> Embedding:
        """Coordinates of the points, one for each cluster; estimates the number of clusters if it is None."""
        n, m = codes.shape
        supplied = {"landmark_indices": landmarks.indices if landmarks.points is None else None}
        if self.n_clusters is None:
            # The gap after the last cluster needs one value more.
            self.n_clusters_ = min(self.max_clusters, m - 1) + 1
            values = self._run("embedder", codes, key=("embedding",), n=n, **supplied).spectrum
            self.n_clusters_, self.eigengaps_ = count_clusters(values[: self.n_clusters_])
        return self._run("embedder", codes, key=("embedding",), n=n, **supplied)

    def _run(self, kind: str, *args: Any, key: tuple[str | int, ...], n: int, m: int = 0, **supplied: Any) -> Any:
        """Run one part with the estimator's parameters; its time goes to `seconds_`."""
        name, params = self._parts(n)[kind]
        part, start = find(kind, name), time.perf_counter()
        supplied |= {"n_clusters": self.n_clusters_, "rng": self._rng(*key), "threads": self._n_threads()}
        if kind == "coder" and isinstance(args[0], Blocks):
            from lssc.distributed.points import code_blocks

            result = code_blocks(*args, name, params, self._folder)
        elif kind == "coder" and self._folder:
            result = code_to_files(*args, name, params, folder=self._folder, threads=self._n_threads())
        else:
            result = part(*args, **supplied, **params)
        require_result(part, result, n=n, m=m, n_clusters=self.n_clusters_)
        seconds = time.perf_counter() - start
        # The embedder runs twice if the number of clusters is estimated.
        self.seconds_[kind] = self.seconds_.get(kind, 0.0) + seconds
        if self.verbose:
            print(f"[{type(self).__name__}] {kind} {name}: {seconds:.2f} s", flush=True)
        return result

    def _kept(self, name: str, rows: Any) -> Any:
        """An array that is made in blocks, as a file of the folder or in memory; others as they are."""
        if not isinstance(rows, RowBlocks):
            return rows
        return write_array(self._folder, name, rows) if self._folder else rows.whole()

    def _rng(self, *key: str | int) -> np.random.Generator:
        """A generator of its own for every step: that of the pipeline's first trial from the same seed."""
        return rng_for(*self._seed, *key)

    def _n_threads(self) -> int:
        """One thread for None, all cores for -1, as in scikit-learn."""
        return os.cpu_count() or 1 if self.n_jobs is not None and self.n_jobs < 0 else max(1, self.n_jobs or 1)

    def _kmeans(self) -> tuple[str, Params]:
        return "kmeans", {"n_init": self.n_init, "max_iter": self.max_iter}


def _whole_seed(random_state: Any) -> int:
    """A whole number is the seed itself, as `seed` in a config is; a generator draws one."""
    generator = check_random_state(random_state)
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(generator.randint(np.iinfo(np.int32).max))


def _public(rows: Any) -> Any:
    """An array, or the Dask array of blocks that Dask holds."""
    return rows.array if isinstance(rows, Blocks) else rows


class Progress:
    """Prints the share of points that are coded, at each tenth."""

    def __init__(self, name: str) -> None:
        self._name, self._tenths = name, 0

    def __call__(self, share: float) -> None:
        if int(10 * share) > self._tenths:
            self._tenths = int(10 * share)
            print(f"[{self._name}] {share:.0%} of the points coded", flush=True)


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of numpy and scipy. A search for them takes milliseconds, so it is done once."""
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Run BLAS on one thread: with more, sums differ in their last bits."""
    return _blas().limit(limits=1, user_api="blas")


def _part(kind: str, name: str) -> Component:
    """The part of that name; ValueError, as scikit-learn raises for parameters, if there is none."""
    try:
        return find(kind, name)
    except LookupError as error:
        raise ValueError(str(error)) from None


class LandmarkClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SubspaceClustering):
    """Methods that label new points: code them by the landmarks, map the codes, take the nearest centre."""

    def transform(self, X: Any) -> Array:
        """Spectral coordinates (n x K) of new points; a Dask array of them for a Dask array."""
        check_is_fitted(self)
        if is_dask(X):
            return self._lazily("transform", X, row=(self._n_features_out,), dtype=np.float64)
        rows = self._rows(X, reset=False)
        vectors = np.empty((len(rows), self._n_features_out))
        with one_blas_thread():
            for block in row_blocks(*rows.shape):
                vectors[block] = self._embed_new(rows[block])
        return vectors

    def _embed_new(self, points: Array) -> Array:
        """Coordinates of new points; a landmark has those of training, where it is not used in its own code."""
        name, params = self._parts(len(points))["coder"]
        codes = find("coder", name)(points, self.landmarks_, threads=self._n_threads(), **params).matrix
        vectors = project_codes(codes, self._projection)
        if not self._own_points:
            place = self._find_landmarks(points)
            vectors[place >= 0] = self._landmark_vectors[place[place >= 0]]
        return vectors

    def _find_landmarks(self, points: Array) -> IndexArray:
        """The landmark that equals each point; -1 if none does."""
        known = {row.tobytes(): place for place, row in reversed(list(enumerate(self.landmarks_)))}
        places = np.full(len(points), -1)
        # Few points share their first coordinate with a landmark; compare these alone.
        for i in np.flatnonzero(np.isin(points[:, 0], self.landmarks_[:, 0])):
            places[i] = known.get(points[i].tobytes(), -1)
        return places

    def predict(self, X: Any) -> IndexArray:
        """The cluster of each new point; a Dask array of them for a Dask array."""
        if is_dask(X):
            check_is_fitted(self)
            return self._lazily("predict", X, row=(), dtype=np.int64)
        vectors, centres = self.transform(X), self.cluster_centers_
        with one_blas_thread():
            return np.argmin((centres**2).sum(axis=1) / 2 - vectors @ centres.T, axis=1)

    def _lazily(self, method: str, X: Any, *, row: tuple[int, ...], dtype: Any) -> Any:
        """What a method gives for each chunk of a Dask array, when it is computed."""
        from lssc.distributed.points import apply_to_rows

        require_rows(X, 1, type(self).__name__)
        validate_data(self, X, skip_check_array=True, reset=False)
        model = copy(self)
        for results_of_fit in ("labels_", "embedding_", "codes_"):
            vars(model).pop(results_of_fit, None)
        return apply_to_rows(getattr(model, method), X, row=row, dtype=dtype)

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[1]
