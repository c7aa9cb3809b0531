"""Codes by ridge regression: LSR (Lu et al. 2012), as A-DSSC uses it."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.parts.landmarks import landmark_rows
from lssc.parts.params import Above, AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Codes, LandmarkArray

# Coefficients computed at a time (16 MB).
NUMBERS_PER_BLOCK = 1 << 21


def warm_up() -> None:
    code_least_squares(np.eye(3), np.arange(3), ridge=1.0)


@component("coder", "least_squares", warm_up=warm_up)
def code_least_squares(
    X: Array,
    landmarks: LandmarkArray,
    *,
    ridge: Annotated[float, Above(0)],
    n_nonzero: Annotated[int, AtLeast(1)] = 100,
) -> Codes:
    """min ridge/2 |c|^2 + 1/2 |x - L'c|^2 for every point x, L the landmarks as rows (m x D), in closed form.

    With M = (L'L + ridge I)^-1, c = L M x; a landmark, which takes no part in its own code, has this over 1 - x'Mx. All
    coefficients differ from zero: the `n_nonzero` largest of each code are kept. Time n m D, memory n n_nonzero.
    """
    L, own = landmark_rows(X, landmarks)
    mapped = X @ np.linalg.inv(L.T @ L + ridge * np.eye(L.shape[1]))
    left = 1 - np.einsum("ij,ij->i", mapped, X)
    mapped[own >= 0] /= left[own >= 0, None]
    size = max(1, NUMBERS_PER_BLOCK // len(L))
    blocks = [slice(start, start + size) for start in range(0, len(X), size)]
    return Codes(sparse.vstack([_largest(mapped[b] @ L.T, own[b], n_nonzero) for b in blocks], format="csr"))


def _largest(codes: Array, own: Array, n_nonzero: int) -> sparse.csr_matrix:
    """The coefficients of largest magnitude in each row, but not those of own landmarks."""
    landmarks = np.flatnonzero(own >= 0)
    codes[landmarks, own[landmarks]] = 0.0
    count = min(n_nonzero, codes.shape[1])
    columns = np.sort(np.argpartition(-np.abs(codes), count - 1, axis=1)[:, :count], axis=1)
    ends = np.arange(0, columns.size + 1, count)
    kept = (np.take_along_axis(codes, columns, axis=1).ravel(), columns.ravel().astype(np.int32), ends)
    matrix = sparse.csr_matrix(kept, shape=codes.shape)
    matrix.eliminate_zeros()
    return matrix
