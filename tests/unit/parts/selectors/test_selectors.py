import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from lssc.parts.selectors.farthest_first import select_farthest_first
from lssc.parts.selectors.fasterpam import select_fasterpam
from lssc.parts.selectors.kmeans import select_kmeans
from lssc.parts.selectors.kmedoids import select_kmedoids
from lssc.parts.selectors.kmedoids_full import select_kmedoids_full
from lssc.parts.selectors.uniform import select_uniform

every_medoid_selector = pytest.mark.parametrize("select", [select_kmedoids, select_kmedoids_full, select_fasterpam])


@every_medoid_selector
@pytest.mark.parametrize("metric", ["cityblock", "euclidean", "cosine"])
def test_medoids_find_separated_groups(select, metric, rng):
    angles = np.repeat([0.1, 1.7, 3.3, 4.9], 10) + 0.05 * rng.standard_normal(40)
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = select(X, 4, metric=metric, rng=rng)
    assert sorted(found.indices // 10) == [0, 1, 2, 3]


def test_fasterpam_ends_where_no_swap_helps(rng):
    X = rng.standard_normal((25, 2))
    distances = cdist(X, X, "cityblock")
    chosen = select_fasterpam(X, 3, rng=rng).indices
    cost = distances[:, chosen].min(axis=1).sum()
    for i, j in itertools.product(range(3), range(25)):
        swapped = [*np.delete(chosen, i), j]
        assert distances[:, swapped].min(axis=1).sum() >= cost - 1e-5


@every_medoid_selector
def test_medoid_selectors_record_cost_and_convergence(select, X, rng):
    info = select(X, 5, rng=rng).info
    assert info["cost"] > 0
    assert info["sampled"] == 60
    assert info["converged"]
    assert not select(X, 5, max_iter=1, rng=rng).info["converged"]


def test_kmeans_gives_centres_or_the_points_nearest_to_them(X):
    centres, rows = (select_kmeans(X, 6, centres=c, rng=np.random.default_rng(3)) for c in (True, False))
    nearest = cdist(centres.points, X).argmin(axis=1)
    assert set(nearest) <= set(rows.indices)
    assert rows.points is None
    assert len(set(centres.indices)) == 6
    # Centres are means of points: within their range, not points themselves.
    assert (centres.points.min(axis=0) >= X.min(axis=0)).all()
    assert (centres.points.max(axis=0) <= X.max(axis=0)).all()
    assert (cdist(centres.points, X).min(axis=1) > 1e-3).all()


def test_kmeans_passes_are_those_of_lloyd(X):
    """Each centre is the mean of the points that were nearest to it after the pass before."""
    before, after = (
        select_kmeans(X, 6, centres=True, batches=False, max_iter=k, rng=np.random.default_rng(3)) for k in (1, 2)
    )
    labels = cdist(X, before.points).argmin(axis=1)
    assert_allclose(after.points, [X[labels == k].mean(axis=0) for k in range(6)], atol=1e-12)
    assert after.info["n_iter"] == 2
    ended = select_kmeans(X, 6, centres=True, batches=False, max_iter=100, rng=np.random.default_rng(3))
    assert 2 < ended.info["n_iter"] < 100
    nearest = cdist(X, ended.points).argmin(axis=1)
    assert_allclose(ended.points, [X[nearest == k].mean(axis=0) for k in range(6)], atol=1e-12)


def test_farthest_first_starts_at_a_random_point(X):
    starts = {int(select_farthest_first(X, 2, lam=10.0, rng=np.random.default_rng(s)).indices[0]) for s in range(20)}
    assert len(starts) > 10


def test_uniform_takes_all_points_equally_often(X):
    draws = [select_uniform(X, 15, rng=np.random.default_rng(s)).indices for s in range(400)]
    counts = np.bincount(np.concatenate(draws), minlength=60)
    assert counts.sum() == 6000
    # Mean 100, five standard deviations of 8.7 on either side.
    assert counts.min() > 56
    assert counts.max() < 144
