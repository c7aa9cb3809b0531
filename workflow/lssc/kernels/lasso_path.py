"""The homotopy path of one point's lasso, or elastic net, over a few candidate landmarks.

With r = q - Gc, a level M falls from max|q| to mu = 1/lam. The active landmarks keep r_j = M sign_j, which moves their
coefficients on straight lines until one reaches zero (it leaves) or another |r_j| reaches M (it joins). To correct a
solution in which one candidate, the lead, violates |r_j| <= mu, only the lead's level falls and mu stays. If a
candidate that joins then depends on the active landmarks, it takes the place of one of them.

Arrays over candidates and over active landmarks are filled up with zeros to multiples of PAD. Inner products of
landmarks are looked up in G, m x m, or computed from coordinates if G is left out. A ridge penalty is a number added to
the diagonal of G.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lssc.kernels.compiled import FAST, helper
from lssc.kernels.vectors import PAD, index_of_largest_magnitude, index_of_smallest
from lssc.types import Array

# Problems in more dimensions than this check residuals through G, those in fewer through coordinates.
MAX_DIMENSIONS_BY_COORDINATES = 32
# Up to this many landmarks G is formed even in few dimensions.
MAX_LANDMARKS_BY_GRAM = 2048
# Bytes of a cache line, at which arrays begin.
CACHE_LINE_BYTES = 64
# A landmark is dependent, and refused, if less than this share of its square lies outside the span of the active ones.
MIN_INDEPENDENT_SHARE = 1e-10
# Joins and leaves of one path.
MAX_STEPS = 100_000
# A step longer than any that occurs; a finite number, as fast arithmetic may assume that there is no infinity.
NEVER = 1e300

# No reference counts (_nrt): nothing here owns an array, and each count costs a locked instruction.
_called, _inlined = (helper(fastmath=FAST, forceinline=inline, _nrt=False) for inline in (False, True))


class Dictionary(NamedTuple):
    """The landmarks: L, L' in single precision, L L' in both precisions, largest norm. Unused arrays are empty."""

    atoms: np.ndarray
    columns32: np.ndarray
    gram: np.ndarray
    gram32: np.ndarray
    longest: float


class LassoWorkspace(NamedTuple):
    """Arrays of the point that is being solved."""

    # By candidate: landmark, r, how fast r falls, step at which it joins, whether it may join.
    candidates: np.ndarray
    r: np.ndarray
    rate: np.ndarray
    when: np.ndarray
    free: np.ndarray
    # Rows of G of the active landmarks, and coordinates, by candidate.
    rows: np.ndarray
    coordinates: np.ndarray
    # By active landmark: candidate, sign, coefficient and its slope, a vector to work in, step at which it leaves.
    active: np.ndarray
    sign: np.ndarray
    weight: np.ndarray
    slope: np.ndarray
    column: np.ndarray
    ends: np.ndarray
    # Inverse of the Gram matrix of the active landmarks.
    inverse: np.ndarray
    # r by landmark in single precision, x - L'c, two floats to work in, and the ridge penalty.
    residual32: np.ndarray
    remainder: np.ndarray
    cell: np.ndarray
    ridge: np.ndarray


def make_dictionary(landmarks: Array) -> Dictionary:
    """What the solver needs of the landmarks (rows)."""
    few, empty = landmarks.shape[1] <= MAX_DIMENSIONS_BY_COORDINATES, np.empty((0, 0))
    gram = empty if few and len(landmarks) > MAX_LANDMARKS_BY_GRAM else landmarks @ landmarks.T
    columns32 = np.ascontiguousarray(landmarks.T if few else empty, dtype=np.float32)
    gram32 = (empty if few else gram).astype(np.float32)
    longest = float(np.sqrt((landmarks**2).sum(axis=1).max(initial=0)))
    return Dictionary(np.ascontiguousarray(landmarks), columns32, gram, gram32, longest)


def make_lasso_workspace(m: int, D: int, most: int = 0) -> LassoWorkspace:
    """Arrays for points of D dimensions and m landmarks, fewer than `most` of them active: at most min(D, m) if 0."""
    most = most or min(D, m) + 1
    wide, tall = (m + 2 * PAD - 1) // PAD * PAD, (most + PAD - 1) // PAD * PAD
    by_coordinates = m > MAX_LANDMARKS_BY_GRAM and D <= MAX_DIMENSIONS_BY_COORDINATES
    return LassoWorkspace(
        *(aligned_zeros(wide, dtype=np.uint32), *(aligned_zeros(wide) for _ in range(4))),
        *(_spread_rows(most, wide), _spread_rows(D if by_coordinates else 0, wide)),
        *(aligned_zeros(tall, dtype=np.uint32), *(aligned_zeros(tall) for _ in range(5)), _spread_rows(tall, tall)),
        *(aligned_zeros(m, dtype=np.float32), aligned_zeros(D), aligned_zeros(2), aligned_zeros(1)),
    )


def aligned_zeros(*shape: int, dtype: Any = np.float64) -> Any:
    """Zeros that begin at a cache line: vectors that cross one take longer."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + CACHE_LINE_BYTES, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE_BYTES
    return memory[start : start + size].view(dtype).reshape(shape)


