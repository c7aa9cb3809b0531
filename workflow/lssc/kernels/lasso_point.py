"""The lasso of one point: the path over its nearest landmarks, with checks over all of them.

The code c of a point x is optimal if |r_j| <= mu everywhere and r_j = mu sign(c_j) where c_j is not zero, with mu =
1/lam and r = q - Gc; a ridge penalty adds to the diagonal of G. The path runs over the landmarks of largest |q_j| only.
If it is long, it stops at levels above mu, where landmarks that come near join the candidates. At each level |r_j| is
checked for all landmarks; those that violate the condition, if any, become the leads of other paths one by one. If that
fails, because landmarks are linearly dependent, the whole path is followed again with every landmark as a candidate.

A path in single precision finds the active landmarks in less time. Their coefficients are then refined, and the
conditions checked, in double precision; if that fails, the point counts as not solved.
"""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import FAST, helper
from lssc.kernels.lasso_path import append_candidate, clear_candidates, follow_path, round_up
from lssc.kernels.vectors import PAD, dot, has_magnitude_above32, index_of_largest_magnitude32

# Candidates per point that the threshold on |q_j| / max|q| aims at, and the largest threshold.
TARGET_CANDIDATES, MAX_THRESHOLD = 40, 0.98
# Violations of |r_j| <= mu, relative to mu: up to the first it is rounding; beyond the second a code counts as failed.
ROUNDING, MAX_VIOLATION = 1e-9, 1e-6
# Checks of one point.
MAX_CHECKS = 1000
# The mark of a candidate that may not join because its |r_j| exceeds the level; at 1 it may, at 0 it has joined.
HELD = 0.25
# A path stops when its level has fallen by about this factor, in few or many dimensions, unless it falls by less than
# the third in all. At a stop, landmarks with |r_j| of at least this share of the level are near.
FALL, FALL_BY_GRAM, FALL_WITHOUT_STOP, NEAR_SHARE = 4.0, 1.4, 10.0, 0.75
# Steps of iterative refinement of the coefficients at the end of a path.
MAX_REFINEMENTS = 5
# Relative rounding error of single precision, and numbers that are safe in it.
EPSILON32, LARGEST32 = 6e-8, 1e30

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
    clear_candidates(work, n, round_up(n))
    return n


@_inlined
def solve_point(x, q, exact_q, error, dictionary, own, top, mu, n, work):
    """Solve the lasso of x from the n candidates in `work`; `top` is max|q|, `own` a landmark to leave out or -1.

    q errs by at most `error`; `exact_q` is q in double precision, or empty. Returns how many landmarks the code uses
    and whether it is optimal; work.active and work.weight hold the code.
    """
    zero, no_lead, with_all, excess, is_single = np.int64(0), np.int64(-1), False, 0.0, work.r.itemsize == 4
    fall = _choose_fall(dictionary, top / mu)
    level = max(top / fall, mu)
    n, k = follow_path(dictionary, work, n, zero, top, level, no_lead, 0.0)
    for _ in range(MAX_CHECKS):
        is_stop, is_sound = level > mu, k >= 0
        if k >= 0:
            worst, r, is_refined = _find_violation(x, q, exact_q, error, dictionary, own, top, level, is_stop, k, work)
            if is_single and not is_refined:
                break
            if worst < 0 and not is_stop:
                is_sound, excess = _has_its_signs(work, k), 0.0
                if is_sound or with_all:
                    return k, is_sound
            elif worst >= 0:
                excess = abs(r) - mu
                n, is_sound = _hold(worst, r, dictionary, n, k, work)
        if is_sound:
            n = _add_near(NEAR_SHARE * level if is_stop else level, level, dictionary, n, k, work)
            n, k = _lower_held(dictionary, work, n, k, level)
            if is_stop and k >= 0:
                start, level = level, level / fall if level > 1.01 * fall * mu else mu
                n, k = follow_path(dictionary, work, n, k, start, level, no_lead, 0.0)
        elif not (with_all or is_single):
            with_all, level = True, mu
            n = choose_candidates(q, 0.0, dictionary, work)
            if own >= 0:
                work.free[own] = 0.0
            n, k = follow_path(dictionary, work, n, zero, top, mu, no_lead, 0.0)
        else:
            break
    # Every landmark was a candidate: a small violation belongs to one that depends on the active ones.
    return max(k, 0), k >= 0 and not is_single and excess <= MAX_VIOLATION * mu


@_inlined
def _has_its_signs(work, k):
    """Whether no coefficient has changed its sign, as rounding can do if landmarks are nearly dependent."""
    same = True
    for i in range(k):
        same &= work.weight[i] * work.sign[i] >= 0.0
    return same


