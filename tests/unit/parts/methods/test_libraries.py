"""Methods called from other libraries: mini-batch K-means, Gaussian mixture, neighbour graphs, UMAP."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from lssc.data.datasets.synthetic import synthetic
from lssc.linalg.scaling import unit_rows
from lssc.metrics import scores
from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.compiling import UNCACHED
from lssc.parts.methods import umap_hdbscan as umap_part
from lssc.parts.methods.gmm import cluster_gaussians
from lssc.parts.methods.knn_spectral import cluster_neighbours, neighbour_graph
from lssc.parts.methods.minibatch_kmeans import cluster_batches
from lssc.parts.methods.umap_hdbscan import cluster_umap
from lssc.parts.peers import FEW, bounded, near_neighbours

METHODS = {
    "minibatch_kmeans": cluster_batches,
    "gmm": cluster_gaussians,
    "knn_spectral": cluster_neighbours,
    "umap_hdbscan": cluster_umap,
}
every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def generator(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def blobs():
    """300 points around three centres in R^6, with their labels."""
    labels = generator(1).permutation(np.arange(300) % 3)
    return 4 * np.eye(3, 6)[labels] + 0.5 * generator(2).standard_normal((300, 6)), labels


@pytest.fixture(scope="module")
def many():
    """Large enough for BLAS and OpenMP to use several threads."""
    return unit_rows(synthetic(600, n_clusters=2, ambient_dim=60, subspace_dim=5, rng=generator(0)).X)


@every_method
def test_finds_separate_blobs(method, blobs):
    X, labels = blobs
    assert scores(labels, method(X, n_clusters=3, rng=generator()).labels)["accuracy"] > 0.99


@every_method
@pytest.mark.parametrize("factor", [2.0**60, 2.0**-60])
def test_scale_of_points_does_not_count(method, factor, blobs):
    one, other = (method(X, n_clusters=3, rng=generator()).labels for X in (blobs[0], factor * blobs[0]))
    assert_array_equal(one, other)


@every_method
def test_labels_do_not_depend_on_threads(method, many):
    import numba

    labels, before = [], numba.get_num_threads()
    for threads in (1, min(2, before)):
        numba.set_num_threads(threads)
        with threadpool_limits(threads):
            labels.append(method(many, n_clusters=4, rng=generator()).labels)
    numba.set_num_threads(before)
    assert_array_equal(*labels)


@every_method
def test_generator_decides(method):
    X = generator(3).standard_normal((200, 10))
    one, same, other = (method(X, n_clusters=4, rng=generator(seed)).labels for seed in (0, 0, 1))
    assert_array_equal(one, same)
    assert (one != other).any()


def test_bounded_numbers_are_exact():
    X = np.array([[3e100, -7e80], [0.1, 0.0]])
    scaled = bounded(X)
    assert 0.5 <= np.abs(scaled).max() < 1
    factor = X[0, 0] / scaled[0, 0]
    assert np.log2(factor) == np.round(np.log2(factor))
    assert_array_equal(scaled * factor, X)
    assert_array_equal(bounded(np.zeros((2, 2))), 0)


def test_gaussians_have_shapes_that_kmeans_lacks():
    """A tight cluster inside a broad one."""
    labels = np.arange(600) % 2
    X = np.where(labels[:, None], [2.0, 0.0] + 0.1 * generator(0).standard_normal((600, 2)), 0)
    X += np.where(labels[:, None], 0, 2 * generator(1).standard_normal((600, 2)))
    assert scores(labels, cluster_gaussians(X, n_clusters=2, rng=generator()).labels)["accuracy"] > 0.95
    assert scores(labels, cluster_kmeans(X, n_clusters=2, rng=generator()).labels)["accuracy"] < 0.9


def test_gaussians_use_the_first_principal_components(blobs):
    """Beyond `dim` components there is only noise here, which the labels must not depend on."""
    X, labels = blobs
    wide = np.concatenate([X, 1e-3 * generator(3).standard_normal((300, 200))], axis=1)
    found = cluster_gaussians(wide, n_clusters=3, dim=4, rng=generator()).labels
    assert scores(labels, found)["accuracy"] > 0.99


def test_graph_holds_the_nearest_neighbours(blobs):
    X, _ = blobs
    W = neighbour_graph(X, 7, rng=generator())
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    exact = np.zeros_like(distances)
    np.put_along_axis(exact, np.argsort(distances, axis=1)[:, :7], 1, axis=1)
    assert not W.diagonal().any()
    assert_array_equal(np.diff(W.indptr), 7)
    assert (W.toarray() == exact).mean() > 0.999


@pytest.mark.slow
def test_approximate_neighbours_are_almost_the_nearest():
    points = generator(0).standard_normal((FEW + 1, 5)).astype(np.float32)
    nearest, distances = near_neighbours(points, 8, rng=generator())
    exact = NearestNeighbors(n_neighbors=8).fit(points).kneighbors(points, return_distance=False)
    assert_array_equal(nearest[:, 0], np.arange(len(points)))
    assert np.mean([len(np.intersect1d(*rows)) / 8 for rows in zip(nearest, exact, strict=True)]) > 0.98
    assert_allclose(distances[:, 3], np.linalg.norm(points - points[nearest[:, 3]], axis=1), rtol=1e-4)


def test_graph_of_duplicates_has_no_loops_and_at_most_t_edges():
    W = neighbour_graph(np.repeat(np.eye(3), 20, axis=0), 4, rng=generator())
    assert not W.diagonal().any()
    assert np.diff(W.indptr).max() <= 4


def test_spectral_clustering_follows_curved_clusters():
    """Two rings, one inside the other."""
    labels = np.arange(500) % 2
    angle = 2 * np.pi * generator(0).random(500)
    X = (1 + 2 * labels[:, None]) * np.column_stack([np.cos(angle), np.sin(angle)])
    assert scores(labels, cluster_neighbours(X, n_clusters=2, rng=generator()).labels)["accuracy"] == 1


@pytest.mark.slow
def test_umap_takes_either_clusterer(blobs):
    X, labels = blobs
    found = cluster_umap(X, n_clusters=3, clusterer="kmeans", rng=generator())
    assert scores(labels, found.labels)["accuracy"] > 0.99
    assert found.centres.shape == (3, 10)


class FixedLabels:
    """Stands for HDBSCAN: returns the labels that a test sets."""

    labels = np.array([])

    def __init__(self, **options):
        pass

    def fit_predict(self, Y):
        return self.labels


@pytest.mark.parametrize(
    ("found", "expected", "n_found"),
    [
        ([2, 2, 2, 0, 0, -1, 1, -1], [0, 0, 0, 1, 1, 1, 1, 0], 3),
        ([0, 0, 0, -1, -1, -1, -1, -1], [0] * 8, 1),
        ([-1] * 8, [0] * 8, 0),
    ],
    ids=["more clusters than K", "fewer", "noise only"],
)
def test_noise_and_small_clusters_join_the_nearest_of_k(found, expected, n_found, monkeypatch):
    import sklearn.cluster

    Y = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [4.0], [9.0], [1.0]])
    monkeypatch.setattr(sklearn.cluster, "HDBSCAN", FixedLabels)
    monkeypatch.setattr(FixedLabels, "labels", np.array(found))
    labels, info = umap_part._cluster_by_density(Y, 2, 2)
    assert_array_equal(labels, expected)
    assert info == {"n_found": n_found, "n_noise": found.count(-1)}


@pytest.mark.slow
@pytest.mark.parametrize(("min_share", "n_found"), [(0.3, 3), (0.5, 0)])
def test_clusters_of_hdbscan_have_the_least_size(min_share, n_found, blobs):
    assert cluster_umap(blobs[0], n_clusters=3, min_share=min_share, rng=generator()).info["n_found"] == n_found


@pytest.mark.slow
def test_warm_up_compiles_all_that_a_call_needs():
    """Numba compiles nothing after `warm_up`, for few or many points: it must not count as time of the method."""
    from numba.core import event

    from lssc.parts.registry import find

    for name in (*UNCACHED, *UNCACHED):
        find(*name).warm_up()
    with event.install_recorder("numba:compile") as recorder:
        for n in (300, FEW + 1):
            X = generator(0).standard_normal((n, 8))
            cluster_neighbours(X, n_clusters=3, rng=generator())
            neighbour_graph(X, 3, rng=generator())
            cluster_umap(X, n_clusters=3, rng=generator())
    assert [str(item[1].data["dispatcher"]) for item in recorder.buffer] == []
