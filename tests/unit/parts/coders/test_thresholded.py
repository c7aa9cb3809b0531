import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.kernels import largest_products
from lssc.kernels.largest_products import find_largest_products
from lssc.linalg.scaling import unit_rows
from lssc.parts.coders.thresholded import code_thresholded


def plain_codes(X, q):
    """The equations, point by point."""
    products = np.abs(unit_rows(X) @ unit_rows(X).T)
    np.fill_diagonal(products, -1)
    Z = np.zeros(products.shape)
    for i, row in enumerate(products):
        chosen = np.argsort(-row, kind="stable")[:q]
        Z[i, chosen] = np.exp(-2 * np.arccos(np.minimum(row[chosen], 1)))
    return Z


@pytest.mark.parametrize("q", [1, 4, 59])
def test_agrees_with_the_equations(X, q):
    codes = code_thresholded(X, np.arange(60), q=q).matrix
    assert_allclose(codes.toarray(), plain_codes(X, q), atol=1e-12)
    assert codes.has_sorted_indices


def test_length_and_sign_of_points_change_nothing(X, rng):
    other = X * rng.choice([-3.0, 0.5, 2.0], 60)[:, None]
    one, two = (code_thresholded(points, np.arange(60), q=4).matrix.toarray() for points in (X, other))
    assert_allclose(one, two, atol=1e-7)


@pytest.mark.parametrize("block", [1, 7, 59, 60])
def test_largest_products_do_not_depend_on_blocks(X, block, monkeypatch):
    expected = find_largest_products(X, 5)
    monkeypatch.setattr(largest_products, "POINTS_PER_BLOCK", block)
    places, products, counts = find_largest_products(X, 5)
    assert_array_equal(places, expected[0])
    assert_allclose(products, expected[1], atol=1e-14)
    assert_array_equal(counts, 5)


def test_equal_products_go_to_the_first_points():
    places = find_largest_products(np.ones((6, 2)), 3)[0]
    assert_array_equal(places, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2], [0, 1, 2]])


def test_zero_and_orthogonal_points_are_not_joined():
    X = np.zeros((5, 3))
    X[[0, 1], 0], X[2, 1] = [2, -1], 1
    codes = code_thresholded(X, np.arange(5)).matrix.toarray()
    assert_array_equal(np.argwhere(codes), [[0, 1], [1, 0]])
    assert_allclose(codes[0, 1], 1)
