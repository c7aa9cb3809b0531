"""The search for points with similar codes, compiled."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def search(pointers, landmarks, values, by_landmark, points, entries, similarity, best, neighbours, counts):
    """For each point the others with the largest positive inner product of codes; of equal ones the first.

    Only landmarks that two points share cost anything. Codes come twice: by point (`pointers`, `landmarks`, `values`)
    and by landmark (`by_landmark`, `points`, `entries`). `similarity` (n zeros) and `best` (t) are room to work in;
    `neighbours` (n x t) and `counts` (n) are the answer.
    """
    for i in range(len(counts)):
        for a in range(pointers[i], pointers[i + 1]):
            landmark, value = landmarks[a], values[a]
            for b in range(by_landmark[landmark], by_landmark[landmark + 1]):
                similarity[points[b]] += value * entries[b]
        counts[i] = _pick(similarity, i, best, neighbours[i])
        similarity[:] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def pick_rows(similarity, first, best, neighbours, counts):
    """The same from inner products that are there already: row r of `similarity` is that of point `first` + r."""
    for r in range(len(similarity)):
        counts[first + r] = _pick(similarity[r], first + r, best, neighbours[first + r])


@njit(cache=True, nogil=True, error_model="numpy")
def _pick(similarity, own, best, neighbours):
    """Keep the places of the largest positive entries but `own`, largest first; how many there are."""
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
