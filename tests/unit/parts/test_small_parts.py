"""The small modules: seeding, scaling, timing, K-means, the synthetic model, provenance."""

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from lssc.data.datasets.synthetic import synthetic
from lssc.linalg.scaling import unit_rows
from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.timing import timed
from lssc.pipeline.study.seeding import rng_for
from lssc.report.provenance import PACKAGES, provenance


def test_a_seed_and_key_give_the_same_numbers_on_every_machine_and_in_every_version():
    assert rng_for(2019, "t", 3600, 0, "data", "synthetic").integers(2**63) == KNOWN
    assert rng_for(2019, "t", 3600, 0, "data", "synthetic").integers(2**63) == KNOWN


KNOWN = 2267288917635410332


@pytest.mark.parametrize(
    "other",
    [
        (1, "a", 2, "b"),
        (0, "b", 2, "a"),
        (0, "a", 2),
        (0, "a", 2, "b", 0),
        (0, "a", "2", "b"),
        (0, "a2", "b"),
        (0, 2, "a", "b"),
    ],
)
def test_other_seeds_keys_and_orders_of_keys_give_other_numbers(other):
    assert rng_for(0, "a", 2, "b").integers(2**63) != rng_for(*other).integers(2**63)


def test_a_generator_does_not_depend_on_those_made_before():
    first = rng_for(0, "x").random(5)
    rng_for(0, "y").random(100)
    assert_array_equal(rng_for(0, "x").random(5), first)


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(-1e6, 1e6, width=32)))
def test_unit_rows_have_unit_length_and_the_same_direction(A):
    original, scaled = A.copy(), unit_rows(A)
    length = np.linalg.norm(A, axis=1)
    assert_array_equal(A, original)
    assert_allclose(np.linalg.norm(scaled, axis=1), length > 0)
    assert_allclose(scaled * length[:, None], A, rtol=1e-12, atol=1e-300)


def test_timed_gives_the_value_and_what_it_took():
    value, spent = timed(lambda a, b: time.sleep(0.02) or a + b, 1, b=2)
    assert value == 3
    assert set(spent) == {"seconds", "cpu_seconds", "peak_mb"}
    assert 0.02 <= spent["seconds"] < 5
    assert 0 <= spent["cpu_seconds"] < spent["seconds"]
    assert spent["peak_mb"] > 10


def three_groups(rng):
    return np.repeat(10 * np.eye(3), 12, axis=0) + rng.standard_normal((36, 3))


def test_kmeans_finds_separated_groups(rng):
    found = cluster_kmeans(three_groups(rng), n_clusters=3, rng=rng)
    assert found.labels.dtype == np.int64
    assert_array_equal(found.labels.reshape(3, 12).std(axis=1), 0)
    assert len(set(found.labels)) == 3


def test_kmeans_is_the_same_for_the_same_rng(rng):
    vectors = rng.standard_normal((60, 4))
    one, two = (cluster_kmeans(vectors, n_clusters=5, n_init=1, rng=np.random.default_rng(3)) for _ in range(2))
    assert_array_equal(one.labels, two.labels)
    assert one.info == two.info
    others = [
        cluster_kmeans(vectors, n_clusters=5, n_init=1, rng=np.random.default_rng(s)).labels.tolist() for s in range(5)
    ]
    assert any(labels != one.labels.tolist() for labels in others)


def test_more_restarts_never_raise_the_inertia(rng):
    vectors = rng.standard_normal((80, 3))
    one, ten = (
        cluster_kmeans(vectors, n_clusters=6, n_init=k, rng=np.random.default_rng(0)).info["inertia"] for k in (1, 10)
    )
    assert ten <= one + 1e-9


@pytest.mark.parametrize("vectors", [np.zeros((9, 3)), np.repeat(np.eye(3)[:2], 5, axis=0)])
def test_kmeans_survives_fewer_distinct_rows_than_clusters(vectors, rng, recwarn):
    labels = cluster_kmeans(vectors, n_clusters=3, rng=rng).labels
    assert len(labels) == len(vectors)
    assert set(labels) <= {0, 1, 2}
    assert not recwarn.list


@pytest.mark.parametrize("K", [1, 9])
def test_kmeans_with_one_cluster_or_as_many_as_points(K, rng):
    assert len(set(cluster_kmeans(rng.standard_normal((9, 2)), n_clusters=K, rng=rng).labels)) == K


@pytest.mark.parametrize(("n", "K", "D", "d"), [(60, 3, 12, 4), (20, 5, 8, 8), (7, 7, 5, 1), (6, 1, 3, 2)])
def test_synthetic_points_are_balanced_and_noiseless_subspaces_have_their_dimension(n, K, D, d, rng):
    points = synthetic(n, n_clusters=K, ambient_dim=D, subspace_dim=d, noise=0.0, rng=rng)
    assert points.X.shape == (n, D)
    assert_array_equal(np.bincount(points.labels), np.full(K, n // K))
    for k in range(K):
        assert np.linalg.matrix_rank(points.X[points.labels == k]) == min(d, n // K)


def test_synthetic_subspaces_are_spanned_by_columns_of_one_orthonormal_matrix(rng):
    points = synthetic(400, n_clusters=2, ambient_dim=6, subspace_dim=3, noise=0.0, rng=rng)
    bases = [np.linalg.svd(points.X[points.labels == k])[2][:3] for k in (0, 1)]
    # Principal angles between such subspaces are 0 or 90 degrees.
    cosines = np.linalg.svd(bases[0] @ bases[1].T, compute_uv=False)
    assert_allclose(np.minimum(cosines, 1 - cosines), 0, atol=1e-7)


@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_synthetic_noise_has_its_level(noise, rng):
    points = synthetic(3000, n_clusters=1, ambient_dim=10, subspace_dim=4, noise=noise, rng=rng)
    spread = np.sqrt(np.linalg.svd(points.X, compute_uv=False) ** 2 / 3000)
    assert_allclose(spread[4:], noise, rtol=0.1)
    assert_allclose(spread[:4], np.sqrt(1 + noise**2), rtol=0.1)


def test_the_same_rng_draws_the_same_points(rng):
    one, two = (synthetic(30, n_clusters=3, rng=np.random.default_rng(1)) for _ in range(2))
    assert_array_equal(one.X, two.X)
    assert not np.array_equal(one.X, synthetic(30, n_clusters=3, rng=np.random.default_rng(2)).X)


def test_provenance_names_the_software_and_keeps_config_and_sources():
    made = provenance({"seed": 1}, {"tiny": {"source": "npm tiny@1.0.0"}})
    assert json.loads(json.dumps(made)) == made
    assert (made["config"], made["images"]) == ({"seed": 1}, {"tiny": {"source": "npm tiny@1.0.0"}})
    assert set(made["packages"]) == set(PACKAGES)
    assert made["machine"]["cores"] >= 1
