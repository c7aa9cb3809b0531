"""Loops over vectors that several kernels share."""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import FAST, helper

# No reference counts (_nrt): nothing here owns an array.
_inlined = helper(fastmath=FAST, forceinline=True, _nrt=False)

# Arrays are filled up with zeros to a multiple of this many floats, so that loops run in whole vectors.
PAD = 16
# The bits of a float without its sign. Nonnegative floats are ordered as their bits are, and extrema of integers
# vectorise where those of floats do not.
MAGNITUDE64, MAGNITUDE32 = np.int64(0x7FFFFFFFFFFFFFFF), np.int32(0x7FFFFFFF)
# An index below this power of two fits into the last bits of a float, which change its value by less than 1e-12.
MAX_KEYS = np.int64(1024)


@_inlined
def dot(a, b):
    """a'b."""
    total = 0.0
    for d in range(len(b)):
        total += a[d] * b[d]
    return total


@_inlined
def norm(a):
    """Euclidean length."""
    return np.sqrt(dot(a, a))


@_inlined
def distance(a, b):
    """Euclidean distance."""
    total = 0.0
    for d in range(len(b)):
        total += (a[d] - b[d]) ** 2
    return np.sqrt(total)


@_inlined
def subtract_multiple(a, factor, b):
    """a -= factor b."""
    for d in range(len(b)):
        a[d] -= factor * b[d]


@_inlined
def draw_index(weights, share):
    """The first index at which the running sum of `weights` exceeds this share of their sum; -1 if all are zero."""
    total = 0.0
    for j in range(len(weights)):
        total += weights[j]
    left, last = share * total, -1
    for j in range(len(weights)):
        if weights[j] > 0.0:
            last = j
            left -= weights[j]
            if left < 0.0:
                break
    return last


@_inlined
def largest_magnitude(values, n, cell):
    """max |values_j| over j < n; `cell` is an array of floats to work in."""
    cell.view(np.int64)[0] = _largest_bits(values, n)
    return cell[0]


@_inlined
def _largest_bits(values, n):
    bits, best = values.view(np.int64), np.int64(0)
    for j in range(n):
        best = max(best, bits[j] & MAGNITUDE64)
    return best


@_inlined
def index_of_largest_magnitude32(values, n):
    """The first j < n of largest |values_j|, in single precision."""
    # The bits and, for the first of equals, the distance of the index from the largest integer, side by side.
    bits, best, last = values.view(np.int32), np.int64(0), np.int64(MAGNITUDE32)
    for i in range(n):
        best = max(best, np.int64(bits[i] & MAGNITUDE32) << 32 | (last - np.int64(i)))
    return last - (best & last)


@_inlined
def index_of_largest_magnitude(values, n):
    """The first j < n of largest |values_j|, in either precision."""
    if values.itemsize == 4:
        return index_of_largest_magnitude32(values, n)
    bits, best, j = values.view(np.int64), _largest_bits(values, n), 0
    while bits[j] & MAGNITUDE64 != best:
        j += 1
    return j


@_inlined
def has_magnitude_above32(values, limit, n):
    """Whether some |values_j|, j < n, exceeds the limit, a float32, or is not a number."""
    above = np.int32(0)
    for j in range(n):
        above |= not abs(values[j]) <= limit
    return above != 0


@_inlined
def index_of_smallest(values, n):
    """The first j < n of smallest value, in either precision; none may be negative.

    Of up to MAX_KEYS values, those that agree in all but the last bits count as equal: the index takes the place of
    these bits, so that no search follows, whose end a processor cannot predict.
    """
    if values.itemsize == 4:
        return _index_of_smallest32(values, n)
    bits, best, j = values.view(np.int64), MAGNITUDE64, np.int64(0)
    if n <= MAX_KEYS:
        for i in range(n):
            best = min(best, (bits[i] & -MAX_KEYS) | np.int64(i))
        return best & (MAX_KEYS - 1)
    for i in range(n):
        best = min(best, bits[i])
    while bits[j] != best:
        j += 1
    return j


@_inlined
def _index_of_smallest32(values, n):
    # The bits and the index side by side in one integer: one pass finds both.
    bits, best = values.view(np.int32), MAGNITUDE64
    for i in range(n):
        best = min(best, np.int64(bits[i]) << 32 | np.int64(i))
    return best & np.int64(MAGNITUDE32)


@_inlined
def index_of_largest32(values):
    """The first index of the largest value, in single precision, at least one of which must not be negative."""
    bits, best, last = values.view(np.int32), np.int64(-(2**63)), np.int64(MAGNITUDE32)
    for i in range(len(bits)):
        best = max(best, np.int64(bits[i]) << 32 | (last - np.int64(i)))
    return last - (best & last)
