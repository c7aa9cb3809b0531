"""The homotopy path of one point's lasso, or elastic net, over a few candidate landmarks.

With r = q - Gc, a level M falls from max|q| to mu = 1/lam. The active landmarks keep r_j = M sign_j, which moves their
coefficients on straight lines until one reaches zero (it leaves) or another |r_j| reaches M (it joins). To correct a
solution in which one candidate, the lead, violates |r_j| <= mu, only the lead's level falls and mu stays. If a
candidate that joins then depends on the active landmarks, it takes the place of one of them.

A landmark is either a candidate or active. Arrays over both are used in whole multiples of PAD; candidates beyond the
last are marked as not free. Inner products of landmarks are looked up in G, m x m, or computed from coordinates if G is
left out. A ridge penalty is a number added to the diagonal of G. The arrays may be in single precision, except for the
coefficients.
"""

from __future__ import annotations

import numpy as np

from lssc.kernels.compiled import FAST, disjoint, helper
from lssc.kernels.vectors import PAD, dot, index_of_largest_magnitude, index_of_smallest

# Joins and leaves of one path.
MAX_STEPS = 100_000
# Unsigned: a signed index could count from the end, and compiled loops would test for it.
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)
# No reference counts (_nrt): nothing here owns an array, and each count costs a locked instruction.
_called, _inlined = (helper(fastmath=FAST, forceinline=inline, _nrt=False) for inline in (False, True))


@_inlined
def round_up(n):
    """The next multiple of PAD."""
    return (n + PAD - 1) // PAD * PAD


@_called
def follow_path(dictionary, work, n, k, level, mu, lead, excess):
    """Follow the path of n candidates and k active landmarks from `level` to mu, or lower the lead's by `excess`.

    Returns both numbers at the end; the second is -1 if there is no room for the lead, or no end.
    """
    real, is_lead = work.r.dtype.type, lead >= 0
    falls, left, level = real(0.0 if is_lead else 1.0), real(excess if is_lead else level - mu), real(level)
    # np.int64: Numba would compile `_find_join` once more for a literal.
    place, resting, side, n_exchanges = np.int64(-1), np.int64(-1), real(0.0), 0
    join = lead if is_lead else _start(work, n, k)
    for _ in range(MAX_STEPS):
        if join >= 0:
            if _join(dictionary, work, n, k, join):
                if is_lead:
                    place = k
                n, k = n - 1, k + 1
            elif is_lead or (lead >= 0 and k + 1 == len(work.rows) and n_exchanges < len(work.rows)):
                n_exchanges += 1
                leave, is_sound = _exchange(dictionary, work, n, k, join, place, level)
                if not is_sound or (leave < 0 and is_lead):
                    return n, np.int64(-1)
                if leave >= 0:
                    resting, side = join, real(work.cell[0])
                    place = k - 1 if is_lead else leave if place == k - 1 else place
            is_lead = False
        # At least one place, which is not free, for the search.
        wide = round_up(max(n, 1))
        leave, step = _find_leave(work, k, wide, place, left)
        join, step = _find_join(work, wide, level, falls, resting, side, step)
        _advance(work, step, round_up(k), wide)
        level, left, resting = level - falls * step, left - step, np.int64(-1)
        if join < 0:
            if leave < 0:
                return n, k
            resting, side = n, work.sign[leave]
            _leave(dictionary, work, n, k, leave, level)
            n, k = n + 1, k - 1
            if place == k:
                place = leave
    return n, np.int64(-1)


@_inlined
def _start(work, n, k):
    """The candidate that joins first, if no landmark is active; otherwise -1, and slope = inverse @ sign."""
    if k == 0:
        return np.int64(index_of_largest_magnitude(work.r, round_up(n)))
    multiply_rows(work.slope, work.inverse, work.sign, k, round_up(k))
    return np.int64(-1)


@_inlined
def append_candidate(dictionary, work, n, k, landmark, r, mark):
    """Make a landmark the last of n + 1 candidates, with this r and this mark."""
    if n % PAD == 0:
        clear_candidates(work, n, n + PAD)
    work.candidates[n], work.r[n], work.free[n] = landmark, r, mark
    for d in range(len(work.coordinates)):
        work.coordinates[d, n] = dictionary.atoms[landmark, d]
    for i in range(k):
        work.rows[i, n] = _inner_product(dictionary, work.active[i], landmark)


@_inlined
def clear_candidates(work, n, wide):
    """Clear places n to wide - 1 of the candidates."""
    for j in range(n, wide):
        work.r[j], work.free[j] = 0.0, 0.0


@_inlined
def _remove_candidate(work, n, k, place):
    """Remove one of n candidates; the last one takes its place."""
    last = n - 1
    work.candidates[place], work.r[place], work.free[place] = work.candidates[last], work.r[last], work.free[last]
    for d in range(len(work.coordinates)):
        work.coordinates[d, place] = work.coordinates[d, last]
    for i in range(k):
        work.rows[i, place] = work.rows[i, last]
    clear_candidates(work, last, n)


