"""k-FSC (Fan 2021): factorise the points into one block of atoms for each cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np

from lssc.blocks import as_blocks, sample_rows
from lssc.linalg.block_codes import Atoms
from lssc.linalg.factorization import Factorization, factorize, factorize_batches, nearest_blocks, start_atoms
from lssc.linalg.scaling import unit_rows
from lssc.parts.methods.spherical_kmeans import cluster_directions
from lssc.parts.params import Above, AtLeast, AtMost
from lssc.parts.registry import component
from lssc.parts.selectors.kmeans import select_kmeans
from lssc.types import Array, Clusters, IndexArray, Rows, fits_in_memory

# Points, at most, from which the atoms start.
START_POINTS = 20_000
# Points from which K-means finds landmarks, for each landmark, and its passes over them.
POINTS_PER_LANDMARK, LANDMARK_PASSES = 5, 5
# Share of points without a code from which on lam is halved, and how often it can be.
MAX_UNCODED, MAX_HALVINGS = 0.1, 30


def warm_up() -> None:
    cluster_kfsc(np.eye(4), n_clusters=2, n_init=1, max_iter=1, rng=np.random.default_rng(0))


@component("method", "kfsc", warm_up=warm_up, by_rows=True)
def cluster_kfsc(
    X: Rows,
    *,
    n_clusters: int,
    variant: Literal["full", "minibatch", "landmarks"] = "full",
    dim: Annotated[int, AtLeast(1)] = 30,
    lam: Annotated[float, Above(0)] = 0.5,
    n_init: Annotated[int, AtLeast(1), AtMost(100_000)] = 10,
    max_iter: Annotated[int, AtLeast(1)] = 200,
    tol: Annotated[float, AtLeast(0)] = 1e-4,
    batch_size: Annotated[int, AtLeast(1)] = 1000,
    passes: Annotated[int, AtLeast(1)] = 5,
    landmarks: Annotated[int, AtLeast(1)] = 500,
    rng: np.random.Generator,
) -> Clusters:
    """Minimise |X - CA|^2 / 2 + lam sum_ij |c_ij| over codes C and atoms A; label points by the residual of each block.

    Points are scaled to unit norm. A (K dim x D) has `dim` atoms of length at most 1 for each cluster, at most half of
    D; c_ij is the code of point i in block j. lam is halved if a tenth of the points has no code. "full" makes up to
    `max_iter` rounds over all points, "minibatch" `passes` over batches; "landmarks" is "full" on K-means centres, so
    many for each cluster. Cost: K dim D per point and round; memory: the nonzero codes, of a batch with "minibatch".
    """
    points = unit_rows(X[0 : len(X)]) if fits_in_memory(X.shape) else UnitRows(X)
    trained = _centres(points, min(len(X), landmarks * n_clusters), rng) if variant == "landmarks" else points
    start = _start(trained, n_clusters, min(dim, max(1, X.shape[1] // 2)), n_init, rng)
    if variant == "minibatch":
        fit = partial(factorize_batches, trained, start, passes=passes, batch_size=batch_size, rng=rng)
    else:
        fit = partial(factorize, trained, start, max_iter=max_iter, tol=tol)
    result, lam = _halve_lam(fit, lam)
    dictionary = result.atoms.rows.reshape(n_clusters, -1, X.shape[1])
    info = {"n_iter": len(result.objectives), "converged": result.converged, "objective": result.objectives[-1]}
    return Clusters(nearest_blocks(points, dictionary), {**info, "lam": lam}, dictionary=dictionary)


@dataclass(frozen=True)
class UnitRows:
    """Rows of X at unit norm, scaled as they are read."""

    X: Rows

    @property
    def shape(self) -> tuple[int, ...]:
        return self.X.shape

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: slice | IndexArray) -> Array:
        return unit_rows(self.X[rows])


def _centres(points: Rows, m: int, rng: np.random.Generator) -> Array:
    """Centres of K-means at unit norm; the points themselves if there are no more."""
    if m == len(points):
        return points[0:m]
    options = {"max_iter": LANDMARK_PASSES, "max_points": POINTS_PER_LANDMARK * m, "centres": True, "batches": False}
    return unit_rows(select_kmeans(points, m, rng=rng, **options).points)


def _start(points: Rows, n_clusters: int, dim: int, n_init: int, rng: np.random.Generator) -> Atoms:
    """Atoms from the points nearest to the centres of spherical K-means, the best of `n_init` starts on a sample."""
    sample = as_blocks(points)[sample_rows(len(points), START_POINTS, rng=rng)]
    return start_atoms(sample, cluster_directions(sample, n_clusters=n_clusters, n_init=n_init, rng=rng).centres, dim)


def _halve_lam(fit: Callable[..., Factorization], lam: float) -> tuple[Factorization, float]:
    """Fit with lam, halved until fewer than a tenth of the points have no code; also the last lam."""
    for halvings in range(MAX_HALVINGS + 1):
        result = fit(lam=lam / 2**halvings, max_uncoded=MAX_UNCODED)
        if result.uncoded < MAX_UNCODED:
            break
    return result, lam / 2**halvings
