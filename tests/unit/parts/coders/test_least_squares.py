import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from lssc.parts.coders import least_squares
from lssc.parts.coders.least_squares import code_least_squares


def ridge(L, x, weight):
    return Ridge(alpha=weight, fit_intercept=False, solver="cholesky").fit(L.T, x).coef_


@pytest.mark.parametrize("weight", [0.01, 1.0, 50.0])
def test_codes_agree_with_scikit_learn(X, weight):
    codes = code_least_squares(X, np.arange(60), ridge=weight).matrix.toarray()
    for i in range(60):
        others = np.delete(np.arange(60), i)
        assert_allclose(codes[i, others], ridge(X[others], X[i], weight), atol=1e-9)
    assert (np.diag(codes) == 0).all()


def test_other_points_use_every_landmark(X):
    landmarks = np.arange(1, 60, 2)
    codes = code_least_squares(X, landmarks, ridge=0.5).matrix.toarray()
    for i in range(0, 60, 2):
        assert_allclose(codes[i], ridge(X[landmarks], X[i], 0.5), atol=1e-9)
    assert (codes[landmarks, np.arange(30)] == 0).all()


@pytest.mark.parametrize("numbers", [1, 200, 1 << 21])
def test_keeps_the_largest_coefficients_in_blocks_of_any_size(X, numbers, monkeypatch):
    full = code_least_squares(X, np.arange(60), ridge=1.0).matrix.toarray()
    monkeypatch.setattr(least_squares, "NUMBERS_PER_BLOCK", numbers)
    kept = code_least_squares(X, np.arange(60), ridge=1.0, n_nonzero=7).matrix
    assert_array_equal(np.diff(kept.indptr), 7)
    for row, whole in zip(kept.toarray(), full, strict=True):
        assert_array_equal(np.flatnonzero(row), np.sort(np.argsort(-np.abs(whole))[:7]))
        assert_allclose(row[row != 0], whole[row != 0], atol=1e-12)
