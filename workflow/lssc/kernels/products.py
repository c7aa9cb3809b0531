"""Inner products of many points with the same landmarks.

This is a matrix product, which NumPy leaves to its BLAS. The one of NumPy 1.26 leaves vectors of 512 bits unused on
some processors and takes twice as long there; Numba compiles for the processor it runs on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lssc.kernels.compiled import FAST, disjoint, helper, kernel
from lssc.kernels.lasso_arrays import spread_rows
from lssc.types import Array

# Columns are filled up with zeros to a multiple of this, so that loops run in whole vectors, two at a time.
COLUMNS = 32
# Coordinates that are added in one pass over the landmarks.
COORDINATES = 8

_inlined = helper(fastmath=FAST, forceinline=True, _nrt=False)


def padded(n_columns: int) -> int:
    """The number of columns that are computed."""
    return -(-n_columns // COLUMNS) * COLUMNS


def make_columns(landmarks: Array, dtype: Any) -> np.ndarray:
    """L' (D x m) in this precision, filled up with zeros."""
    m, D = landmarks.shape
    columns = spread_rows(D, padded(m), dtype)
    with np.errstate(over="ignore"):  # infinity where single precision overflows
        columns[:, :m] = landmarks.T
    return columns


def make_products(n: int, m: int, dtype: Any) -> np.ndarray:
    """Room for the products of n points and m landmarks, and for one point more."""
    return spread_rows(n + 1, padded(m), dtype)


@kernel(fastmath=FAST, _nrt=False)
def multiply(X, columns, width, Q):
    """The first n rows and `width` columns of Q = X columns, for n points X; row n of Q is overwritten.

    Points go two by two, so that numbers that have been read serve both. The last of an odd number goes with itself:
    its products are then rounded as they would be beside any other.
    """
    n, D = X.shape
    whole = D - D % COORDINATES
    for i in range(n + n % 2):
        for j in range(width):
            Q[i, j] = 0.0
    for d in range(0, whole, COORDINATES):
        rows = columns[d : d + COORDINATES]
        for i in range(0, n, 2):
            x, y = X[i, d : d + COORDINATES], X[min(i + 1, n - 1), d : d + COORDINATES]
            _add_eight(Q[i], Q[i + 1], x, y, rows, width)
    for d in range(whole, D):
        for i in range(n):
            _add_one(Q[i], X[i, d], columns[d], width)


@disjoint
@_inlined
def _add_eight(p, q, x, y, rows, width):
    """p += x rows and q += y rows, of eight rows."""
    real = p.dtype.type
    a, b, c, d = real(x[0]), real(x[1]), real(x[2]), real(x[3])
    e, f, g, h = real(x[4]), real(x[5]), real(x[6]), real(x[7])
    s, t, u, v = real(y[0]), real(y[1]), real(y[2]), real(y[3])
    w, k, m, z = real(y[4]), real(y[5]), real(y[6]), real(y[7])
    for j in range(width):
        p[j] += a * rows[0, j] + b * rows[1, j] + c * rows[2, j] + d * rows[3, j]
        p[j] += e * rows[4, j] + f * rows[5, j] + g * rows[6, j] + h * rows[7, j]
        q[j] += s * rows[0, j] + t * rows[1, j] + u * rows[2, j] + v * rows[3, j]
        q[j] += w * rows[4, j] + k * rows[5, j] + m * rows[6, j] + z * rows[7, j]


@disjoint
@_inlined
def _add_one(q, factor, row, width):
    """q += factor row."""
    a = q.dtype.type(factor)
    for j in range(width):
        q[j] += a * row[j]