def _spread_rows(n: int, length: int) -> Any:
    """Zeros in n rows, an odd multiple of PAD long: rows a power of two apart displace each other in the cache."""
    return aligned_zeros(n, (length // PAD | 1) * PAD)


@_inlined
def round_up(n):
    """The next multiple of PAD."""
    return (n + PAD - 1) // PAD * PAD


@_called
def follow_path(dictionary, work, n, k, level, mu, lead, excess):
    """Follow the path of n candidates, k of them active, from `level` to mu, or lower the lead's level by `excess`.

    Returns the number of active landmarks at the end; -1 if there is no room for the lead, or no end.
    """
    falls, left, wide = 0.0 if lead >= 0 else 1.0, excess if lead >= 0 else level - mu, round_up(n)
    # np.int64: Numba would compile `_find_join` once more for a literal.
    join, place, resting, side, n_exchanges = lead, np.int64(-1), np.int64(-1), 0.0, 0
    if lead < 0 and k == 0:
        join = index_of_largest_magnitude(work.r, wide)
    elif lead < 0:
        _compute_slopes(work, k)
    for _ in range(MAX_STEPS):
        if join >= 0:
            _read_gram_row(dictionary, work, n, wide, k, join)
            if _join(work, k, join):
                if join == lead:
                    place = k
                k += 1
            elif join == lead or (lead >= 0 and k + 1 == len(work.rows) and n_exchanges < len(work.rows)):
                n_exchanges += 1
                leave, is_sound = _exchange(dictionary, work, n, wide, k, join, place)
                if not is_sound or (leave < 0 and join == lead):
                    return -1
                if leave >= 0:
                    resting, side = np.int64(work.cell[0]), work.cell[1]
                    place = k - 1 if join == lead else leave if place == k - 1 else place
        leave, step = _find_leave(work, k, wide, place, left)
        join, step = _find_join(work, wide, level, falls, resting, side, step)
        _advance(work, step, round_up(k), wide)
        level, left, resting = level - falls * step, left - step, np.int64(-1)
        if join < 0:
            if leave < 0:
                return k
            resting, side = work.active[leave], work.sign[leave]
            k = _leave(work, wide, k, leave)
            if place == k:
                place = leave
    return -1


@_inlined
def _compute_slopes(work, k):
    """slope = inverse @ sign."""
    multiply_rows(work.slope, work.inverse, work.sign, k, round_up(k))


@_inlined
def _read_gram_row(dictionary, work, n, wide, k, join):
    """Set row k to the inner products of a candidate with all candidates."""
    row, j = work.rows[k], work.candidates[join]
    if len(dictionary.gram) > 0:
        gram = dictionary.gram[j]
        for i in range(n):
            row[i] = gram[work.candidates[i]]
        for i in range(n, wide):
            row[i] = 0.0
        row[join] += work.ridge[0]
        return
    atom, coordinates = dictionary.atoms[j], work.coordinates
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
    row[join] += work.ridge[0]


@_inlined
def _join(work, k, join):
    """Make a candidate active: add a row and a column to the inverse. False if it depends on the active ones."""
    row, u, inverse, tall = work.rows[k], work.column, work.inverse, round_up(k + 1)
    if k % PAD == 0:
        _clear_active(work, k, tall)
    for i in range(tall):
        u[i] = 0.0
    for i in range(0, k - 3, 4):
        a, b = row[work.active[i]], row[work.active[i + 1]]
        e, f = row[work.active[i + 2]], row[work.active[i + 3]]
        for j in range(tall):
            u[j] += a * inverse[i, j] + b * inverse[i + 1, j] + e * inverse[i + 2, j] + f * inverse[i + 3, j]
    for i in range(k - k % 4, k):
        f = row[work.active[i]]
        for j in range(tall):
            u[j] += f * inverse[i, j]
    outside, along = row[join], 0.0
    for i in range(k):
        outside -= u[i] * row[work.active[i]]
        along += u[i] * work.sign[i]
    work.free[join] = 0.0
    # Without a ridge, more landmarks than dimensions are dependent: the last row is there for the test only.
    if outside <= MIN_INDEPENDENT_SHARE * row[join] or k + 1 == len(work.rows):
        return False
    _extend_inverse(work, k, tall, 1.0 / outside)
    work.active[k] = join
    work.sign[k] = 1.0 if work.r[join] > 0 else -1.0
    work.weight[k] = work.slope[k] = 0.0
    # Update slope = inverse @ sign without a product.
    slope = (work.sign[k] - along) * (1.0 / outside)
    for i in range(tall):
        work.slope[i] -= slope * u[i]
    return True


@_inlined
def _find_exchange(work, k, join):
    """Which coefficient reaches zero first if a candidate that depends on the active landmarks grows; -1 if none does.

    Their coefficients then change by -u, u = work.column of `_join`, and no r_j changes.
    """
    side, tall = 1.0 if work.r[join] > 0 else -1.0, round_up(k)
    # A ridge penalty makes every landmark independent: there is no room for more.
    if work.ridge[0] > 0.0:
        return np.int64(-1)
    for i in range(tall):
        slope = -side * work.column[i]
        x = -work.weight[i] / slope
        x = x if x > 0.0 else 0.0
        work.ends[i] = x if work.sign[i] * slope < 0.0 else NEVER
    leave = index_of_smallest(work.ends, tall)
    return np.int64(leave) if work.ends[leave] < NEVER else np.int64(-1)


@_called
def _exchange(dictionary, work, n, wide, k, join, place):
    """Make a candidate that depends on the active landmarks active in place of one of them, but not of the lead.

    Returns the place that became free, -1 if there is none, and whether all went well. work.cell holds the candidate
    that left and its sign.
    """
    leave = _find_exchange(work, k, join)
    if leave < 0 or leave == place:
        return np.int64(-1), True
    work.cell[0], work.cell[1] = work.active[leave], work.sign[leave]
    step = work.ends[leave] if work.r[join] > 0 else -work.ends[leave]
    for i in range(k):
        work.weight[i] -= step * work.column[i]
    k = _leave(work, wide, k, leave)
    _read_gram_row(dictionary, work, n, wide, k, join)
    if not _join(work, k, join):
        return leave, False
    work.weight[k] = step
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
    tall = round_up(k)
    if place >= 0:
        for i in range(tall):
            work.slope[i] = work.inverse[place, i] * work.sign[place]
    # How fast each candidate's r falls.
    multiply_rows(work.rate, work.rows, work.slope, k, wide)
    weight, slope, sign, ends = work.weight, work.slope, work.sign, work.ends
    for i in range(tall):
        x = -weight[i] / slope[i]
        # A landmark that joined in a tie may have to leave at once.
        x = x if x > 0.0 else 0.0
        ends[i] = x if sign[i] * slope[i] < 0.0 else NEVER
    leave = index_of_smallest(ends, tall)
    step = ends[leave]
    if step >= left:
        step, leave = left, -1
    return leave, step


@_inlined
def multiply_rows(total, rows, factors, k, wide):
    """total = factors @ rows, of the first k rows and `wide` columns, four rows at a time."""
    for j in range(wide):
        total[j] = 0.0
    for i in range(0, k - 3, 4):
        a, b, e, f = factors[i], factors[i + 1], factors[i + 2], factors[i + 3]
        for j in range(wide):
            total[j] += a * rows[i, j] + b * rows[i + 1, j] + e * rows[i + 2, j] + f * rows[i + 3, j]
    for i in range(k - k % 4, k):
        a = factors[i]
        for j in range(wide):
            total[j] += a * rows[i, j]


@_inlined
def _find_join(work, wide, level, falls, resting, side, step):
    """Which free candidate's |r_j| meets the level first, and at which step; (-1, step) if none does before."""
    r, rate, free, when = work.r, work.rate, work.free, work.when
    for j in range(wide):
        s = 1.0 if falls * r[j] - level * rate[j] > 0.0 else -1.0
        x = (level - s * r[j]) / (falls - s * rate[j])
        # If r_j and the level move in parallel, they never meet and x is not a number.
        x = x if free[j] > 0.5 and x < NEVER else NEVER
        when[j] = x if x > 0.0 else 0.0
    if resting >= 0:
        # It has just left at this side and moves away from it, whatever rounding says: only the other side counts.
        meets = falls + side * rate[resting]
        when[resting] = max((level + side * r[resting]) / meets, 0.0) if meets > 0.0 else NEVER
        free[resting] = 1.0
    join = index_of_smallest(when, wide)
    if when[join] < step:
        return join, when[join]
    return -1, step


@_inlined
def _advance(work, step, tall, wide):
    """Move coefficients and residuals along the path."""
    for i in range(tall):
        work.weight[i] += step * work.slope[i]
    for j in range(wide):
        work.r[j] -= step * work.rate[j]


@_inlined
def _leave(work, wide, k, leave):
    """Make an active landmark inactive; the last one takes its place. Returns how many are left."""
    u, inverse, last, tall = work.column, work.inverse, k - 1, round_up(k)
    pivot = 1.0 / inverse[leave, leave]
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
        for j in range(wide):
            work.rows[leave, j] = work.rows[last, j]
        for i in range(k):
            inverse[i, leave] = inverse[i, last]
        for i in range(tall):
            inverse[leave, i] = inverse[last, i]
    for i in range(k):
        inverse[i, last] = 0.0
    work.weight[last] = work.slope[last] = work.sign[last] = 0.0
    return last
