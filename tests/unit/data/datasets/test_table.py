"""The dataset `table`: points drawn by trial, and their preparation."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.data.datasets.table import table
from lssc.errors import InputError

N = 40
X = np.random.default_rng(1).normal(size=(N, 4)) * [1, 10, 100, 0] + [0, 5, -3, 7]
LABELS = np.arange(N) % 3
FEATURES = SimpleNamespace(labels=LABELS, rows=X.__getitem__)


def draw(n=N, seed=0, **params):
    return table(n, table="t", features=FEATURES, rng=np.random.default_rng(seed), **params)


def test_all_points_come_in_their_order():
    points = draw()
    assert_array_equal(points.X, X)
    assert_array_equal(points.labels, LABELS)
    assert_array_equal(points.origin, np.arange(N))


def test_some_points_are_drawn_by_the_generator():
    one, again, other = draw(9), draw(9), draw(9, seed=1)
    assert_array_equal(one.origin, again.origin)
    assert not np.array_equal(one.origin, other.origin)
    assert (np.diff(one.origin) > 0).all()
    assert_array_equal(one.X, X[one.origin])
    assert_array_equal(one.labels, LABELS[one.origin])


def test_standardised_columns_have_mean_0_and_variance_1_unless_constant():
    Z = draw(standardise=True).X
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    assert_allclose(Z.std(axis=0), [1, 1, 1, 0], atol=1e-12)


def test_constant_column_stays_zero_whatever_its_value():
    features = SimpleNamespace(labels=LABELS, rows=np.column_stack([X, np.full(N, 0.1)]).__getitem__)
    Z = table(N, table="t", standardise=True, features=features, rng=np.random.default_rng(0)).X
    assert_array_equal(Z[:, 4], 0)


def test_points_are_centred_reduced_and_whitened():
    assert_allclose(draw(centre=True).X, X - X.mean(axis=0))
    assert draw(standardise=True, dim=2).X.shape == (N, 2)
    Z = draw(standardise=True, dim=3, whiten=True).X
    assert_allclose(Z.T @ Z / N, np.eye(3), atol=1e-10)
    with pytest.raises(InputError, match="variance in 3 directions only; whitening to dim=4 needs as many"):
        draw(whiten=True)


def test_refuses_more_points_than_there_are():
    with pytest.raises(InputError, match="table 't' has 40 points; n=41 must be at most as many"):
        draw(41)