@_inlined
def _inner_product(dictionary, a, b):
    """The inner product of two landmarks."""
    if len(dictionary.path_gram) > 0:
        return dictionary.path_gram[a, b]
    return dictionary.path_gram.dtype.type(dot(dictionary.atoms[a], dictionary.atoms[b]))


@_inlined
def _read_products(dictionary, work, k, landmark):
    """Set the inner products of a landmark with the active ones."""
    if len(dictionary.path_gram) > 0:
        gram = dictionary.path_gram[landmark]
        for i in range(k):
            work.products[i] = gram[work.active[i]]
    else:
        for i in range(k):
            work.products[i] = dot(dictionary.atoms[work.active[i]], dictionary.atoms[landmark])


@_inlined
def _read_gram_row(dictionary, work, n, k, landmark):
    """Set row k to the inner products of a landmark with all candidates."""
    row = work.rows[k]
    if len(dictionary.path_gram) > 0:
        gram = dictionary.path_gram[landmark]
        for i in range(n):
            row[i] = gram[work.candidates[i]]
        return
    atom, coordinates, wide = dictionary.atoms[landmark], work.coordinates, round_up(n)
    D = len(atom)
    for i in range(wide):
        row[i] = 0.0
    for d in range(0, D - 3, 4):
        a, b, e, f = atom[d], atom[d + 1], atom[d + 2], atom[d + 3]
        for i in range(wide):
            row[i] += a * coordinates[d, i] + b * coordinates[d + 1, i]
            row[i] += e * coordinates[d + 2, i] + f * coordinates[d + 3, i]
    for d in range(D - D % 4, D):
        for i in range(wide):
            row[i] += atom[d] * coordinates[d, i]


@_inlined
def _join(dictionary, work, n, k, join):
    """Make a candidate active: add a row and a column to the inverse. False if it depends on the active ones."""
    real, landmark, products, u = work.r.dtype.type, work.candidates[join], work.products, work.column
    if k % PAD == 0:
        _clear_active(work, k, round_up(k + 1))
    _read_products(dictionary, work, k, landmark)
    multiply_rows(u, work.inverse, products, k, round_up(k + 1))
    square = _inner_product(dictionary, landmark, landmark) + real(work.ridge[0])
    outside, along = square, real(0.0)
    for i in range(k):
        outside -= u[i] * products[i]
        along += u[i] * work.sign[i]
    work.free[join] = 0.0
    # Without a ridge, more landmarks than dimensions are dependent: the last row is there for the test only.
    if outside <= work.limits[1] * square or k + 1 == len(work.rows):
        return False
    pivot = real(1.0) / outside
    work.active[k], work.weight[k], work.slope[k] = landmark, 0.0, 0.0
    work.sign[k] = 1.0 if work.r[join] > 0 else -1.0
    _extend_inverse(work, k, round_up(k + 1), pivot)
    # Update slope = inverse @ sign without a product.
    slope = (work.sign[k] - along) * pivot
    for i in range(round_up(k + 1)):
        work.slope[i] -= slope * u[i]
    _read_gram_row(dictionary, work, n, k, landmark)
    _remove_candidate(work, n, k + 1, join)
    return True


@_inlined
def _find_exchange(work, k, join):
    """Which coefficient reaches zero first if a candidate that depends on the active landmarks grows; -1 if none does.

    Their coefficients then change by -u, u = work.column of `_join`, and no r_j changes.
    """
    side, tall, never = 1.0 if work.r[join] > 0 else -1.0, round_up(k), work.limits[0]
    # A ridge penalty makes every landmark independent: there is no room for more.
    if work.ridge[0] > 0.0:
        return np.int64(-1)
    for i in range(tall):
        slope = -side * work.column[i]
        x = -work.weight[i] / slope
        x = x if x > 0.0 else 0.0
        work.ends[i] = x if work.sign[i] * slope < 0.0 else never
    leave = index_of_smallest(work.ends, tall)
    return np.int64(leave) if work.ends[leave] < never else np.int64(-1)


@_called
def _exchange(dictionary, work, n, k, join, place, level):
    """Make a candidate that depends on the active landmarks active in place of one of them, but not of the lead.

    Returns the place that became free, -1 if there is none, and whether all went well. The landmark that left is then
    candidate `join`, and work.cell holds its sign.
    """
    leave = _find_exchange(work, k, join)
    if leave < 0 or leave == place:
        return np.int64(-1), True
    work.cell[0] = work.sign[leave]
    step = work.ends[leave] if work.r[join] > 0 else -work.ends[leave]
    for i in range(k):
        work.weight[i] -= step * work.column[i]
    _leave(dictionary, work, n, k, leave, level)
    if not _join(dictionary, work, n + 1, k - 1, join):
        return leave, False
    work.weight[k - 1] = step
    return leave, True


