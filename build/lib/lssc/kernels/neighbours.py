"""Nearest neighbours by inner product of codes."""

from __future__ import annotations

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
        counts[i] = _pick_largest(similarity, i, best, neighbours[i])
        similarity[:] = 0.0


@kernel()
def find_neighbours_in_products(similarity, first, best, neighbours, counts):
    """The same for the points from `first` on, whose inner products with all points are the rows of `similarity`."""
    for r in range(len(similarity)):
        counts[first + r] = _pick_largest(similarity[r], first + r, best, neighbours[first + r])


@helper()
def _pick_largest(similarity, own, best, neighbours):
    """Put the places of the largest positive entries but `own` into `neighbours`, in order. Returns their number."""
    t, found, least = len(best), 0, 0.0
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
