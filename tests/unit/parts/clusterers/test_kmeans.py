"""Which restart of K-means wins."""

import numpy as np
import pytest

from lssc.kernels import kmeans as kernel
from lssc.parts.clusterers.kmeans import TIED_SHARE, cluster_kmeans

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
    found = cluster_kmeans(X, n_clusters=3, n_init=len(costs), rng=np.random.default_rng(0))
    assert found.labels.tolist() == [winner] * 4
    assert found.info["inertia"] == pytest.approx(SQUARES + costs[winner])


def test_equal_points_have_a_winner():
    found = cluster_kmeans(np.ones((5, 2)), n_clusters=2, rng=np.random.default_rng(0))
    assert found.labels.tolist() == [0] * 5
    assert found.info["inertia"] == 0
