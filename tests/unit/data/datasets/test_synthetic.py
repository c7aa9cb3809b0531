import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc import types
from lssc.data.datasets.synthetic import DRAWS, synthetic
from lssc.types import RowBlocks


@pytest.mark.parametrize(("n", "K", "D", "d"), [(60, 3, 12, 4), (20, 5, 8, 8), (7, 7, 5, 1), (6, 1, 3, 2)])
def test_noiseless_subspaces_have_their_dimension(n, K, D, d, rng):
    points = synthetic(n, n_clusters=K, ambient_dim=D, subspace_dim=d, noise=0.0, rng=rng)
    assert points.X.shape == (n, D)
    assert_array_equal(np.bincount(points.labels), np.full(K, n // K))
    for k in range(K):
        assert np.linalg.matrix_rank(points.X[points.labels == k]) == min(d, n // K)


def test_subspaces_are_spanned_by_columns_of_one_orthonormal_matrix(rng):
    points = synthetic(400, n_clusters=2, ambient_dim=6, subspace_dim=3, noise=0.0, rng=rng)
    bases = [np.linalg.svd(points.X[points.labels == k])[2][:3] for k in (0, 1)]
    # Principal angles between such subspaces are 0 or 90 degrees.
    cosines = np.linalg.svd(bases[0] @ bases[1].T, compute_uv=False)
    assert_allclose(np.minimum(cosines, 1 - cosines), 0, atol=1e-7)


@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_noise_has_its_level(noise, rng):
    points = synthetic(3000, n_clusters=1, ambient_dim=10, subspace_dim=4, noise=noise, rng=rng)
    spread = np.sqrt(np.linalg.svd(points.X, compute_uv=False) ** 2 / 3000)
    assert_allclose(spread[4:], noise, rtol=0.1)
    assert_allclose(spread[:4], np.sqrt(1 + noise**2), rtol=0.1)


def test_other_rng_draws_other_points():
    one, two = (synthetic(30, n_clusters=3, rng=np.random.default_rng(seed)) for seed in (1, 2))
    assert not np.array_equal(one.X, two.X)


def by_definition(n, n_clusters, rng, D=16, d=6, noise=0.1):
    """The model with all z, then all noise, drawn at once."""
    Q, _ = np.linalg.qr(rng.standard_normal((D, D)))
    bases = [Q[:, rng.choice(D, d, replace=False)] for _ in range(n_clusters)]
    Z = rng.standard_normal((n_clusters, n // n_clusters, d))
    X = np.concatenate([z @ H.T for z, H in zip(Z, bases, strict=True)])
    return X + noise * rng.standard_normal(X.shape)


@pytest.mark.parametrize("numbers", [1, 16 * 3, 16 * 20, 2**20])
@pytest.mark.parametrize("held", [0, 2**20])
@pytest.mark.parametrize("n", [60, 62])
def test_points_do_not_depend_on_blocks(monkeypatch, numbers, held, n):
    monkeypatch.setattr(types, "NUMBERS_PER_BLOCK", numbers)
    monkeypatch.setattr(types, "MAX_IN_MEMORY", held)
    one, two = np.random.default_rng(3), np.random.default_rng(3)
    points = synthetic(n, n_clusters=3, rng=one)
    assert type(points.X) is (np.ndarray if held else RowBlocks)
    found = points.X if held else points.X.whole()
    # The draws are equal; matrix products of other sizes may round differently.
    assert_allclose(found, by_definition(n, 3, two), rtol=0, atol=1e-14)
    assert_array_equal(points.labels, np.repeat(np.arange(3), 20))
    assert one.random() == two.random()


@pytest.mark.parametrize("z", DRAWS)
def test_every_distribution_of_z_has_mean_square_one(z):
    rng = np.random.default_rng(0)
    drawn = synthetic(30_000, n_clusters=3, ambient_dim=6, noise=0.0, z=z, rng=rng).X
    assert (drawn**2).sum(axis=1).mean() == pytest.approx(6, rel=0.02)


def test_distributions_of_z_differ_in_their_tails():
    values = {z: draw(np.random.default_rng(0), (1000, 60)) for z, draw in DRAWS.items()}
    assert min(values["positive"].ravel()) >= 0
    assert abs(values["uniform"]).max() < 3**0.5 < abs(values["normal"]).max() < abs(values["laplace"]).max()