@_inlined
def _choose_fall(dictionary, ratio):
    """The factor by which the level falls from stop to stop, if it falls by `ratio` in all."""
    if ratio <= FALL_WITHOUT_STOP or ratio > LARGEST32:
        return ratio
    return ratio ** (1.0 / np.ceil(np.log(ratio) / np.log(FALL if len(dictionary.gram32) == 0 else FALL_BY_GRAM)))


@_inlined
def _hold(landmark, r, dictionary, n, k, work):
    """Make a landmark with this r a held candidate. Returns the number of candidates, and False if it was one already.

    A candidate that violates its condition depends on the active ones: the path refused it.
    """
    for j in range(n):
        if work.candidates[j] == landmark:
            return n, False
    append_candidate(dictionary, work, n, k, landmark, r, HELD)
    work.residual32[landmark] = 0.0
    return n + 1, True


@_inlined
def _add_near(limit, level, dictionary, n, k, work):
    """Make landmarks candidates whose |r_j| exceeded the limit in the last check, held if it exceeded the level.

    Returns how many candidates there are.
    """
    limit32, largest32, r, near, count = np.float32(limit), np.float32(LARGEST32), work.residual32, work.near, 0
    for j in range(n):
        r[work.candidates[j]] = 0.0
    for start in range(0, len(r), PAD):
        end = min(start + PAD, len(r))
        if has_magnitude_above32(r[start:end], limit32, end - start):
            for j in range(start, end):
                near[count] = j
                # Larger numbers may have overflowed in single precision.
                count += (abs(r[j]) > limit32) & (abs(r[j]) < largest32)
    for i in range(count):
        mark = HELD if abs(r[near[i]]) > level else 1.0
        append_candidate(dictionary, work, n + i, k, near[i], r[near[i]], mark)
    return n + count


@_inlined
def _lower_held(dictionary, work, n, k, level):
    """Lower |r_j| of the held candidates to the level one by one, the largest first, and set them free.

    Returns the numbers of candidates and of active landmarks.
    """
    lead = np.int64(0)
    while k >= 0 and lead >= 0:
        lead, largest = np.int64(-1), level
        for j in range(n):
            if work.free[j] == HELD and abs(work.r[j]) > largest:
                lead, largest = np.int64(j), np.float64(abs(work.r[j]))
        if lead >= 0:
            n, k = follow_path(dictionary, work, n, k, level, level, lead, largest - level)
    for j in range(n):
        if work.free[j] == HELD:
            work.free[j] = 1.0
    return n, k


@_inlined
def _find_violation(x, q, exact_q, error, dictionary, own, top, level, is_stop, k, work):
    """The landmark whose |r_j| exceeds the level most, its r_j, and if refinement succeeded; -1 if there is none.

    Single precision, which errs by at most `error`, selects the landmarks whose r_j is computed in double precision. At
    a stop nothing is selected: only all r_j in single precision are set, for `_add_near`.
    """
    residual32, is_refined = work.residual32, True
    if len(dictionary.gram32) > 0:
        if not is_stop:
            is_refined = _refine_by_gram(x, exact_q, dictionary, level, k, work)
        error += _screen_by_gram(q, dictionary, top, k, work)
    else:
        _refine(x, dictionary, level, is_stop, k, work)
        error += _screen(len(q), dictionary, work)
    if not (is_stop or error < 0.5 * level):
        # lam is so large that single precision decides little: compute all in double precision.
        for j in range(len(q)):
            residual32[j] = _compute_residual(j, x, exact_q, dictionary, k, work)
        error = 1e-6 * level
    for i in range(k):
        residual32[work.active[i]] = 0.0
    if own >= 0:
        residual32[own] = 0.0
    limit = np.float32(level * (1.0 - 2.0 * EPSILON32) - error)
    while not is_stop and has_magnitude_above32(residual32, limit, len(q)):
        j = np.int64(index_of_largest_magnitude32(residual32, len(q)))
        r = _compute_residual(j, x, exact_q, dictionary, k, work)
        if abs(r) > level * (1.0 + ROUNDING):
            return j, r, is_refined
        residual32[j] = 0.0
    return np.int64(-1), 0.0, is_refined


