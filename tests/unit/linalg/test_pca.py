import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lssc.errors import InputError
from lssc.linalg.pca import fit_pca, flat_features, whitened

MAPS = np.random.default_rng(2).random((30, 4, 3)).astype(np.float32)


def rows_of(points):
    return np.random.default_rng(points).normal(size=(points, 6)) @ np.diag([5, 4, 3, 2, 1, 0.5]) + 3


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize(("n", "dim"), [(40, 1), (40, 6), (6, 6), (4, 3)])
def test_principal_components_are_the_right_singular_vectors(n, dim, centre):
    X = rows_of(n)
    mean = X.mean(axis=0) if centre else np.zeros(6)
    _, s, Vt = np.linalg.svd(X - mean)
    pca = fit_pca([X], dim=dim, centre=centre)
    assert_allclose(pca.mean, mean)
    assert_allclose(pca.variances, np.pad(s**2 / n, (0, 6))[:dim], atol=1e-10)
    # With n <= dim centred points the last component has no variance and no direction.
    defined = dim - (n <= dim and centre)
    assert_allclose(np.abs(Vt[:defined] @ pca.axes[:, :defined]), np.eye(defined), atol=1e-7)
    assert_allclose(pca.axes.T @ pca.axes, np.eye(dim), atol=1e-10)


def test_all_components_keep_all_distances():
    X = rows_of(20)
    Y = fit_pca([X], dim=6, centre=True).project(X)
    assert_allclose(Y.mean(axis=0), 0, atol=1e-12)
    assert_allclose(Y @ Y.T, (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T, atol=1e-9)


@pytest.mark.parametrize("centre", [True, False])
@given(ends=st.sets(st.integers(1, 39), max_size=5))
def test_principal_components_do_not_depend_on_blocks(centre, ends):
    X = rows_of(40)
    one = fit_pca([X], dim=4, centre=centre)
    many = fit_pca(np.split(X, sorted(ends)), dim=4, centre=centre)
    assert_allclose(many.project(X), one.project(X), atol=1e-9)
    assert_allclose(many.variances, one.variances, atol=1e-9)


@pytest.mark.parametrize("size", [1, 3, 5])
def test_few_rows_in_blocks_have_the_components_of_all(size):
    """Up to six rows of six numbers, one block at a time."""
    X = rows_of(5)
    one, many = fit_pca([X], dim=3, centre=True), fit_pca(np.split(X, range(size, 5, size)), dim=3, centre=True)
    assert_allclose(many.project(X), one.project(X), atol=1e-9)
    assert_allclose(many.variances, one.variances, atol=1e-9)


@pytest.mark.parametrize(("n", "dim", "most"), [(40, 7, 6), (5, 6, 5)])
def test_refuses_more_components_than_points_or_features(n, dim, most):
    message = f"dim={dim} principal components from {n} points of 6 features; need at most {most}"
    with pytest.raises(InputError, match=f"^{message}$"):
        fit_pca([rows_of(n)], dim=dim, centre=True)


def test_flat_features_are_divided_by_the_maximum_of_each_path():
    maps = MAPS.copy()
    maps[2, 1] = 0
    maps.setflags(write=False)
    flat = flat_features(maps, path_maximum=False)
    assert flat.dtype == np.float64
    assert_array_equal(flat[3], np.concatenate(list(maps[3])))
    scaled = flat_features(maps, path_maximum=True).reshape(maps.shape)
    assert_array_equal(scaled[2, 1], 0)
    assert_allclose(scaled[5, 3], maps[5, 3] / maps[5, 3].max(), rtol=1e-6)
    assert_array_equal(np.delete(scaled.reshape(-1, 3), 2 * 4 + 1, axis=0).max(axis=1), 1)


@pytest.mark.parametrize("dim", [1, 4])
def test_whitened_coordinates_have_unit_variance_and_no_correlation(dim):
    X = rows_of(40)
    pca = fit_pca([X], dim=dim, centre=True)
    Y = whitened(pca.project(X), pca.variances)
    assert_allclose(Y.T @ Y / 40, np.eye(dim), atol=1e-10)
    assert_allclose(Y.mean(axis=0), 0, atol=1e-12)


def test_refuses_to_whiten_directions_without_variance():
    X = np.c_[rows_of(40), rows_of(40)[:, :2]]
    pca = fit_pca([X], dim=7, centre=True)
    with pytest.raises(InputError, match=r"^the points have variance in 6 directions only; whitening to dim=7 needs"):
        whitened(pca.project(X), pca.variances)
