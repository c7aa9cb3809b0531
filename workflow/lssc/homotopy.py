"""The lasso of many points over the same landmarks, solved exactly by a homotopy on each one's nearest landmarks.

For a point x, landmarks L (rows), G = L L' and q = L x, the code minimises |c|_1 + lam/2 |x - L'c|^2. With mu = 1/lam
and r = q - Gc this c is characterised by |r_j| <= mu everywhere, and r_j = mu sign(c_j) where c_j is not zero.

From c = 0 a level M falls from max|q| to mu; in between, the active landmarks keep r_j = M sign_j, which moves their
coefficients on straight lines until one reaches zero (it leaves) or another |r_j| reaches M (it joins). Only a few
candidates, those of largest |q_j|, take part. Then |r_j| <= mu is checked for all; the worst offender, if any, is
let in with a level of its own that falls to mu while all others stay, by the same steps. Where that fails, because
landmarks depend on each other, the path is walked again with every landmark as a candidate.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from lssc.types import Array, IndexArray

# Candidates at first, and what loops over them are rounded up to, so that they run in whole vectors.
CANDIDATES, PAD = 48, 8
# A join that leaves less than this share of a landmark outside the span of the active ones is refused.
DEPENDENT = 1e-10
# Offence against |r_j| <= mu, relative to mu, that counts as rounding.
SLACK = 1e-9
# The same at the end of all means: more than this is told as a failure.
TOLERATED = 1e-6
REFINEMENTS = 3
MAX_STEPS = 100_000
# Later than any step: infinity is kept away from the compiler.
FAR = 1e300
# Numbers in one block of correlations: stays in the cache.
BLOCK = 1 << 19

_options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
# The second set promises the compiler that no NaN or infinity comes along, without which it does not vectorise minima.
_exact = njit(fastmath={"reassoc", "contract", "nsz", "arcp"}, **_options)
_finite = njit(fastmath={"reassoc", "contract", "nsz", "arcp", "nnan", "ninf"}, **_options)


class Work(NamedTuple):
    """The arrays of one point under way; the first ones run over candidates, the second ones over active landmarks."""

    candidates: np.ndarray
    r: np.ndarray
    rate: np.ndarray
    when: np.ndarray
    free: np.ndarray
    rows: np.ndarray
    active: np.ndarray
    sign: np.ndarray
    weight: np.ndarray
    slope: np.ndarray
    column: np.ndarray
    inverse: np.ndarray
    residual: np.ndarray


def lasso_codes(X: Array, landmarks: Array, own: IndexArray, lam: float) -> tuple[sparse.csr_matrix, int]:
    """Codes of the rows of X by the rows of `landmarks`, and how many of them are not optimal after all.

    own[i] >= 0 is a landmark that point i must not use.
    """
    n, m = len(X), len(landmarks)
    most = min(X.shape[1], m) + 1
    G = landmarks @ landmarks.T
    work = _work(m, most)
    size = max(1, BLOCK // m)
    counts = np.zeros(n + 1, dtype=np.int64)
    indices, values, unsolved = [], [], 0
    for start in range(0, n, size):
        Q = X[start : start + size] @ landmarks.T
        # Memory that is not written to is not taken.
        where, what = np.empty(len(Q) * most, dtype=np.int32), np.empty(len(Q) * most)
        ends = counts[start + 1 : start + 1 + len(Q)]
        used, failed = _code_block(Q, G, own[start : start + size], 1 / lam, work, ends, where, what)
        indices.append(where[:used].copy())
        values.append(what[:used].copy())
        unsolved += failed
    pointers = np.cumsum(counts)
    codes = sparse.csr_matrix((np.concatenate(values), np.concatenate(indices), pointers), shape=(n, m))
    return codes, unsolved


def _work(m: int, most: int) -> Work:
    wide = m + PAD
    return Work(
        *(np.zeros(wide, dtype=np.int64), np.zeros(wide), np.zeros(wide), np.zeros(wide), np.zeros(wide)),
        np.zeros((most, wide)),
        *(np.zeros(most, dtype=np.int64), np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most)),
        np.zeros((most, most)),
        np.zeros(m),
    )


@_exact
def _code_block(Q, G, own, mu, work, counts, where, what):
    """Codes of the points whose correlations are the rows of Q, one by one; how many coefficients, and failures."""
    used, failed, share = 0, 0, 0.5
    for point in range(len(Q)):
        q = Q[point]
        if own[point] >= 0:
            q[own[point]] = 0.0
        top = _largest(q, len(q))
        k = 0
        if top > mu:
            n_candidates = _choose(q, max(share * top, mu), work)
            # The share of the largest correlation that makes a candidate follows the points.
            share = share * 0.98 if n_candidates < CANDIDATES else min(0.98, share * 1.01)
            k, solved = _code_point(q, G, own[point], top, mu, n_candidates, work)
            failed += not solved
        counts[point] = k
        _sort_active(work, k)
        for i in range(k):
            where[used + i] = work.candidates[work.active[i]]
            what[used + i] = work.weight[i]
        used += k
    return used, failed


@_exact
def _code_point(q, G, own, top, mu, n, work):
    """How many landmarks the code of one point uses, held by work.active and work.weight; whether it is optimal."""
    k, whole = _follow(G, work, n, 0, top, mu, -1, 0.0), False
    while True:
        worst, excess = -1, 0.0
        if k >= 0:
            worst, excess = _offender(q, G, own, mu, k, work)
            if worst < 0:
                return k, True
        if k >= 0 and not _is_candidate(worst, n, work):
            _add_candidate(worst, G, n, k, work)
            n += 1
            k = _follow(G, work, n, k, mu, mu, n - 1, excess)
        elif not whole:
            whole = True
            n = _choose(q, 0.0, work)
            if own >= 0:
                work.free[own] = 0.0
            k = _follow(G, work, n, 0, top, mu, -1, 0.0)
        else:
            # Every landmark took part: what offends by no more than this depends on the active ones and adds nothing.
            return max(k, 0), k >= 0 and excess <= TOLERATED * mu


@_exact
def _follow(G, work, n, k, level, mu, lead, excess):
    """Walk the path: all levels from `level` to mu, or, with a lead, only that candidate's down by `excess`.

    The number of active landmarks at the end; -1 if a lead depends on the active ones or the walk does not end.
    """
    falls = 0.0 if lead >= 0 else 1.0
    left = excess if lead >= 0 else level - mu
    padded = (n + PAD - 1) // PAD * PAD
    join = lead if lead >= 0 else _index_of_largest(work.r, n)
    place, resting, side = -1, -1, 0.0
    for _ in range(MAX_STEPS):
        if join >= 0:
            if _join(G, work, n, padded, k, join):
                if join == lead:
                    place = k
                k += 1
            elif join == lead:
                return -1
        if lead >= 0:
            for i in range(k):
                work.slope[i] = work.inverse[i, place] * work.sign[place]
        _rates(work, k, padded)
        step, leave = _first_zero(work, k, left)
        _arrivals(work.r, work.rate, work.free, work.when, level, falls, padded)
        if resting >= 0:
            # It has just left at this side and moves away from it, whatever rounding says: only the other side is left.
            meets = falls + side * work.rate[resting]
            work.when[resting] = (level + side * work.r[resting]) / meets if meets > 0.0 else FAR
            work.free[resting] = 1.0
            resting = -1
        soonest, join = _smallest(work.when, padded), -1
        if soonest < step:
            step, leave, join = max(soonest, 0.0), -1, 0
            while work.when[join] != soonest:
                join += 1
        for i in range(k):
            work.weight[i] += step * work.slope[i]
        for j in range(padded):
            work.r[j] -= step * work.rate[j]
        level -= falls * step
        left -= step
        if join < 0:
            if leave < 0:
                return k
            resting, side = work.active[leave], work.sign[leave]
            k = _leave(work, padded, k, leave)
            if place == k:
                place = leave
    return -1


@_exact
def _join(G, work, n, padded, k, join):
    """Make a candidate active: one more row and column of the inverse of the active Gram matrix; False if dependent."""
    gram, row, u = G[work.candidates[join]], work.rows[k], work.column
    for i in range(n):
        row[i] = gram[work.candidates[i]]
    for i in range(n, padded):
        row[i] = 0.0
    outside, along = row[join], 0.0
    for i in range(k):
        x = 0.0
        for j in range(k):
            x += work.inverse[i, j] * row[work.active[j]]
        u[i] = x
        outside -= x * row[work.active[i]]
        along += x * work.sign[i]
    work.free[join] = 0.0
    # The last row is there to try, not to keep: more landmarks than dimensions depend on each other.
    if outside <= DEPENDENT * row[join] or k + 1 == len(work.rows):
        return False
    pivot = 1.0 / outside
    for i in range(k):
        f = u[i] * pivot
        for j in range(k):
            work.inverse[i, j] += f * u[j]
        work.inverse[i, k] = -f
        work.inverse[k, i] = -f
    work.inverse[k, k] = pivot
    work.active[k] = join
    work.sign[k] = 1.0 if work.r[join] > 0 else -1.0
    work.weight[k] = 0.0
    # The slopes inverse @ sign follow without a product.
    slope = (work.sign[k] - along) * pivot
    for i in range(k):
        work.slope[i] -= slope * u[i]
    work.slope[k] = slope
    return True


@_exact
def _leave(work, padded, k, leave):
    """Make an active landmark inactive; the last one takes its place. How many are left."""
    u, last = work.column, k - 1
    pivot = 1.0 / work.inverse[leave, leave]
    for i in range(k):
        u[i] = work.inverse[i, leave]
    slope = work.slope[leave] * pivot
    for i in range(k):
        work.slope[i] -= slope * u[i]
        f = u[i] * pivot
        for j in range(k):
            work.inverse[i, j] -= f * u[j]
    if leave != last:
        work.active[leave], work.sign[leave] = work.active[last], work.sign[last]
        work.weight[leave], work.slope[leave] = work.weight[last], work.slope[last]
        for j in range(padded):
            work.rows[leave, j] = work.rows[last, j]
        for i in range(k):
            work.inverse[i, leave] = work.inverse[i, last]
        for i in range(k):
            work.inverse[leave, i] = work.inverse[last, i]
    return last


@_exact
def _rates(work, k, padded):
    """How fast each candidate's r falls: the rows of the active landmarks times their slopes, two rows at a time."""
    rate, rows, slope = work.rate, work.rows, work.slope
    for j in range(padded):
        rate[j] = 0.0
    for i in range(0, k - 1, 2):
        f, g = slope[i], slope[i + 1]
        for j in range(padded):
            rate[j] += f * rows[i, j] + g * rows[i + 1, j]
    if k % 2:
        f = slope[k - 1]
        for j in range(padded):
            rate[j] += f * rows[k - 1, j]