@_inlined
def _refine(x, dictionary, mu, is_stop, k, work):
    """Set the remainder; correct the coefficients until every r_j agrees with mu sign_j, but not at a stop.

    Rounding errors add up along the path; refinement removes them.
    """
    u = work.column
    for _ in range(1 if is_stop else MAX_REFINEMENTS):
        _compute_remainder(x, dictionary, k, work)
        off = 0.0
        for i in range(0 if is_stop else k):
            r = dot(dictionary.atoms[work.active[i]], work.remainder) - work.ridge[0] * work.weight[i]
            u[i] = r - mu * work.sign[i]
            off = max(off, abs(u[i]))
        if off <= ROUNDING * mu:
            break
        for i in range(k):
            for j in range(k):
                work.weight[i] += work.inverse[i, j] * u[j]


@_inlined
def _refine_by_gram(x, exact_q, dictionary, mu, k, work):
    """Correct the coefficients until every r_j agrees with mu sign_j. Returns whether they all do."""
    u, block, weight, tall = work.column, work.block, work.weight, round_up(k)
    _read_block(x, exact_q, dictionary, k, work)
    for _ in range(MAX_REFINEMENTS):
        off = 0.0
        for i in range(k):
            fitted = 0.0
            for j in range(tall):
                fitted += block[i, j] * weight[j]
            r = work.correlation[i] - fitted - mu * work.sign[i]
            u[i] = r
            off = max(off, abs(r))
        if off <= ROUNDING * mu:
            return True
        for i in range(k, tall):
            u[i] = 0.0
        for i in range(k):
            change = u.dtype.type(0.0)
            for j in range(tall):
                change += work.inverse[i, j] * u[j]
            weight[i] += change
    return False


@_inlined
def _read_block(x, exact_q, dictionary, k, work):
    """Set the Gram matrix of the active landmarks, with the ridge penalty, and their correlations."""
    block, active, tall = work.block, work.active, round_up(k)
    for i in range(k):
        gram = dictionary.gram[active[i]]
        for j in range(i + 1):
            block[i, j] = gram[active[j]]
    # In loops of their own: the processor then waits for many of the numbers above at once.
    for i in range(k):
        for j in range(i):
            block[j, i] = block[i, j]
        for j in range(k, tall):
            block[i, j] = 0.0
        block[i, i] += work.ridge[0]
    if len(exact_q) > 0:
        for i in range(k):
            work.correlation[i] = exact_q[active[i]]
    else:
        _correlate_active(x, dictionary, k, work)


@_inlined
def _correlate_active(x, dictionary, k, work):
    """Set q_j in double precision of the active landmarks, of four at a time, which are read together."""
    atoms, active, correlation = dictionary.atoms, work.active, work.correlation
    for i in range(0, k - 3, 4):
        a, b, e, f = atoms[active[i]], atoms[active[i + 1]], atoms[active[i + 2]], atoms[active[i + 3]]
        qa = qb = qe = qf = 0.0
        for d in range(len(x)):
            qa += a[d] * x[d]
            qb += b[d] * x[d]
            qe += e[d] * x[d]
            qf += f[d] * x[d]
        correlation[i], correlation[i + 1], correlation[i + 2], correlation[i + 3] = qa, qb, qe, qf
    for i in range(k - k % 4, k):
        correlation[i] = dot(atoms[active[i]], x)


@_inlined
def _correlate(j, x, exact_q, dictionary):
    """q_j in double precision."""
    return exact_q[j] if len(exact_q) > 0 else dot(dictionary.atoms[j], x)


@_inlined
def _compute_remainder(x, dictionary, k, work):
    """x - L'c."""
    rest, atoms = work.remainder, dictionary.atoms
    for d in range(len(x)):
        rest[d] = x[d]
    for i in range(k):
        atom = work.active[i]
        for d in range(len(x)):
            rest[d] -= work.weight[i] * atoms[atom, d]


@_inlined
def _compute_residual(j, x, exact_q, dictionary, k, work):
    """r_j in double precision."""
    if len(dictionary.gram32) == 0:
        return dot(dictionary.atoms[j], work.remainder)
    r = _correlate(j, x, exact_q, dictionary)
    for i in range(k):
        r -= work.weight[i] * dictionary.gram[work.active[i], j]
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
        ga, gb = gram[work.active[i]], gram[work.active[i + 1]]
        ge, gf = gram[work.active[i + 2]], gram[work.active[i + 3]]
        for j in range(m):
            r[j] -= a * ga[j] + b * gb[j] + e * ge[j] + f * gf[j]
    for i in range(k - k % 4, k):
        a, ga = np.float32(work.weight[i]), gram[work.active[i]]
        for j in range(m):
            r[j] -= a * ga[j]
    return (k + 5) * EPSILON32 * (top + total * dictionary.longest**2)
