"""Refine clusters by affine subspaces: fit one to each cluster, move points to the nearest one, repeat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np

from lssc.blocks import Blocks, Sums, as_blocks
from lssc.errors import InputError
from lssc.linalg.subspaces import (
    Frame,
    Moments,
    fit_subspaces,
    label_points,
    leading_coordinates,
    nearest_subspaces,
)
from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.clusterers.kmeans import warm_up as warm_up_kmeans
from lssc.parts.params import Above, AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Clusters, IndexArray, Rows, Subspaces

# Restarts and iterations of the K-means behind each start: one of few restarts is often poor.
KMEANS = {"n_init": 10, "max_iter": 50}
# Principal coordinates in which starts are compared.
START_DIM = 200
# Rounds at the first threshold, at each later one, of each start, and on all points.
FIRST_ROUNDS, ROUNDS, START_ROUNDS, FULL_ROUNDS = 10, 3, 3, 3
# Share of points that move below which the next threshold begins, and below which the last one ends.
FEW_MOVED, HARDLY_ANY_MOVED = 2e-3, 1e-4
# Numbers of a block (64 MB), and rows of it whose moments are added at a time.
NUMBERS_PER_BLOCK, MOMENT_ROWS = 2**23, 8192


@component("refiner", "affine_subspaces", warm_up=warm_up_kmeans, by_rows=True)
def refine_affine_subspaces(
    X: Rows | Blocks,
    labels: IndexArray | Blocks,
    *,
    n_clusters: int,
    coordinates: Array | Blocks,
    starts: Annotated[int, AtLeast(1)] = 3,
    max_points: Annotated[int, AtLeast(1)] = 20_000,
    thresholds: tuple[Annotated[float, Above(0)], ...] = (2.0, 1.5, 1.0, 0.7, 0.5),
    within: Annotated[float, AtLeast(0)] = 1.0,
    leverage: bool = True,
    rng: np.random.Generator,
) -> Clusters:
    """Minimise the sum over points of min_k |x - mu_k|^2 - |U_k'(x - mu_k)|^2, U_k (D x d) orthonormal.

    1. Several starts on a sample of `max_points`, the labels given and K-means on the spectral `coordinates`: three
       rounds of fitting and moving each, in 200 principal coordinates. The start of least distance goes on.
    2. d, shared by all clusters, is the mean number of eigenvalues of a cluster's covariance above a threshold times
       their mean. The `thresholds` fall, so that coarse subspaces settle before fine ones.
    3. All points go to the nearest subspace of the sample; then up to three rounds at the last threshold.

    `within` is the weight, in units of the noise, of the distance from the mean within a subspace, beyond twice its
    average: without it, clusters that lie one behind the other along an axis are merged. `leverage` corrects a point's
    distance to its own subspace, to which it has contributed; otherwise every point prefers its present cluster. Cost:
    n D^2 once, n K D d + K D^3 a round; memory K D^2 + 2 n numbers and a block of points.
    """
    if not thresholds:
        raise InputError("refiner 'affine_subspaces': thresholds is empty; give at least one number above 0")
    blocks = as_blocks(X, NUMBERS_PER_BLOCK)
    rows = np.sort(rng.choice(len(blocks), min(len(blocks), max_points), replace=False))
    options = {"n_clusters": n_clusters, "within": within, "leverage": leverage}
    on_sample = partial(_search_sample, options=options, starts=starts, thresholds=thresholds, rng=rng)
    frame, best = blocks.gather(on_sample, rows, labels, coordinates)
    if len(rows) < len(blocks):
        best = _Search(blocks, frame, **options).extend(best, thresholds[-1])
    subspaces = frame.restored(fit_subspaces(best.moments, thresholds[-1]))
    info = {"dim": subspaces.bases.shape[2], "distance": best.distance * frame.scale**2, "n_iter": best.n_iter}
    # Labels follow from the subspaces alone, so that new points equal to old ones get the same.
    label = partial(label_points, subspaces=subspaces, within=within)
    return Clusters(blocks.map(label, row=(), dtype=np.int64), info, subspaces=subspaces)


@dataclass
class _State:
    """The cluster and the squared distance of each point (n x 2), and the moments of the clusters."""

    assigned: Any
    moments: Moments
    distance: float = np.inf
    n_iter: int = 0


def _search_sample(
    points: Array,
    labels: IndexArray,
    coordinates: Array,
    *,
    options: dict[str, Any],
    starts: int,
    thresholds: tuple[float, ...],
    rng: np.random.Generator,
) -> tuple[Frame, _State]:
    """The frame of the sample, and what its best start comes to at falling thresholds."""
    frame = Frame.of_points(points)
    centred = frame.centred(points)
    coarse = leading_coordinates(centred, START_DIM)
    fine, quick = (_Search(as_blocks(array, NUMBERS_PER_BLOCK), None, **options) for array in (centred, coarse))
    best = quick.best_start(labels, coordinates, starts, thresholds[0], rng)
    if coarse is not centred:
        best = fine.start(best.assigned, best.n_iter)
    state = fine.fall(best, thresholds)
    return frame, replace(state, assigned=None)


@dataclass(frozen=True)
class _Search:
    blocks: Blocks
    frame: Frame | None
    n_clusters: int
    within: float
    leverage: bool

    def start(self, assigned: Any, n_iter: int = 0) -> _State:
        add = partial(_moments, frame=self.frame, n_clusters=self.n_clusters)
        return _State(assigned, Moments(*self.blocks.sum(add, assigned)), n_iter=n_iter)

    def best_start(
        self, labels: IndexArray, coordinates: Array, starts: int, threshold: float, rng: np.random.Generator
    ) -> _State:
        """The start of least distance, from `labels` and from K-means on the coordinates."""
        best = None
        for number in range(starts):
            if number:
                labels = cluster_kmeans(coordinates, n_clusters=self.n_clusters, rng=rng, **KMEANS).labels
            state = self.settle(self.start(np.column_stack([labels, labels])), threshold, START_ROUNDS)
            if best is None or state.distance < best.distance:
                best = state
        return best

    def fall(self, state: _State, thresholds: tuple[float, ...]) -> _State:
        for place, threshold in enumerate(thresholds):
            few = HARDLY_ANY_MOVED if place == len(thresholds) - 1 else FEW_MOVED
            state = self.settle(state, threshold, ROUNDS if place else FIRST_ROUNDS, few)
        return state

    def extend(self, sample: _State, threshold: float) -> _State:
        """Label all points by the subspaces of the sample, then settle."""
        assigned = self.assign(fit_subspaces(sample.moments, threshold))
        return self.settle(self.start(assigned, sample.n_iter), threshold, FULL_ROUNDS)

    def settle(self, state: _State, threshold: float, rounds: int, few: float = HARDLY_ANY_MOVED) -> _State:
        """Fit subspaces and move points, until less than a share of `few` moves."""
        before, moments, n, n_iter = state.assigned, state.moments, len(self.blocks), state.n_iter
        for _ in range(rounds):
            n_iter += 1
            subspaces = fit_subspaces(moments, threshold, dtype=np.float32)
            after = self.assign(subspaces, *([before] if self.leverage else []))
            add = partial(_changes, frame=self.frame, n_clusters=self.n_clusters)
            *changes, n_moved, distance = self.blocks.sum(add, before, after)
            moments = moments + Moments(*changes)
            before = after
            if n_moved < few * n:
                break
        return _State(before, moments, float(distance) / n, n_iter)

    def assign(self, subspaces: Subspaces, *own: Any) -> Any:
        """The nearest subspace of each point and the squared distance; leverage is corrected if `own` is given."""
        nearest = partial(_assign, frame=self.frame, subspaces=subspaces, within=self.within)
        return self.blocks.map(nearest, *own, row=(2,), dtype=np.float32, again=True)


def _assign(
    block: Array, assigned: Array | None = None, *, frame: Frame | None, subspaces: Subspaces, within: float
) -> Array:
    own = None if assigned is None else _labels(assigned)
    nearest, distances = nearest_subspaces(_centred(block, frame), subspaces, labels=own, within=within)
    return np.column_stack([nearest, distances]).astype(np.float32)


def _moments(block: Array, assigned: Array, *, frame: Frame | None, n_clusters: int) -> Sums:
    moments = Moments.zero(n_clusters, block.shape[1])
    for begin in range(0, len(block), MOMENT_ROWS):
        part = slice(begin, begin + MOMENT_ROWS)
        moments.add(_centred(block[part], frame), _labels(assigned[part]))
    return moments.counts, moments.sums, moments.squares


def _changes(block: Array, before: Array, after: Array, *, frame: Frame | None, n_clusters: int) -> Sums:
    """What the moments gain by the points that moved, how many these are, and the sum of all squared distances."""
    moved = np.flatnonzero(before[:, 0] != after[:, 0])
    moments, points = Moments.zero(n_clusters, block.shape[1]), _centred(block[moved], frame)
    moments.add(points, _labels(before[moved]), -1)
    moments.add(points, _labels(after[moved]))
    return (
        moments.counts,
        moments.sums,
        moments.squares,
        np.array(len(moved)),
        np.array(after[:, 1].sum(dtype=np.float64)),
    )


def _labels(assigned: Array) -> IndexArray:
    return assigned[:, 0].astype(np.int64)


def _centred(block: Array, frame: Frame | None) -> Array:
    return block if frame is None else frame.centred(block)
