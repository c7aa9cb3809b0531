"""The lasso of one point: the path over its nearest landmarks, then a check over all of them.

The code c of a point x is optimal if |r_j| <= mu everywhere and r_j = mu sign(c_j) where c_j is not zero, with mu =
1/lam and r = q - Gc; a ridge penalty adds to the diagonal of G. The path runs over the landmarks of largest |q_j| only.
Then |r_j| <= mu is checked for all; the worst violation, if any, joins as the lead of another path. If that fails,
because landmarks are linearly dependent, the whole path is followed again with every landmark as a candidate.
"""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import FAST, helper
from lssc.kernels.lasso_path import follow_path, round_up
from lssc.kernels.vectors import PAD, dot, index_of_largest_magnitude32

# Candidates per point that the threshold on |q_j| / max|q| aims at, and the largest threshold.
TARGET_CANDIDATES, MAX_THRESHOLD = 48, 0.98
# Violations of |r_j| <= mu, relative to mu: up to the first it is rounding; beyond the second a code counts as failed.
ROUNDING, MAX_VIOLATION = 1e-9, 1e-6
# Violations of at least this share of the worst one are large.
LARGE_SHARE = 0.6
# Steps of iterative refinement of the coefficients at the end of a path.
MAX_REFINEMENTS = 3
# Relative rounding error of single precision.
EPSILON32 = 6e-8

# Literal numbers in calls are wrapped in np.int64: Numba would compile another copy of the function for each literal.
# No reference counts (_nrt): nothing here owns an array, and each count costs a locked instruction.
_inlined = helper(fastmath=FAST, forceinline=True, _nrt=False)


@_inlined
def update_threshold(threshold, n_candidates):
    """The threshold for the next point, after one with so many candidates."""
    return threshold * 0.98 if n_candidates < TARGET_CANDIDATES else min(MAX_THRESHOLD, threshold * 1.01)


@_inlined
def choose_candidates(q, limit, dictionary, work):
    """Make the landmarks with |q_j| >= limit the candidates. Returns how many there are."""
    n = np.int64(0)
    for j in range(len(q)):
        work.candidates[n] = j
        n += abs(q[j]) >= limit
    for j in range(n):
        work.r[j], work.free[j] = q[work.candidates[j]], 1.0
    for d in range(len(work.coordinates) if len(dictionary.gram) == 0 else 0):
        for j in range(n):
            work.coordinates[d, j] = dictionary.atoms[work.candidates[j], d]
    _clear_candidates(work, n, round_up(n), np.int64(0))
    return n


@_inlined
def solve_point(x, q, dictionary, own, top, mu, n, work, many=False):
    """Solve the lasso of x from the n candidates in `work`; `top` is max|q|, `own` a landmark to leave out or -1.

    With `many`, a check is followed by all large violations that it found: quicker for codes of many landmarks.
    Returns how many landmarks the code uses and whether it is optimal; work.active and work.weight hold the code.
    """
    zero, no_lead = np.int64(0), np.int64(-1)
    k, with_all = follow_path(dictionary, work, n, zero, top, mu, no_lead, 0.0), False
    while True:
        worst, r = no_lead, 0.0
        if k >= 0:
            worst, r = _find_violation(x, q, dictionary, own, top, mu, k, work)
            if worst < 0:
                return k, True
        excess = abs(r) - mu
        if k >= 0 and not _is_candidate(worst, n, work):
            _add_candidate(worst, r, dictionary, n, k, work)
            n += 1
            k = follow_path(dictionary, work, n, k, mu, mu, n - 1, excess)
            if many and k >= 0:
                n, k = _add_violations(x, q, dictionary, mu, mu + LARGE_SHARE * excess, n, k, work)
        elif not with_all:
            with_all = True
            n = choose_candidates(q, 0.0, dictionary, work)
            if own >= 0:
                work.free[own] = 0.0
            k = follow_path(dictionary, work, n, zero, top, mu, no_lead, 0.0)
        else:
            # Every landmark was a candidate: a small violation belongs to one that depends on the active ones.
            return max(k, 0), k >= 0 and excess <= MAX_VIOLATION * mu


@_inlined
def _add_violations(x, q, dictionary, mu, limit, n, k, work):
    """Let landmarks that exceeded the limit in the last check join one by one, if they still do. Returns n and k."""
    for j in range(len(q)):
        if abs(work.residual32[j]) > limit and not _is_candidate(j, n, work):
            if len(dictionary.gram32) == 0:
                _compute_remainder(x, dictionary, k, work)
            r = _compute_residual(j, q, dictionary, k, work)
            if abs(r) > limit:
                _add_candidate(j, r, dictionary, n, k, work)
                n += 1
                k = follow_path(dictionary, work, n, k, mu, mu, n - 1, abs(r) - mu)
                if k < 0:
                    break
    return n, k


@_inlined
def _clear_candidates(work, n, wide, k):
    """Clear places n to wide - 1 of the candidates."""
    for j in range(n, wide):
        work.r[j], work.free[j] = 0.0, 0.0
        for i in range(k):
            work.rows[i, j] = 0.0
        for d in range(len(work.coordinates)):
            work.coordinates[d, j] = 0.0


