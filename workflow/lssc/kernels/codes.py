"""Sparse codes, row by row."""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import kernel


@kernel()
def keep_largest(indptr, indices, data, top):
    """The `top` coefficients of largest magnitude in each row of a CSR matrix, as the arrays of another one.

    Of equal magnitudes the first ones stay. Entries of a row keep their order.
    """
    n = len(indptr) - 1
    ends = np.zeros(n + 1, dtype=indptr.dtype)
    for i in range(n):
        ends[i + 1] = ends[i] + min(indptr[i + 1] - indptr[i], top)
    columns, values = np.empty(ends[n], dtype=indices.dtype), np.empty(ends[n], dtype=data.dtype)
    for i in range(n):
        row = np.abs(data[indptr[i] : indptr[i + 1]])
        kept = np.sort(np.argsort(-row, kind="mergesort")[:top]) if len(row) > top else np.arange(len(row))
        for j in range(len(kept)):
            columns[ends[i] + j] = indices[indptr[i] + kept[j]]
            values[ends[i] + j] = data[indptr[i] + kept[j]]
    return ends, columns, values
