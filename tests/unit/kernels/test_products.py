"""Products of points and landmarks are those of NumPy, and each point's are the same beside any others."""

import numpy as np
import pytest

from lssc.kernels.products import make_columns, make_products, multiply, padded


def products(X, landmarks, dtype):
    n, m = len(X), len(landmarks)
    Q = make_products(n, m, dtype)
    Q[:] = np.nan  # what was there does not count
    multiply(X, make_columns(landmarks, dtype), padded(m), Q)
    return Q[:n, :m]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "D", "m"), [(1, 1, 1), (2, 8, 32), (3, 7, 33), (20, 16, 300), (7, 45, 64), (4, 500, 20)])
def test_products_are_those_of_numpy(n, D, m, dtype, rng):
    X, landmarks = rng.standard_normal((n, D)), rng.standard_normal((m, D))
    scale = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(landmarks, axis=1)
    error = np.abs(products(X, landmarks, dtype) - X @ landmarks.T) / scale
    assert error.max() <= (D + 2) * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_do_not_depend_on_the_other_points(dtype, rng):
    X, landmarks = rng.standard_normal((9, 21)), rng.standard_normal((50, 21))
    together = products(X, landmarks, dtype)
    for rows in ([0], [8], [3, 1], [2, 3, 4, 5, 6]):
        np.testing.assert_array_equal(products(X[rows], landmarks, dtype), together[rows])
