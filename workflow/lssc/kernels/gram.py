"""The product A'A of a sparse matrix with few entries in each row, compiled: no transposed copy, no sparse result."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def add_lower_gram(pointers, indices, values, gram):
    """Add the lower triangle of A'A to `gram`; column indices of each row of A must increase."""
    for row in range(len(pointers) - 1):
        for a in range(pointers[row], pointers[row + 1]):
            i, value = indices[a], values[a]
            for b in range(pointers[row], a + 1):
                gram[i, indices[b]] += value * values[b]
