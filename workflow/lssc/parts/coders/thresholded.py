"""The points of largest inner product: TSC (Heckel and Boelcskei 2015)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from scipy import sparse

from lssc.linalg.scaling import unit_rows
from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Codes, IndexArray


def warm_up() -> None:
    code_thresholded(np.eye(2), np.arange(2))


@component("coder", "thresholded", warm_up=warm_up, needs_all=True)
def code_thresholded(X: Array, landmarks: IndexArray, *, q: Annotated[int, AtLeast(1)] = 10) -> Codes:
    """c_j = exp(-2 arccos |x'x_j|) for the q other points x_j of largest |x'x_j|, 0 for others; points at unit norm.

    Orthogonal points are never joined, nor are zero points. If there are fewer than q others, all are used. Cost:
    n^2 D / 2 multiplications; memory n q and a copy of X.
    """
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.largest_products import find_largest_products

    n = len(X)
    places, products, counts = find_largest_products(unit_rows(X), min(q, max(n - 1, 1)))
    used = np.arange(places.shape[1]) < counts[:, None]
    # Rounding takes products of equal points beyond 1.
    weights = np.exp(-2 * np.arccos(np.minimum(products[used], 1.0)))
    codes = sparse.csr_matrix((weights, places[used], np.concatenate([[0], np.cumsum(counts)])), shape=(n, n))
    codes.sort_indices()
    return Codes(codes)
