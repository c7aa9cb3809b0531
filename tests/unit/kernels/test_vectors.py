"""Loops over vectors: indices of extrema, also beyond the number of values whose index fits into their last bits."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from lssc.kernels.vectors import (
    MAX_KEYS,
    has_magnitude_above32,
    index_of_largest32,
    index_of_largest_magnitude,
    index_of_smallest,
)


@numba.njit
def smallest(values):
    return index_of_smallest(values, len(values))


@numba.njit
def largest(values):
    return index_of_largest_magnitude(values, len(values))


@numba.njit
def largest_signed(values):
    return index_of_largest32(values)


@numba.njit
def exceeds(values, limit):
    return has_magnitude_above32(values, limit, len(values))


@pytest.mark.parametrize("n", [1, 16, MAX_KEYS, MAX_KEYS + 1, 5000])
def test_smallest_value_is_found(n, rng):
    for values in (rng.uniform(size=n), rng.uniform(size=n) * 1e-300, np.full(n, 1e300)):
        assert smallest(values) == np.argmin(values)
        values[n // 2] = 0.0
        assert smallest(values) == n // 2


@pytest.mark.parametrize("n", [1, 16, 37, 5000])
def test_extrema_are_found_in_single_precision(n, rng):
    values = rng.uniform(size=n).astype(np.float32)
    assert smallest(values) == np.argmin(values)
    values[n // 3 :] = values[n // 3]
    assert smallest(values) == np.argmin(values)
    values[n // 2] = -2.0
    assert largest(values) == n // 2
    assert largest(values.astype(float)) == n // 2


@pytest.mark.parametrize("n", [1, 16, 37, 5000])
def test_first_of_the_largest_values_is_found_among_negative_ones(n, rng):
    values = rng.uniform(-1.0, 1.0, n).astype(np.float32)
    values[n // 2] = 0.5
    assert largest_signed(values) == np.argmax(values)
    values[n // 2 :] = 1.0
    assert largest_signed(values) == n // 2
    values[:] = -1.0
    values[-1] = 0.0
    assert largest_signed(values) == n - 1


def test_first_of_values_that_agree_in_all_but_the_last_bits_is_the_smallest():
    values = np.array([2.0, 1.0 + 1e-13, 1.0, 1.0 + 1e-9])
    assert smallest(values) == 1


@pytest.mark.parametrize(
    ("value", "found"), [(0.5, False), (0.75, True), (-0.75, True), (np.nan, True), (-np.inf, True)]
)
def test_magnitudes_above_a_limit_are_noticed(value, found):
    values = np.zeros(37, dtype=np.float32)
    values[30] = value
    assert exceeds(values, np.float32(0.5)) == found