@_exact
def _first_zero(work, k, left):
    """When a coefficient first reaches zero, and whose; `left` and -1 if none does before the end."""
    step, leave = left, -1
    for i in range(k):
        # One that joined in a tie may have to leave at once, with nothing to lose.
        if work.sign[i] * work.slope[i] < 0:
            x = max(-work.weight[i] / work.slope[i], 0.0)
            if x < step:
                step, leave = x, i
    return step, leave


@_exact
def _arrivals(r, rate, free, when, level, falls, padded):
    """When each free candidate's |r_j| meets the level, at the upper or the lower side, whichever comes first."""
    for j in range(padded):
        side = 1.0 if falls * r[j] - level * rate[j] > 0.0 else -1.0
        x = (level - side * r[j]) / (falls - side * rate[j])
        # Where r_j and the level move along together there is no meeting, and x is no number.
        when[j] = x if free[j] > 0.5 and x < FAR else FAR


@_exact
def _choose(q, limit, work):
    """Take the landmarks with |q_j| >= limit as candidates; how many there are."""
    n = 0
    for j in range(len(q)):
        work.candidates[n] = j
        n += abs(q[j]) >= limit
    for j in range(n):
        work.r[j], work.free[j] = q[work.candidates[j]], 1.0
    for j in range(n, n + PAD):
        work.r[j], work.free[j] = 0.0, 0.0
    return n


