"""Which restart of K-means wins, and what happens to more points than starts are compared on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.kernels import kmeans as kernel
from lssc.parts.clusterers.kmeans import TIED_SHARE, best_of_starts, cluster_kmeans

X = np.array([[-3.0], [-1.0], [1.0], [3.0]])
SQUARES = 20.0


@pytest.mark.parametrize(
    ("costs", "winner"),
    [
        ([-5.0, -5.0, -5.0], 0),
        ([-5.0, -5.0 - 0.9 * TIED_SHARE * SQUARES, -4.0], 0),
        ([-5.0, -5.0 - 1.1 * TIED_SHARE * SQUARES, -4.0], 1),
        ([-5.0, -6.0, -7.0], 2),
    ],
    ids=["equal", "equal but for rounding", "better", "best last"],
)
def test_first_of_tied_restarts_wins(costs, winner, monkeypatch):
    number = iter(range(len(costs)))

    def refine(points, centres, labels, tolerance, max_iter, unit_length):
        labels[:] = i = next(number)
        return costs[i], 1, True

    monkeypatch.setattr(kernel, "refine_centres", refine)
    found = best_of_starts(X.T, 3, n_init=len(costs), max_iter=9, rng=np.random.default_rng(0))
    assert found.labels.tolist() == [winner] * 4
    assert found.info["inertia"] == pytest.approx(SQUARES + costs[winner])


def test_equal_points_have_a_winner():
    found = cluster_kmeans(np.ones((5, 2)), n_clusters=2, rng=np.random.default_rng(0))
    assert found.labels.tolist() == [0] * 5
    assert found.info["inertia"] == 0


@pytest.fixture
def blobs(rng):
    return np.concatenate([rng.normal(centre, 1.0, (400, 2)) for centre in ((0, 0), (9, 0), (0, 9))])


@pytest.mark.parametrize("numbers", [1, 64, 2**20])
def test_sample_decides_on_the_start_and_all_points_on_the_centres(blobs, numbers, monkeypatch):
    whole = cluster_kmeans(blobs, n_clusters=3, rng=np.random.default_rng(0))
    monkeypatch.setattr("lssc.parts.clusterers.kmeans.MAX_SAMPLE", 200)
    monkeypatch.setattr("lssc.blocks.NUMBERS_PER_BLOCK", numbers)
    found = cluster_kmeans(blobs, n_clusters=3, rng=np.random.default_rng(1))
    order = [int(np.argmin(((found.centres - centre) ** 2).sum(axis=1))) for centre in whole.centres]
    assert_allclose(found.centres[order], whole.centres, atol=1e-9)
    assert_array_equal(np.argsort(order)[found.labels], whole.labels)
    assert found.info["inertia"] == pytest.approx(whole.info["inertia"])
    assert found.info["converged"]


def test_centre_without_points_stays(monkeypatch):
    monkeypatch.setattr("lssc.parts.clusterers.kmeans.MAX_SAMPLE", 4)
    found = cluster_kmeans(np.zeros((9, 2)), n_clusters=2, rng=np.random.default_rng(0))
    assert found.labels.tolist() == [0] * 9
    assert found.info["inertia"] == 0
    assert np.isfinite(found.centres).all()
