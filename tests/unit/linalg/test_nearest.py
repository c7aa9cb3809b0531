import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from lssc import types
from lssc.linalg.nearest import Closeness, nearest_centres


@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_closeness_differs_from_distance_by_a_number_of_the_point(offset, rng):
    X, centres = rng.standard_normal((30, 4)) + offset, rng.standard_normal((7, 4)) + offset
    sums = Closeness(centres)(X) + cdist(X, centres) ** 2 / 2
    assert_allclose(sums, np.repeat(sums[:, :1], 7, axis=1), atol=1e-9 * (1 + offset))


def test_nearest_centre_does_not_depend_on_blocks(rng, monkeypatch):
    X, centres = rng.standard_normal((100, 4)), rng.standard_normal((7, 4))
    expected = cdist(X, centres).argmin(axis=1)
    assert_array_equal(nearest_centres(X, centres), expected)
    monkeypatch.setattr(types, "NUMBERS_PER_BLOCK", 21)
    assert_array_equal(nearest_centres(X, centres), expected)