@_inlined
def _add_candidate(landmark, r, dictionary, n, k, work):
    """Append a landmark to the n candidates."""
    if n % PAD == 0:
        _clear_candidates(work, n, n + PAD, k)
    work.candidates[n], work.r[n], work.free[n] = landmark, r, 1.0
    for d in range(len(work.coordinates)):
        work.coordinates[d, n] = dictionary.atoms[landmark, d]
    for i in range(k):
        other = work.candidates[work.active[i]]
        if len(dictionary.gram) > 0:
            work.rows[i, n] = dictionary.gram[other, landmark]
        else:
            work.rows[i, n] = dot(dictionary.atoms[other], dictionary.atoms[landmark])


@_inlined
def _is_candidate(landmark, n, work):
    found = False
    for j in range(n):
        found |= work.candidates[j] == landmark
    return found


@_inlined
def _find_violation(x, q, dictionary, own, top, mu, k, work):
    """The landmark whose |r_j| exceeds mu most, and its r_j; -1 if there is none.

    Single precision, which errs by at most `error`, selects the landmarks whose r_j is computed in double precision.
    """
    # Rounding errors add up along the path; refinement removes them.
    for _ in range(MAX_REFINEMENTS):
        if len(dictionary.gram32) == 0:
            _compute_remainder(x, dictionary, k, work)
        if not _refine(q, dictionary, mu, k, work):
            break
    by_gram = len(dictionary.gram32) > 0
    error = _screen_by_gram(q, dictionary, top, k, work) if by_gram else _screen(len(q), dictionary, work)
    residual32 = work.residual32
    if error >= mu:
        # lam is so large that single precision decides nothing: compute all in double precision.
        for j in range(len(q)):
            residual32[j] = _compute_residual(j, q, dictionary, k, work)
        error = 1e-6 * mu
    for i in range(k):
        residual32[work.candidates[work.active[i]]] = 0.0
    if own >= 0:
        residual32[own] = 0.0
    while True:
        j = index_of_largest_magnitude32(residual32, len(q))
        if abs(residual32[j]) <= mu - error:
            return -1, 0.0
        r = _compute_residual(j, q, dictionary, k, work)
        if abs(r) > mu * (1.0 + ROUNDING):
            return j, r
        residual32[j] = 0.0


@_inlined
def _refine(q, dictionary, mu, k, work):
    """Correct the coefficients if some r_j differs from mu sign_j by more than rounding. Returns whether one did."""
    off, u = 0.0, work.column
    for i in range(k):
        landmark = np.int64(work.candidates[work.active[i]])
        u[i] = _compute_residual(landmark, q, dictionary, k, work) - mu * work.sign[i]
        u[i] -= work.ridge[0] * work.weight[i]
        off = max(off, abs(u[i]))
    if off <= ROUNDING * mu:
        return False
    for i in range(k):
        for j in range(k):
            work.weight[i] += work.inverse[i, j] * u[j]
    return True


@_inlined
def _compute_remainder(x, dictionary, k, work):
    """x - L'c."""
    rest, atoms = work.remainder, dictionary.atoms
    for d in range(len(x)):
        rest[d] = x[d]
    for i in range(k):
        atom = work.candidates[work.active[i]]
        for d in range(len(x)):
            rest[d] -= work.weight[i] * atoms[atom, d]


@_inlined
def _compute_residual(j, q, dictionary, k, work):
    """r_j in double precision."""
    if len(dictionary.gram32) == 0:
        return dot(dictionary.atoms[j], work.remainder)
    r = q[j]
    for i in range(k):
        r -= work.weight[i] * dictionary.gram[work.candidates[work.active[i]], j]
    return r


@_inlined
def _screen(m, dictionary, work):
    """r = L (x - L'c) of every landmark in single precision. Returns a bound on the error."""
    rest, r, columns = work.remainder, work.residual32, dictionary.columns32
    D = len(rest)
    for j in range(m):
        r[j] = 0.0
    for d in range(0, D - 3, 4):
        a, b, e, f = np.float32(rest[d]), np.float32(rest[d + 1]), np.float32(rest[d + 2]), np.float32(rest[d + 3])
        for j in range(m):
            r[j] += a * columns[d, j] + b * columns[d + 1, j] + e * columns[d + 2, j] + f * columns[d + 3, j]
    for d in range(D - D % 4, D):
        a = np.float32(rest[d])
        for j in range(m):
            r[j] += a * columns[d, j]
    return (D + 4) * EPSILON32 * np.sqrt(dot(rest, rest)) * dictionary.longest


@_inlined
def _screen_by_gram(q, dictionary, top, k, work):
    """r = q - Gc of every landmark in single precision. Returns a bound on the error."""
    r, gram, m = work.residual32, dictionary.gram32, len(q)
    total = 0.0
    for j in range(m):
        r[j] = q[j]
    for i in range(k):
        total += abs(work.weight[i])
    for i in range(0, k - 3, 4):
        a, b = np.float32(work.weight[i]), np.float32(work.weight[i + 1])
        e, f = np.float32(work.weight[i + 2]), np.float32(work.weight[i + 3])
        ga, gb = gram[work.candidates[work.active[i]]], gram[work.candidates[work.active[i + 1]]]
        ge, gf = gram[work.candidates[work.active[i + 2]]], gram[work.candidates[work.active[i + 3]]]
        for j in range(m):
            r[j] -= a * ga[j] + b * gb[j] + e * ge[j] + f * gf[j]
    for i in range(k - k % 4, k):
        a, ga = np.float32(work.weight[i]), gram[work.candidates[work.active[i]]]
        for j in range(m):
            r[j] -= a * ga[j]
    return (k + 5) * EPSILON32 * (top + total * dictionary.longest**2)
