import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from lssc.linalg.subspaces import (
    Frame,
    Moments,
    fit_subspaces,
    label_points,
    log_densities,
    squared_distances,
)


@pytest.fixture
def points(rng):
    """120 points near two parallel planes in R^6, with labels."""
    axes = np.linalg.qr(rng.standard_normal((6, 3)))[0]
    labels = np.repeat([0, 1], 60)
    X = rng.standard_normal((120, 2)) @ axes[:, :2].T + 3.0 * labels[:, None] * axes[:, 2]
    return X + 0.05 * rng.standard_normal(X.shape), labels


def moments_of(X, labels):
    moments = Moments.zero(labels.max() + 1, X.shape[1])
    moments.add(X, labels)
    return moments


def test_moments_follow_points_that_move(points):
    X, labels = points
    moments = moments_of(X, np.zeros_like(labels) + (np.arange(120) > 100))
    moved = slice(60, 101)
    moments.add(X[moved], np.zeros(41, dtype=int), -1)
    moments.add(X[moved], np.ones(41, dtype=int))
    expected = moments_of(X, labels)
    assert_allclose(moments.counts, expected.counts)
    assert_allclose(moments.sums, expected.sums, atol=1e-12)
    assert_allclose(moments.squares, expected.squares, atol=1e-12)


def test_dimension_counts_large_eigenvalues(points):
    assert fit_subspaces(moments_of(*points), 1.0).bases.shape == (2, 6, 2)


def test_distance_is_that_to_principal_subspace(points):
    X, labels = points
    subspaces = fit_subspaces(moments_of(X, labels), 1.0)
    for k in (0, 1):
        members = X[labels == k]
        mean = members.mean(axis=0)
        U = np.linalg.svd(members - mean)[2][:2].T
        expected = ((X - mean - (X - mean) @ U @ U.T) ** 2).sum(axis=1)
        assert_allclose(squared_distances(X, subspaces)[:, k], expected, atol=1e-10)


def test_leverage_gives_distance_to_subspace_without_the_point(rng):
    """On a line in the plane the correction is first order in 1/n: compare with a refit, relative to no correction."""
    X = np.column_stack([rng.standard_normal(40), 0.1 * rng.standard_normal(40)])
    labels = np.zeros(40, dtype=int)
    subspaces = fit_subspaces(moments_of(X, labels), 1.0)
    corrected = squared_distances(X, subspaces, labels=labels)[:, 0]
    plain = squared_distances(X, subspaces)[:, 0]
    refit = np.empty(40)
    for i in range(40):
        others = np.delete(X, i, axis=0)
        refit[i] = squared_distances(X[i : i + 1], fit_subspaces(moments_of(others, labels[1:]), 1.0))[0, 0]
    assert np.abs(corrected - refit).mean() < 0.1 * np.abs(plain - refit).mean()


def test_cluster_of_one_point_attracts_nobody(points):
    X, _ = points
    labels = np.r_[1, np.zeros(119, dtype=int)]
    distances = squared_distances(X, fit_subspaces(moments_of(X, labels), 1.0))
    assert np.isinf(distances[:, 1]).all()
    assert np.isfinite(distances[:, 0]).all()


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_labels_do_not_depend_on_place_and_scale(points, scale, shift):
    X, labels = points
    X = (X + shift) * scale
    frame = Frame.of_points(X)
    subspaces = frame.restored(fit_subspaces(moments_of(frame.centred(X).astype(float), labels), 1.0))
    assert_array_equal(label_points(X, subspaces, within=0.0), labels)


def test_subspaces_survive_centring(points):
    X, labels = points
    subspaces = fit_subspaces(moments_of(X, labels), 1.0)
    frame = Frame.of_subspaces(subspaces)
    assert_allclose(frame.shift, X.mean(axis=0), atol=1e-12)
    assert_allclose(frame.scale, np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()))
    back = frame.restored(frame.centred_subspaces(subspaces))
    assert_allclose(back.means, subspaces.means, atol=1e-12)
    assert_allclose(back.noise, subspaces.noise)


def test_log_density_is_that_of_a_mixture_of_gaussians(points):
    X, labels = points
    subspaces = fit_subspaces(moments_of(X, labels), 1.0)
    noise = subspaces.noise.mean()
    expected = 0.0
    for mean, basis, variances in zip(subspaces.means, subspaces.bases, subspaces.variances, strict=True):
        covariance = basis @ np.diag(variances - noise) @ basis.T + noise * np.eye(6)
        expected = expected + 0.5 * multivariate_normal(mean, covariance).pdf(X)
    assert_allclose(log_densities(X, subspaces), np.log(expected), rtol=1e-6)
