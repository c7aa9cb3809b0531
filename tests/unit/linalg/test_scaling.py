import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from lssc.linalg.scaling import fixed_signs, unit_rows


@given(arrays(float, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(-1e6, 1e6, width=32)))
def test_unit_rows_keep_the_direction(A):
    original, scaled = A.copy(), unit_rows(A)
    length = np.linalg.norm(A, axis=1)
    assert_array_equal(A, original)
    assert_allclose(np.linalg.norm(scaled, axis=1), length > 0)
    assert_allclose(scaled * length[:, None], A, rtol=1e-12, atol=1e-300)


def test_fixed_signs_do_not_depend_on_the_sign(rng):
    V = rng.standard_normal((9, 4))
    fixed = fixed_signs(V)
    assert (fixed[np.abs(fixed).argmax(axis=0), np.arange(4)] > 0).all()
    assert_array_equal(fixed_signs(V * [1, -1, -1, 1]), fixed)
    assert_array_equal(np.abs(fixed), np.abs(V))
    assert_array_equal(fixed_signs(np.zeros((3, 2))), 0)
