import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lssc.parts.sampling import on_sample


def first_points(X, m, *, rng, seen):
    seen.append(X)
    return np.arange(m), {"note": "kept"}


@pytest.mark.parametrize(("m", "max_points", "used"), [(4, 60, 60), (4, 20, 20), (30, 20, 30)])
def test_selects_from_a_sample_of_bounded_size(X, rng, m, max_points, used):
    seen = []
    landmarks = on_sample(first_points, X, m, max_points=max_points, rng=rng, seen=seen)
    assert len(np.unique(seen[0], axis=0)) == used
    assert_array_equal(X[landmarks.indices], seen[0][:m])
    assert landmarks.info == {"note": "kept", "sampled": used}
    assert (landmarks.indices.max() >= m) == (used < 60)


@pytest.mark.parametrize("max_points", [20, 60])
def test_fills_up_repeated_choices_with_other_points(X, max_points, rng):
    found = on_sample(lambda X, m, rng: (np.array([3, 3, 3, 1]), {}), X, 4, max_points=max_points, rng=rng)
    assert len(set(found.indices.tolist())) == 4