@_exact
def _add_candidate(landmark, G, n, k, work):
    """Append a landmark to the n candidates; its r is that of the check just made."""
    work.candidates[n], work.r[n], work.free[n] = landmark, work.residual[landmark], 1.0
    for i in range(k):
        work.rows[i, n] = G[work.candidates[work.active[i]], landmark]
    if n % PAD == 0:
        # A new group of places begins.
        for j in range(n + 1, n + PAD):
            work.r[j], work.free[j] = 0.0, 0.0
            for i in range(k):
                work.rows[i, j] = 0.0


@_exact
def _offender(q, G, own, mu, k, work):
    """The landmark with the largest |r_j|, over all of them, and by how much it exceeds mu; -1 if none does."""
    m, residual = len(q), work.residual
    _correlate(q, G, k, work)
    # Rounding adds up along the path; where it shows, a step of refinement takes it away.
    for _ in range(REFINEMENTS):
        if not _refine(mu, k, work):
            break
        _correlate(q, G, k, work)
    if own >= 0:
        residual[own] = 0.0
    worst = _largest(residual, m)
    if worst <= mu * (1.0 + SLACK):
        return -1, 0.0
    return _index_of(residual, worst), worst - mu


@_exact
def _correlate(q, G, k, work):
    """r = q - Gc for every landmark."""
    for j in range(len(q)):
        work.residual[j] = q[j]
    for i in range(k):
        _subtract(work.residual, work.weight[i], G[work.candidates[work.active[i]]], len(q))


@_exact
def _refine(mu, k, work):
    """Bring r_j = mu sign_j about where it is off by more than rounding; whether it was."""
    off = 0.0
    for i in range(k):
        work.column[i] = work.residual[work.candidates[work.active[i]]] - mu * work.sign[i]
        off = max(off, abs(work.column[i]))
    if off <= SLACK * mu:
        return False
    for i in range(k):
        for j in range(k):
            work.weight[i] += work.inverse[i, j] * work.column[j]
    return True


@_exact
def _is_candidate(landmark, n, work):
    found = False
    for j in range(n):
        found |= work.candidates[j] == landmark
    return found


@_exact
def _sort_active(work, k):
    """Active landmarks in increasing order, with their coefficients."""
    for i in range(1, k):
        a, w = work.active[i], work.weight[i]
        j = i
        while j > 0 and work.candidates[work.active[j - 1]] > work.candidates[a]:
            work.active[j], work.weight[j] = work.active[j - 1], work.weight[j - 1]
            j -= 1
        work.active[j], work.weight[j] = a, w


@_exact
def _index_of_largest(r, n):
    return _index_of(r, _largest(r, n))


@_exact
def _index_of(r, size):
    j = 0
    while abs(r[j]) != size:
        j += 1
    return j


@_finite
def _largest(r, n):
    best = 0.0
    for j in range(n):
        best = max(best, abs(r[j]))
    return best


@_finite
def _smallest(when, n):
    best = when[0]
    for j in range(n):
        best = min(best, when[j])
    return best


@_finite
def _subtract(r, f, g, n):
    for j in range(n):
        r[j] -= f * g[j]
