"""K-means centres, or the points nearest to them: landmarks where the points are."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.blocks import as_blocks, sample_rows
from lssc.linalg.nearest import nearest_centres
from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.parts.sampling import distinct_rows
from lssc.types import Array, IndexArray, Info, Landmarks, Rows

# Points in a batch, for each centre.
BATCH_PER_CENTRE = 3
# Points compared with each centre, at least, to find one near a centre that is a landmark itself.
POINTS_PER_CENTRE = 4


def warm_up() -> None:
    import sklearn.cluster
    import sklearn.metrics  # noqa: F401


@component("selector", "kmeans", warm_up=warm_up, by_rows=True)
def select_kmeans(
    X: Rows,
    m: int,
    *,
    centres: bool = False,
    batches: bool = True,
    max_iter: Annotated[int, AtLeast(1)] = 20,
    max_points: Annotated[int, AtLeast(1)] = 20_000,
    rng: np.random.Generator,
) -> Landmarks:
    """The points nearest to the m centres of mini-batch K-means (Sculley 2010), `max_iter` passes.

    With `centres`, the landmarks are the centres themselves. Without `batches`, each pass assigns all points and then
    moves the centres, from random points on (Lloyd 1982). Beyond `max_points` a uniform sample of max(m, max_points)
    points is used. Cost: at most m D max_iter operations per point of the sample.
    """
    pool = sample_rows(len(X), max(m, max_points), rng=rng)
    options = {"pool": pool, "m": m, "centres": centres, "batches": batches, "max_iter": max_iter, "rng": rng}
    return as_blocks(X).gather(partial(_select, **options), pool)


def _select(
    sample: Array,
    *,
    pool: IndexArray,
    m: int,
    centres: bool,
    batches: bool,
    max_iter: int,
    rng: np.random.Generator,
) -> Landmarks:
    from sklearn.metrics import pairwise_distances_argmin

    found, info = (_by_batches if batches else _by_passes)(sample, m, max_iter=max_iter, rng=rng)
    # Rows near centres that are landmarks themselves only serve pictures: one of some of the points will do.
    step = len(sample) // (POINTS_PER_CENTRE * m) + 1 if centres else 1
    rows = distinct_rows(pool, step * pairwise_distances_argmin(found, sample[::step]), m, rng=rng)
    return Landmarks(rows, {**info, "sampled": len(pool)}, points=found if centres else None)


def _by_batches(X: Array, m: int, *, max_iter: int, rng: np.random.Generator) -> tuple[Array, Info]:
    from sklearn.cluster import MiniBatchKMeans

    model = MiniBatchKMeans(
        m,
        init="random",
        n_init=1,
        max_iter=max_iter,
        batch_size=min(len(X), max(1024, BATCH_PER_CENTRE * m)),
        random_state=int(rng.integers(2**31)),
    ).fit(X)
    return model.cluster_centers_, {"n_iter": int(model.n_iter_)}


def _by_passes(X: Array, m: int, *, max_iter: int, rng: np.random.Generator) -> tuple[Array, Info]:
    """Lloyd's iteration; a centre without points stays where it is."""
    n, centres = len(X), X[rng.choice(len(X), m, replace=False)]
    labels, changed, n_iter = np.full(n, -1), True, 0
    while changed and n_iter < max_iter:
        before, labels, n_iter = labels, nearest_centres(X, centres), n_iter + 1
        changed = bool((labels != before).any())
        members = sparse.csr_matrix((np.ones(n), labels, np.arange(n + 1)), shape=(n, m))
        counts = np.bincount(labels, minlength=m)
        used = counts > 0
        centres[used] = (members.T @ X)[used] / counts[used, None]
    # Landmarks need no converged centres: five passes are the method, not a failure.
    return centres, {"n_iter": n_iter}
