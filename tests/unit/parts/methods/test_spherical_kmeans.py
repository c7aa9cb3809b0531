"""Spherical K-means: centres of unit length, angles only."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.linalg.scaling import unit_rows
from lssc.metrics import scores
from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.methods.spherical_kmeans import cluster_directions


@pytest.fixture
def rays(rng):
    """300 points along three directions, at lengths from 0.01 to 100, with their labels."""
    labels = rng.permutation(np.arange(300) % 3)
    directions = unit_rows(rng.standard_normal((3, 8)))
    return (directions[labels] + 0.1 * rng.standard_normal((300, 8))) * 10 ** rng.uniform(-2, 2, (300, 1)), labels


def test_converges_to_the_directions_of_cluster_sums():
    X = unit_rows(np.random.default_rng(1).standard_normal((500, 4)))
    found = cluster_directions(X, n_clusters=5, max_iter=1000, rng=np.random.default_rng(0))
    assert found.info["converged"]
    assert_allclose(np.linalg.norm(found.centres, axis=1), 1, rtol=1e-12)
    assert_array_equal(found.labels, (X @ found.centres.T).argmax(axis=1))
    assert found.info["inertia"] == pytest.approx(2 * (1 - (X * found.centres[found.labels]).sum(axis=1)).sum())
    sums = np.array([X[found.labels == k].sum(axis=0) for k in range(5)])
    assert_allclose(found.centres, unit_rows(sums), atol=0.02)


def test_lengths_do_not_count(rays):
    X, labels = rays
    found = cluster_directions(X, n_clusters=3, rng=np.random.default_rng(0)).labels
    assert scores(labels, found)["accuracy"] == 1
    assert scores(labels, cluster_kmeans(X, n_clusters=3, rng=np.random.default_rng(0)).labels)["accuracy"] < 0.9
    assert_array_equal(found, cluster_directions(unit_rows(X), n_clusters=3, rng=np.random.default_rng(0)).labels)


def test_more_starts_are_no_worse():
    X = np.random.default_rng(0).standard_normal((200, 3))
    one, many = (cluster_directions(X, n_clusters=8, n_init=s, rng=np.random.default_rng(0)).info for s in (1, 20))
    assert many["inertia"] < one["inertia"]


def test_labels_points_without_direction():
    X = np.concatenate([np.zeros((5, 3)), np.eye(3), -np.eye(3)])
    found = cluster_directions(X, n_clusters=4, rng=np.random.default_rng(0))
    assert len(set(found.labels[:5])) == 1
    assert np.isfinite(found.centres).all()
