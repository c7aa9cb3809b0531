"""The search for points with similar sparse codes, compiled: only landmarks that two points share cost anything."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def search(pointers, landmarks, values, by_landmark, points, entries, similarity, best, neighbours, counts):
    """For each point the others with the largest positive inner product of codes; of equal ones the first.

    Codes come twice: by point (`pointers`, `landmarks`, `values`) and by landmark (`by_landmark`, `points`, `entries`).
    `similarity` (n zeros) and `best` (t) are room to work in; `neighbours` (n x t) and `counts` (n) are the answer.
    """
    n, t = neighbours.shape
    for i in range(n):
        for a in range(pointers[i], pointers[i + 1]):
            landmark, value = landmarks[a], values[a]
            for b in range(by_landmark[landmark], by_landmark[landmark + 1]):
                similarity[points[b]] += value * entries[b]
        similarity[i] = 0.0
        found, least = 0, 0.0
        for j in range(n):
            value = similarity[j]
            similarity[j] = 0.0
            if value > least:
                found = min(found + 1, t)
                place = found - 1
                while place > 0 and best[place - 1] < value:
                    best[place], neighbours[i, place] = best[place - 1], neighbours[i, place - 1]
                    place -= 1
                best[place], neighbours[i, place] = value, j
                if found == t:
                    least = best[t - 1]
        counts[i] = found
