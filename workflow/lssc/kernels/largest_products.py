"""For every point, the others of largest |inner product|, from products of blocks of points."""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import helper, kernel
from lssc.types import Array, IndexArray

# Points in a block: the products of two blocks (8 MB) are small, and large enough for matrix products to be quick.
POINTS_PER_BLOCK = 1024


def find_largest_products(X: Array, q: int) -> tuple[IndexArray, Array, IndexArray]:
    """For each of n points the up to q others of largest |x_i'x_j| > 0: places and |products| (n x q), and how many.

    They come in decreasing order; of equal products the first ones count. Each product of two points is computed once.
    """
    n = len(X)
    places, best, counts = np.empty((n, q), dtype=np.int32), np.zeros((n, q)), np.zeros(n, dtype=np.int64)
    least = np.zeros(n)
    for i in range(0, n, POINTS_PER_BLOCK):
        for j in range(i, n, POINTS_PER_BLOCK):
            products = X[i : i + POINTS_PER_BLOCK] @ X[j : j + POINTS_PER_BLOCK].T
            update_largest(np.abs(products, out=products), i, j, places, best, counts, least)
    return places, best, counts


@kernel()
def update_largest(products, first, second, places, best, counts, least):
    """Add the products of points from `first` on with points from `second` >= `first` on to the lists of both.

    least[i] is the smallest product in a full list of point i, 0 as long as it is not full.
    """
    for a in range(products.shape[0]):
        i, row = first + a, products[a]
        # Within one block every pair occurs twice: take j > i.
        start = a + 1 if first == second else 0
        for b in range(start, len(row)):
            value = row[b]
            if value > least[i]:
                counts[i] = _insert(value, second + b, places[i], best[i], counts[i])
                least[i] = best[i, -1]
            if value > least[second + b]:
                j = second + b
                counts[j] = _insert(value, i, places[j], best[j], counts[j])
                least[j] = best[j, -1]


@helper()
def _insert(value, place, places, best, count):
    """Insert a value into a list in decreasing order, after equal ones. Returns the length of the list."""
    count = min(count + 1, len(best))
    k = count - 1
    while k > 0 and best[k - 1] < value:
        best[k], places[k] = best[k - 1], places[k - 1]
        k -= 1
    best[k], places[k] = value, place
    return count
