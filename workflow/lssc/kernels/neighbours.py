"""Nearest neighbours: by inner product of codes, and by distance to landmarks."""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import helper, kernel


@kernel()
def find_neighbours(pointers, landmarks, values, by_landmark, points, entries, similarity, best, neighbours, counts):
    """For each of n points the up to t others of largest positive inner product of codes; ties go to the first.

    The codes come as CSR (`pointers`, `landmarks`, `values`) and as CSC (`by_landmark`, `points`, `entries`); only
    landmarks that two points share cost time. `similarity` (n zeros) and `best` (t) are workspace; `neighbours` (n x t)
    and `counts` (n) are the result.
    """
    for i in range(len(counts)):
        for a in range(pointers[i], pointers[i + 1]):
            landmark, value = landmarks[a], values[a]
            for b in range(by_landmark[landmark], by_landmark[landmark + 1]):
                similarity[points[b]] += value * entries[b]
        counts[i] = _pick_largest(similarity, i, 0.0, best, neighbours[i])
        similarity[:] = 0.0


@kernel()
def find_neighbours_in_products(similarity, first, best, neighbours, counts):
    """The same for the points from `first` on, whose inner products with all points are the rows of `similarity`."""
    for r in range(len(similarity)):
        counts[first + r] = _pick_largest(similarity[r], first + r, 0.0, best, neighbours[first + r])


@kernel()
def find_nearest(closeness, own, best, neighbours, counts):
    """In each row of `closeness` the places of the up to t largest values but own[i]; ties go to the first."""
    for i in range(len(closeness)):
        counts[i] = _pick_largest(closeness[i], own[i], -np.inf, best, neighbours[i])


@kernel()
def measure_distances(X, landmarks, neighbours, counts, squares):
    """The squared distance of each point to its neighbours among the landmarks, without cancellation."""
    for i in range(len(X)):
        for a in range(counts[i]):
            landmark, total = landmarks[neighbours[i, a]], 0.0
            for d in range(len(landmark)):
                total += (X[i, d] - landmark[d]) ** 2
            squares[i, a] = total


@helper()
def _pick_largest(similarity, own, least, best, neighbours):
    """Put the places of the largest entries above `least`, but `own`, into `neighbours`. Returns their number."""
    t, found = len(best), 0
    for j in range(len(similarity)):
        value = similarity[j]
        if value > least and j != own:
            found = min(found + 1, t)
            place = found - 1
            while place > 0 and best[place - 1] < value:
                best[place], neighbours[place] = best[place - 1], neighbours[place - 1]
                place -= 1
            best[place], neighbours[place] = value, j
            if found == t:
                least = best[t - 1]
    return found