@_inlined
def _clear_active(work, k, tall):
    """Clear places k to tall - 1 of the active landmarks."""
    for i in range(k, tall):
        work.sign[i] = work.slope[i] = work.weight[i] = 0.0
    for i in range(k):
        for j in range(k, tall):
            work.inverse[i, j] = 0.0


@_inlined
def _extend_inverse(work, k, tall, pivot):
    """Add row and column k to the inverse, with u = work.column the inverse times the new column of G."""
    u, inverse = work.column, work.inverse
    u[k] = -1.0
    for j in range(tall):
        inverse[k, j] = 0.0
    for i in range(k + 1):
        f = u[i] * pivot
        for j in range(tall):
            inverse[i, j] += f * u[j]


@_inlined
def _find_leave(work, k, wide, place, left):
    """Which active landmark's coefficient reaches zero first, and at which step; (-1, left) if none does before."""
    real, tall = work.r.dtype.type, round_up(k)
    if place >= 0:
        for i in range(tall):
            work.slope[i] = work.inverse[place, i] * work.sign[place]
    # How fast each candidate's r falls.
    multiply_rows(work.rate, work.rows, work.slope, k, wide)
    if k == 0:
        return np.int64(-1), left
    weight, slope, sign, ends, never, zero = work.weight, work.slope, work.sign, work.ends, work.limits[0], real(0.0)
    for i in range(tall):
        x = -real(weight[i]) / slope[i]
        # A landmark that joined in a tie may have to leave at once.
        x = x if x > zero else zero
        ends[i] = x if sign[i] * slope[i] < zero else never
    leave = index_of_smallest(ends, tall)
    step = ends[leave]
    if step >= left:
        step, leave = left, np.int64(-1)
    return leave, step


@disjoint
@_inlined
def multiply_rows(total, rows, factors, k, wide):
    """total = factors @ rows, of the first k rows and `wide` columns, four rows at a time."""
    for j in range(wide):
        total[j] = 0.0
    for first in range(0, k - 3, 4):
        i = np.uint64(first)
        a, b, e, f = factors[i], factors[i + ONE], factors[i + TWO], factors[i + THREE]
        for j in range(wide):
            total[j] += a * rows[i, j] + b * rows[i + ONE, j] + e * rows[i + TWO, j] + f * rows[i + THREE, j]
    for i in range(k - k % 4, k):
        a = factors[i]
        for j in range(wide):
            total[j] += a * rows[i, j]


@_inlined
def _find_join(work, wide, level, falls, resting, side, step):
    """Which free candidate's |r_j| meets the level first, and at which step; (-1, step) if none does before."""
    r, rate, free, when, never, real = work.r, work.rate, work.free, work.when, work.limits[0], work.r.dtype.type
    zero, half, one = real(0.0), real(0.5), real(1.0)
    for j in range(wide):
        s = one if falls * r[j] - level * rate[j] > zero else -one
        x = (level - s * r[j]) / (falls - s * rate[j])
        # If r_j and the level move in parallel, they never meet and x is not a number.
        x = x if free[j] > half and x < never else never
        when[j] = x if x > zero else zero
    if resting >= 0:
        # It has just left at this side and moves away from it, whatever rounding says: only the other side counts.
        meets = falls + side * rate[resting]
        when[resting] = max((level + side * r[resting]) / meets, zero) if meets > zero else never
    join = np.int64(index_of_smallest(when, wide))
    if when[join] < step:
        return join, when[join]
    return np.int64(-1), step


@_inlined
def _advance(work, step, tall, wide):
    """Move coefficients and residuals along the path."""
    for i in range(tall):
        work.weight[i] += step * work.slope[i]
    for j in range(wide):
        work.r[j] -= step * work.rate[j]


@_inlined
def _leave(dictionary, work, n, k, leave, level):
    """Make an active landmark the last candidate; the last active one takes its place."""
    u, inverse, last, tall = work.column, work.inverse, k - 1, round_up(k)
    landmark, r, pivot = work.active[leave], work.sign[leave] * level, work.r.dtype.type(1.0) / inverse[leave, leave]
    for i in range(tall):
        u[i] = inverse[leave, i]
    slope = work.slope[leave] * pivot
    for i in range(tall):
        work.slope[i] -= slope * u[i]
    for i in range(k):
        f = u[i] * pivot
        for j in range(tall):
            inverse[i, j] -= f * u[j]
    if leave != last:
        work.active[leave], work.sign[leave] = work.active[last], work.sign[last]
        work.weight[leave], work.slope[leave] = work.weight[last], work.slope[last]
        for j in range(n):
            work.rows[leave, j] = work.rows[last, j]
        for i in range(k):
            inverse[i, leave] = inverse[i, last]
        for i in range(tall):
            inverse[leave, i] = inverse[last, i]
    for i in range(k):
        inverse[i, last] = 0.0
    work.weight[last] = work.slope[last] = work.sign[last] = 0.0
    append_candidate(dictionary, work, n, last, landmark, r, 1.0)
