"""The Gram matrix A'A of a sparse matrix with few entries per row: no transposed copy, no sparse result."""

from __future__ import annotations

from lssc.kernels.compiled import kernel


@kernel()
def add_lower_gram(pointers, indices, values, gram):
    """Add the lower triangle of A'A to `gram` (m x m); A is CSR (n x m) with increasing indices in each row."""
    for row in range(len(pointers) - 1):
        for a in range(pointers[row], pointers[row + 1]):
            i, value = indices[a], values[a]
            for b in range(pointers[row], a + 1):
                gram[i, indices[b]] += value * values[b]
