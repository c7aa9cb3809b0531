import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lssc.data.datasets.synthetic import synthetic
from lssc.linalg.factorization import nearest_blocks
from lssc.metrics import scores
from lssc.parts.methods import kfsc
from lssc.parts.methods.kfsc import cluster_kfsc

VARIANTS = {
    "full": {},
    "minibatch": {"variant": "minibatch", "batch_size": 100, "passes": 20},
    "landmarks": {"variant": "landmarks", "landmarks": 100},
}
every_variant = pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS)


def cluster(X, seed=0, n_clusters=4, **options):
    return cluster_kfsc(X, n_clusters=n_clusters, rng=np.random.default_rng(seed), **{"dim": 3, **options})


@pytest.fixture(scope="module")
def independent():
    """600 points on four subspaces of dimension 3 whose sum is direct, of any length."""
    rng, labels = np.random.default_rng(1), np.arange(600) % 4
    bases = np.linalg.qr(rng.standard_normal((16, 12)))[0].T.reshape(4, 3, 16)
    mixed = bases @ (np.eye(16) + 0.1 * rng.standard_normal((16, 16)))
    X = (rng.standard_normal((600, 1, 3)) @ mixed[labels])[:, 0]
    return X * rng.uniform(0.1, 50, size=(600, 1)), labels


@every_variant
def test_recovers_independent_subspaces_exactly(independent, options):
    X, labels = independent
    assert scores(labels, cluster(X, **options).labels)["accuracy"] == 1


@every_variant
def test_labels_are_those_of_the_dictionary(independent, options):
    X = independent[0] + 0.3 * np.random.default_rng(2).standard_normal(independent[0].shape)
    result = cluster(X, **options)
    assert result.dictionary.shape == (4, 3, 16)
    assert (np.linalg.norm(result.dictionary, axis=2) <= 1 + 1e-12).all()
    assert_array_equal(nearest_blocks(X, result.dictionary), result.labels)


@every_variant
def test_the_same_generator_gives_the_same_result(independent, options):
    one, two = (cluster(independent[0], seed=3, **options) for _ in range(2))
    assert_array_equal(one.dictionary, two.dictionary)
    assert one.info == two.info


@every_variant
def test_lengths_of_points_do_not_matter(independent, options):
    X = independent[0]
    # Powers of two change no bit of a direction.
    scaled = X * 2.0 ** np.random.default_rng(0).integers(-5, 5, size=(600, 1))
    assert_array_equal(cluster(scaled, **options).labels, cluster(X, **options).labels)


@every_variant
def test_halves_lam_until_points_have_codes(independent, options):
    X = independent[0]
    result = cluster(X, lam=8.0, **options)
    assert result.info["lam"] in (8.0 / 2**k for k in range(3, 8))
    assert scores(independent[1], result.labels)["accuracy"] == 1
    assert cluster(X, lam=0.1, **options).info["lam"] == 0.1


@every_variant
def test_large_points_are_read_by_rows(independent, options, monkeypatch):
    expected = cluster(independent[0], **options)
    monkeypatch.setattr(kfsc, "fits_in_memory", lambda shape: False)
    assert_array_equal(cluster(independent[0], **options).dictionary, expected.dictionary)


def test_landmarks_are_all_points_if_there_are_few(independent):
    X = independent[0]
    few = cluster(X, variant="landmarks", landmarks=200)
    assert_array_equal(few.dictionary, cluster(X).dictionary)


def test_start_samples_many_points(independent, monkeypatch):
    monkeypatch.setattr(kfsc, "START_POINTS", 100)
    assert scores(independent[1], cluster(independent[0]).labels)["accuracy"] == 1


def test_blocks_have_at_most_half_of_the_features(rng):
    points = synthetic(200, n_clusters=2, ambient_dim=8, subspace_dim=2, noise=0.0, rng=rng)
    result = cluster(points.X, n_clusters=2, dim=30)
    assert result.dictionary.shape == (2, 4, 8)
    assert scores(points.labels, result.labels)["accuracy"] == 1
