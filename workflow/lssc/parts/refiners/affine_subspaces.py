"""Refine clusters by affine subspaces: fit one to each cluster, move points to the nearest one, repeat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from lssc.errors import InputError
from lssc.linalg.subspaces import (
    CentredRows,
    Moments,
    fit_subspaces,
    label_points,
    leading_coordinates,
    nearest_subspaces,
    points_per_block,
)
from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.clusterers.kmeans import warm_up as warm_up_kmeans
from lssc.parts.params import Above, AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Clusters, IndexArray, Rows

# Restarts and iterations of the K-means behind each start: one of few restarts is often poor.
KMEANS = {"n_init": 10, "max_iter": 50}
# Principal coordinates in which starts are compared.
START_DIM = 200
# Rounds at the first threshold, at each later one, of each start, and on all points.
FIRST_ROUNDS, ROUNDS, START_ROUNDS, FULL_ROUNDS = 10, 3, 3, 3
# Share of points that move below which the next threshold begins, and below which the last one ends.
FEW_MOVED, HARDLY_ANY_MOVED = 2e-3, 1e-4
# Rows of the points whose moments are added at a time.
MOMENT_ROWS = 8192


@component("refiner", "affine_subspaces", warm_up=warm_up_kmeans, by_rows=True)
def refine_affine_subspaces(
    X: Rows,
    labels: IndexArray,
    *,
    n_clusters: int,
    coordinates: Array,
    starts: Annotated[int, AtLeast(1)] = 3,
    max_points: Annotated[int, AtLeast(1)] = 20_000,
    thresholds: tuple[Annotated[float, Above(0)], ...] = (2.0, 1.5, 1.0, 0.7, 0.5),
    within: Annotated[float, AtLeast(0)] = 1.0,
    leverage: bool = True,
    rng: np.random.Generator,
) -> Clusters:
    """Minimise the sum over points of min_k |x - mu_k|^2 - |U_k'(x - mu_k)|^2, U_k (D x d) orthonormal.

    1. Several starts on a sample of `max_points`: the labels given, then K-means on the spectral `coordinates`; three
       rounds of fitting and moving each, in 200 principal coordinates. The start of least distance goes on.
    2. d, shared by all clusters, is the mean number of eigenvalues of a cluster's covariance above a threshold times
       their mean. The `thresholds` fall, so that coarse subspaces settle before fine ones.
    3. All points go to the nearest subspace of the sample; then three rounds at the last threshold, in which
       moments are updated from the points that moved.

    `within` is the weight, in units of the noise, of the distance from the mean within a subspace, beyond twice its
    average: without it, clusters that lie one behind the other along an axis are merged. `leverage` corrects a point's
    distance to its own subspace, to which it has contributed; otherwise every point prefers its present cluster. Cost:
    n D^2 once, n K D d + K D^3 a round; memory K D^2 numbers and a block of points.
    """
    if not thresholds:
        raise InputError("refiner 'affine_subspaces': thresholds is empty; give at least one number above 0")
    rows = np.sort(rng.choice(len(X), min(len(X), max_points), replace=False))
    centred = CentredRows.by_sample(X, rows)
    sample = _Search(centred[rows], n_clusters, within, leverage)
    start = sample.best_start(labels[rows], coordinates[rows], starts, thresholds[0], rng)
    best = sample.fall(start, thresholds)
    if len(rows) < len(X):
        best = _Search(centred, n_clusters, within, leverage).extend(best, rows, thresholds)
    subspaces = centred.restored(fit_subspaces(best.moments, thresholds[-1]))
    info = {"dim": subspaces.bases.shape[2], "distance": best.distance * centred.scale**2, "n_iter": best.n_iter}
    # Labels follow from the subspaces alone, so that new points equal to old ones get the same.
    return Clusters(label_points(X, subspaces, within=within), info, subspaces=subspaces)


@dataclass
class _State:
    """Labels, the moments of their clusters, and the mean squared distance before the last move."""

    labels: IndexArray
    moments: Moments
    distance: float = np.inf
    n_iter: int = 0


@dataclass(frozen=True)
class _Search:
    X: Rows
    n_clusters: int
    within: float
    leverage: bool

    def start(self, labels: IndexArray, n_iter: int = 0) -> _State:
        moments = Moments.zero(self.n_clusters, self.X.shape[1])
        for begin in range(0, len(labels), MOMENT_ROWS):
            block = slice(begin, begin + MOMENT_ROWS)
            moments.add(self.X[block], labels[block])
        return _State(labels, moments, n_iter=n_iter)

    def best_start(
        self, labels: IndexArray, coordinates: Array, starts: int, threshold: float, rng: np.random.Generator
    ) -> _State:
        """The start of least distance, from `labels` and from K-means on the coordinates."""
        coarse, best = replace(self, X=leading_coordinates(self.X, START_DIM)), None
        for number in range(starts):
            if number:
                labels = cluster_kmeans(coordinates, n_clusters=self.n_clusters, rng=rng, **KMEANS).labels
            state = coarse.settle(coarse.start(labels), threshold, START_ROUNDS)
            if best is None or state.distance < best.distance:
                best = state
        return best if coarse.X is self.X else self.start(best.labels, best.n_iter)

    def fall(self, state: _State, thresholds: tuple[float, ...]) -> _State:
        for place, threshold in enumerate(thresholds):
            few = HARDLY_ANY_MOVED if place == len(thresholds) - 1 else FEW_MOVED
            state = self.settle(state, threshold, ROUNDS if place else FIRST_ROUNDS, few)
        return state

    def extend(self, sample: _State, rows: IndexArray, thresholds: tuple[float, ...]) -> _State:
        """Label all points by the subspaces of the sample, then settle at the last threshold."""
        labels, _ = nearest_subspaces(self.X, fit_subspaces(sample.moments, thresholds[-1]), within=self.within)
        labels[rows] = sample.labels
        state = self.start(labels, sample.n_iter)
        return self.settle(state, thresholds[-1], FULL_ROUNDS)

    def settle(self, state: _State, threshold: float, rounds: int, few: float = HARDLY_ANY_MOVED) -> _State:
        """Fit subspaces and move points, until less than a share of `few` moves."""
        labels, moments, n_iter = state.labels, state.moments, state.n_iter
        for _ in range(rounds):
            n_iter += 1
            subspaces = fit_subspaces(moments, threshold, dtype=np.float32)
            own = labels if self.leverage else None
            nearest, distance = nearest_subspaces(self.X, subspaces, labels=own, within=self.within)
            changed = np.flatnonzero(nearest != labels)
            size = points_per_block(subspaces)
            for begin in range(0, len(changed), size):
                block = changed[begin : begin + size]
                moved = self.X[block]
                moments.add(moved, labels[block], -1)
                moments.add(moved, nearest[block])
            labels = nearest
            if len(changed) < few * len(labels):
                break
        return _State(labels, moments, distance, n_iter)
