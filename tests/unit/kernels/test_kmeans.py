"""K-means: as good as scikit-learn's, also on few or equal points."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from lssc.kernels import kmeans as kernel
from lssc.parts.clusterers.kmeans import cluster_kmeans


def inertia(X, labels):
    return sum(((X[labels == k] - X[labels == k].mean(axis=0)) ** 2).sum() for k in np.unique(labels))


def blobs(n, K, D, seed, spread=0.6):
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((K, D))
    return centres[rng.integers(K, size=n)] + spread * rng.standard_normal((n, D))


@pytest.mark.parametrize(("n", "K", "D"), [(2000, 5, 5), (1500, 10, 10), (700, 3, 1), (513, 4, 2), (1025, 7, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_inertia_is_as_low_as_that_of_scikit_learn(n, K, D, seed):
    X = blobs(n, K, D, seed)
    ours = cluster_kmeans(X, n_clusters=K, n_init=20, rng=np.random.default_rng(seed))
    with threadpool_limits(1):
        theirs = KMeans(K, n_init=20, max_iter=100, random_state=seed).fit(X)
    assert ours.info["inertia"] <= theirs.inertia_ * 1.01
    assert ours.info["inertia"] == pytest.approx(inertia(X, ours.labels), rel=1e-3)
    assert ours.info["converged"]


def test_converges_to_nearest_centres_and_means():
    X = blobs(3000, 6, 4, 0)
    columns, centres, labels = np.ascontiguousarray(X.T), X[:6].copy(), np.empty(len(X))
    cost, _, converged = kernel.refine_centres(columns, centres, labels, 0.0, 300, False)
    distances = ((X[:, None] - centres) ** 2).sum(axis=2)
    assert converged
    assert_array_equal(labels, distances.argmin(axis=1))
    assert cost + (X**2).sum() == pytest.approx(distances.min(axis=1).sum(), rel=1e-10)
    for k in range(6):
        np.testing.assert_allclose(centres[k], X[labels == k].mean(axis=0), atol=1e-12)


def test_stops_at_max_iter():
    found = cluster_kmeans(
        blobs(2000, 5, 3, 1, spread=2.0), n_clusters=5, n_init=3, max_iter=2, rng=np.random.default_rng(0)
    )
    assert found.info["n_iter"] == 2
    assert not found.info["converged"]


def test_separates_clusters_far_from_the_origin():
    X = blobs(600, 3, 2, 2, spread=0.01)
    near, far = (cluster_kmeans(X + shift, n_clusters=3, rng=np.random.default_rng(0)).labels for shift in (0.0, 1e6))
    assert adjusted_rand_score(near, far) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("X", [np.zeros((9, 2)), np.repeat(np.eye(3), 4, axis=0), np.eye(5)[:, :1], np.eye(4)])
@pytest.mark.parametrize("K", [1, 3, 4])
def test_labels_few_or_equal_points(X, K):
    found = cluster_kmeans(X, n_clusters=K, rng=np.random.default_rng(0))
    assert found.labels.shape == (len(X),)
    assert 0 <= found.labels.min() <= found.labels.max() < K
    assert len(set(map(tuple, np.c_[X, found.labels]))) == len(np.unique(X, axis=0))
    assert np.isfinite(found.info["inertia"])


def test_seeds_are_drawn_by_squared_distance():
    """Of two points at distances 1 and 3 from the first centre, the far one is drawn nine times in ten."""
    X = np.array([[0.0, 1.0, 3.0]])
    drawn = []
    for share in np.linspace(0.005, 0.995, 100):
        centres = np.empty((2, 1))
        kernel.seed_centres(X, np.array([0.0, share]), centres)
        drawn.append(centres[1, 0])
    assert drawn.count(1.0) == 10
    assert drawn.count(3.0) == 90


def test_restarts_come_from_the_rng_and_the_best_is_kept():
    vectors = np.random.default_rng(0).standard_normal((80, 3))

    def run(n_init, seed):
        return cluster_kmeans(vectors, n_clusters=6, n_init=n_init, rng=np.random.default_rng(seed))

    single = [run(1, seed) for seed in range(5)]
    assert len({result.info["inertia"] for result in single}) > 1
    assert run(10, 0).info["inertia"] <= single[0].info["inertia"] + 1e-9


def test_centre_of_an_empty_cluster_stays():
    centres = np.array([[0.0], [1.0], [50.0]])
    kernel.refine_centres(np.array([[0.0, 0.2, 1.0, 1.2]]), centres, np.empty(4), 0.0, 10, False)
    np.testing.assert_allclose(centres.ravel(), [0.1, 1.1, 50.0])
