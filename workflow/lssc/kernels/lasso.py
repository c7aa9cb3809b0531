"""The lasso of many points over the same landmarks, solved exactly by a homotopy on each one's nearest landmarks.

For a point x, landmarks L (rows), G = L L' and q = L x, the code minimises |c|_1 + lam/2 |x - L'c|^2. With mu = 1/lam
and r = q - Gc this c is characterised by |r_j| <= mu everywhere, and r_j = mu sign(c_j) where c_j is not zero.

From c = 0 a level M falls from max|q| to mu; in between, the active landmarks keep r_j = M sign_j, which moves their
coefficients on straight lines until one reaches zero (it leaves) or another |r_j| reaches M (it joins). Only a few
candidates, those of largest |q_j|, take part. Then |r_j| <= mu is checked for all; the worst offender, if any, is
let in with a level of its own that falls to mu while all others stay, by the same steps. Where that fails, because
landmarks depend on each other, the path is walked again with every landmark as a candidate.

Inner products of landmarks are looked up in G, m x m; of many landmarks in few dimensions they are computed where they
are needed, so that memory is m x D.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy import sparse

from lssc.errors import InputError
from lssc.types import Array, IndexArray, Rows

# Up to so many dimensions the check takes place among the coordinates, and beyond so many landmarks paths do, too.
FEW_DIMENSIONS, FEW_LANDMARKS = 32, 2048
# Candidates at first, and what loops over them are rounded up to, so that they run in whole vectors.
CANDIDATES, PAD = 48, 16
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
# A number without its sign, and the rounding of single precision.
MAGNITUDE, MAGNITUDE32, EPSILON32 = np.int64(0x7FFFFFFFFFFFFFFF), np.int32(0x7FFFFFFF), 6e-8
# Sums of products up to this stay finite in single precision, however they are rounded; the kernel crashes on others.
LARGEST32 = 1e38
# Points read at a time, numbers in one block of correlations (stays in the cache), and its least number of points.
PIECE, BLOCK, LEAST = 1 << 16, 1 << 16, 256
# Bytes in a line of the cache.
LINE = 64
# Points from which is learnt how far candidates may fall behind the best.
SAMPLE = 16

# Nothing here owns an array, so counting references, a locked instruction each, would be in vain.
_options: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
_compiled = njit(fastmath={"reassoc", "contract", "nsz", "arcp"}, **_options)
_inlined = njit(fastmath={"reassoc", "contract", "nsz", "arcp"}, forceinline=True, **_options)


class Dictionary(NamedTuple):
    """The landmarks as the kernel wants them; what it does not need is empty."""

    atoms: np.ndarray
    columns32: np.ndarray
    gram: np.ndarray
    gram32: np.ndarray
    longest: float


class Work(NamedTuple):
    """The arrays of one point under way; the first ones run over candidates, the next ones over active landmarks."""

    candidates: np.ndarray
    r: np.ndarray
    rate: np.ndarray
    when: np.ndarray
    free: np.ndarray
    rows: np.ndarray
    coordinates: np.ndarray
    active: np.ndarray
    sign: np.ndarray
    weight: np.ndarray
    slope: np.ndarray
    column: np.ndarray
    ends: np.ndarray
    inverse: np.ndarray
    residual32: np.ndarray
    remainder: np.ndarray
    cell: np.ndarray


def lasso_codes(
    X: Rows, landmarks: Array, own: IndexArray, lam: float, *, single: bool = False, threads: int = 1
) -> tuple[sparse.csr_matrix, int]:
    """Codes of the rows of X by the rows of `landmarks`, and how many of them are not optimal after all.

    own[i] >= 0 is a landmark that point i must not use. With `single`, correlations are computed in single precision.
    """
    n, m = len(X), len(landmarks)
    if single:
        _require_products32(landmarks)
    coder = _Coder(landmarks, lam, single)
    counts = np.zeros(n + 1, dtype=np.int64)
    parts, unsolved = [], 0
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, n, PIECE):
            # Read-only points would be compiled for anew.
            points = np.require(X[start : start + PIECE], np.float64, ["C", "W"])
            if single:
                _require_products32(points)
            blocks = [slice(i, i + coder.size) for i in range(0, len(points), coder.size)]
            share = coder.share(points)
            jobs = [(points[block], own[start:][block], counts[start + 1 :][block], share) for block in blocks]
            found = list((pool.map if threads > 1 else map)(coder.code, *zip(*jobs, strict=True)))
            parts.append((np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])))
            unsolved += sum(f[2] for f in found)
    pointers = np.cumsum(counts)
    indices, values = np.empty(pointers[-1], dtype=np.int32), np.empty(pointers[-1])
    # Parts are let go one by one, so that there are never two copies of all codes.
    at = len(indices)
    while parts:
        where, what = parts.pop()
        indices[at - len(where) : at], values[at - len(where) : at] = where, what
        at -= len(where)
    return sparse.csr_matrix((values, indices, pointers), shape=(n, m)), unsolved


def _require_products32(points: Array) -> None:
    """InputError unless inner products of such points are finite in single precision."""
    longest, most = max(points.max(initial=0), -points.min(initial=0)), np.sqrt(LARGEST32 / points.shape[1])
    if not longest <= most:
        raise InputError(f"coordinates of up to {longest:.2g} need precision: double; single takes up to {most:.2g}")


class _Coder:
    """Codes blocks of points, in any number of threads."""

    def __init__(self, landmarks: Array, lam: float, single: bool) -> None:
        self.m, self.D = landmarks.shape
        self.lam, self.size = lam, max(LEAST, BLOCK // self.m)
        self.dictionary = dictionary_of(landmarks)
        self.columns = np.ascontiguousarray(landmarks.T, dtype=np.float32 if single else np.float64)
        self.single, self.scratch = single, threading.local()

    def share(self, X: Array) -> float:
        """How small a correlation may be, as a share of the point's largest, for a landmark to be a candidate."""
        some = np.abs(X[:: len(X) // SAMPLE + 1] @ self.columns)
        place = max(0, self.m - CANDIDATES)
        some.partition((place, self.m - 1), axis=1)
        return min(0.98, float(some[:, place].sum() / max(some[:, -1].sum(), 1e-300)))

    def code(self, X: Array, own: IndexArray, counts: IndexArray, share: float) -> tuple[IndexArray, Array, int]:
        """Landmarks and coefficients of these points, one point after the other; how many are not optimal."""
        if not hasattr(self.scratch, "work"):
            most = min(self.D, self.m) + 1
            self.scratch.work = work_of(self.m, self.D)
            self.scratch.Q = _zeros(self.size, self.m)
            # Memory that is not written to is not taken.
            self.scratch.found = np.empty(self.size * most, dtype=np.int32), np.empty(self.size * most)
        Q, (where, what) = self.scratch.Q[: len(X)], self.scratch.found
        if self.single:
            Q[:] = X.astype(np.float32) @ self.columns
        else:
            np.matmul(X, self.columns, out=Q)
        used, failed = _code_block(
            *(X, Q, own, 1 / self.lam, share, self.dictionary, self.scratch.work, counts, where, what)
        )
        return where[:used].copy(), what[:used].copy(), failed


def dictionary_of(landmarks: Array) -> Dictionary:
    few, nothing = landmarks.shape[1] <= FEW_DIMENSIONS, np.empty((0, 0))
    gram = nothing if few and len(landmarks) > FEW_LANDMARKS else landmarks @ landmarks.T
    columns32 = np.ascontiguousarray(landmarks.T if few else nothing, dtype=np.float32)
    gram32 = (nothing if few else gram).astype(np.float32)
    longest = float(np.sqrt((landmarks**2).sum(axis=1).max(initial=0)))
    return Dictionary(np.ascontiguousarray(landmarks), columns32, gram, gram32, longest)


def work_of(m: int, D: int) -> Work:
    most = min(D, m) + 1
    wide, tall = (m + 2 * PAD - 1) // PAD * PAD, (most + PAD - 1) // PAD * PAD
    far = m > FEW_LANDMARKS and D <= FEW_DIMENSIONS
    return Work(
        *(_zeros(wide, dtype=np.uint32), _zeros(wide), _zeros(wide), _zeros(wide), _zeros(wide)),
        *(_zeros(most, wide), _zeros(D if far else 0, wide), _zeros(tall, dtype=np.uint32)),
        *(_zeros(tall), _zeros(tall), _zeros(tall), _zeros(tall), _zeros(tall), _zeros(tall, tall)),
        *(_zeros(m, dtype=np.float32), _zeros(D), _zeros(1)),
    )


def _zeros(*shape: int, dtype: Any = np.float64) -> Any:
    """Zeros that begin at a line of the cache: vectors that cross one take longer."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + LINE, dtype=np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(dtype).reshape(shape)


@_compiled
def _code_block(X, Q, own, mu, share, dictionary, work, counts, where, what):
    """Codes of the points X, Q their correlations, one by one; how many coefficients, and failures."""
    used, failed = 0, 0
    for point in range(len(Q)):
        q = Q[point]
        if own[point] >= 0:
            q[own[point]] = 0.0
        top = _largest(q, len(q), work.cell)
        k = 0
        if top > mu:
            n_candidates = _choose(q, max(share * top, mu), dictionary, work)
            share = _next_share(share, n_candidates)
            k, solved = _code_point(X[point], q, dictionary, own[point], top, mu, n_candidates, work)
            failed += not solved
        counts[point] = k
        _sort_active(work, k)
        for i in range(k):
            where[used + i] = work.candidates[work.active[i]]
            what[used + i] = work.weight[i]
        used += k
    return used, failed


@_inlined
def _next_share(share, n_candidates):
    """The share of the largest correlation that makes a candidate, following the points."""
    return share * 0.98 if n_candidates < CANDIDATES else min(0.98, share * 1.01)


@_inlined
def _code_point(x, q, dictionary, own, top, mu, n, work):
    """How many landmarks the code of one point uses, held by work.active and work.weight; whether it is optimal."""
    k, whole = _follow(dictionary, work, n, 0, top, mu, -1, 0.0), False
    while True:
        worst, r = -1, 0.0
        if k >= 0:
            worst, r = _offender(x, q, dictionary, own, top, mu, k, work)
            if worst < 0:
                return k, True
        excess = abs(r) - mu
        if k >= 0 and not _is_candidate(worst, n, work):
            _add_candidate(worst, r, dictionary, n, k, work)
            n += 1
            k = _follow(dictionary, work, n, k, mu, mu, n - 1, excess)
        elif not whole:
            whole = True
            n = _choose(q, 0.0, dictionary, work)
            if own >= 0:
                work.free[own] = 0.0
            k = _follow(dictionary, work, n, 0, top, mu, -1, 0.0)
        else:
            # Every landmark took part: what offends by no more than this depends on the active ones and adds nothing.
            return max(k, 0), k >= 0 and excess <= TOLERATED * mu


@_compiled
def _follow(dictionary, work, n, k, level, mu, lead, excess):
    """Walk the path: all levels from `level` to mu, or, with a lead, only that candidate's down by `excess`.

    The number of active landmarks at the end; -1 if a lead depends on the active ones or the walk does not end.
    """
    falls = 0.0 if lead >= 0 else 1.0
    left = excess if lead >= 0 else level - mu
    padded = _padded(n)
    join = lead if lead >= 0 else _index_of_largest(work.r, padded)
    place, resting, side = -1, -1, 0.0
    for _ in range(MAX_STEPS):
        if join >= 0:
            _gram_row(dictionary, work, n, padded, k, join)
            if _join(work, k, join):
                if join == lead:
                    place = k
                k += 1
            elif join == lead:
                return -1
        tall = _padded(k)
        if lead >= 0:
            for i in range(tall):
                work.slope[i] = work.inverse[place, i] * work.sign[place]
        _rates(work.rate, work.rows, work.slope, k, padded)
        leave = _first_zero(work.weight, work.slope, work.sign, work.ends, tall)
        step = work.ends[leave]
        if step >= left:
            step, leave = left, -1
        _arrivals(work.r, work.rate, work.free, work.when, level, falls, padded)
        if resting >= 0:
            # It has just left at this side and moves away from it, whatever rounding says: only the other side is left.
            meets = falls + side * work.rate[resting]
            work.when[resting] = max((level + side * work.r[resting]) / meets, 0.0) if meets > 0.0 else FAR
            work.free[resting] = 1.0
            resting = -1
        join = _index_of_smallest(work.when, padded)
        if work.when[join] < step:
            step, leave = work.when[join], -1
        else:
            join = -1
        for i in range(tall):
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


@_inlined
def _gram_row(dictionary, work, n, padded, k, join):
    """Inner products of a candidate with all candidates, as row k."""
    row, j = work.rows[k], work.candidates[join]
    if len(dictionary.gram) > 0:
        gram = dictionary.gram[j]
        for i in range(n):
            row[i] = gram[work.candidates[i]]
        for i in range(n, padded):
            row[i] = 0.0
        return
    atom, coordinates = dictionary.atoms[j], work.coordinates
    D = len(atom)
    for i in range(padded):
        row[i] = 0.0
    for d in range(0, D - 3, 4):
        a, b, e, f = atom[d], atom[d + 1], atom[d + 2], atom[d + 3]
        for i in range(padded):
            row[i] += a * coordinates[d, i] + b * coordinates[d + 1, i]
            row[i] += e * coordinates[d + 2, i] + f * coordinates[d + 3, i]
    for d in range(D - D % 4, D):
        for i in range(padded):
            row[i] += atom[d] * coordinates[d, i]


@_inlined
def _join(work, k, join):
    """Make a candidate active: one more row and column of the inverse of the active Gram matrix; False if dependent."""
    row, u, inverse, tall = work.rows[k], work.column, work.inverse, _padded(k + 1)
    if k % PAD == 0:
        _clear(work, k, tall)
    for i in range(tall):
        u[i] = 0.0
    for i in range(k):
        f = row[work.active[i]]
        for j in range(tall):
            u[j] += f * inverse[i, j]
    outside, along = row[join], 0.0
    for i in range(k):
        outside -= u[i] * row[work.active[i]]
        along += u[i] * work.sign[i]
    work.free[join] = 0.0
    # The last row is there to try, not to keep: more landmarks than dimensions depend on each other.
    if outside <= DEPENDENT * row[join] or k + 1 == len(work.rows):
        return False
    pivot = 1.0 / outside
    u[k] = -1.0
    for j in range(tall):
        inverse[k, j] = 0.0
    for i in range(k + 1):
        f = u[i] * pivot
        for j in range(tall):
            inverse[i, j] += f * u[j]
    work.active[k] = join
    work.sign[k] = 1.0 if work.r[join] > 0 else -1.0
    work.weight[k] = work.slope[k] = 0.0
    # The slopes inverse @ sign follow without a product.
    slope = (work.sign[k] - along) * pivot
    for i in range(tall):
        work.slope[i] -= slope * u[i]
    return True


@_inlined
def _clear(work, k, tall):
    """Places k to tall - 1 of the active landmarks are empty."""
    for i in range(k, tall):
        work.sign[i] = work.slope[i] = work.weight[i] = 0.0
    for i in range(k):
        for j in range(k, tall):
            work.inverse[i, j] = 0.0


@_inlined
def _leave(work, padded, k, leave):
    """Make an active landmark inactive; the last one takes its place. How many are left."""
    u, inverse, last, tall = work.column, work.inverse, k - 1, _padded(k)
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
        for j in range(padded):
            work.rows[leave, j] = work.rows[last, j]
        for i in range(k):
            inverse[i, leave] = inverse[i, last]
        for i in range(tall):
            inverse[leave, i] = inverse[last, i]
    for i in range(k):
        inverse[i, last] = 0.0
    work.weight[last] = work.slope[last] = work.sign[last] = 0.0
    return last


@_inlined
def _rates(rate, rows, slope, k, padded):
    """How fast each candidate's r falls: the rows of the active landmarks times their slopes, two rows at a time."""
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


@_inlined
def _first_zero(weight, slope, sign, ends, tall):
    """Which coefficient reaches zero first; `ends` says when."""
    for i in range(tall):
        x = -weight[i] / slope[i]
        # One that joined in a tie may have to leave at once, with nothing to lose.
        x = x if x > 0.0 else 0.0
        ends[i] = x if sign[i] * slope[i] < 0.0 else FAR
    return _index_of_smallest(ends, tall)


@_inlined
def _arrivals(r, rate, free, when, level, falls, padded):
    """When each free candidate's |r_j| meets the level, at the upper or the lower side, whichever comes first."""
    for j in range(padded):
        side = 1.0 if falls * r[j] - level * rate[j] > 0.0 else -1.0
        x = (level - side * r[j]) / (falls - side * rate[j])
        # Where r_j and the level move along together there is no meeting, and x is no number.
        x = x if free[j] > 0.5 and x < FAR else FAR
        when[j] = x if x > 0.0 else 0.0


@_inlined
def _choose(q, limit, dictionary, work):
    """Take the landmarks with |q_j| >= limit as candidates; how many there are."""
    n = 0
    for j in range(len(q)):
        work.candidates[n] = j
        n += abs(q[j]) >= limit
    for j in range(n):
        work.r[j], work.free[j] = q[work.candidates[j]], 1.0
    for d in range(len(work.coordinates) if len(dictionary.gram) == 0 else 0):
        for j in range(n):
            work.coordinates[d, j] = dictionary.atoms[work.candidates[j], d]
    _clear_candidates(work, n, _padded(n), 0)
    return n


@_inlined
def _clear_candidates(work, n, padded, k):
    """Places n to padded - 1 of the candidates are empty."""
    for j in range(n, padded):
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
            work.rows[i, n] = _dot(dictionary.atoms[other], dictionary.atoms[landmark])


@_inlined
def _offender(x, q, dictionary, own, top, mu, k, work):
    """The landmark, of all, whose |r_j| exceeds mu most, and its r_j; -1 if none does.

    Single precision finds it, being quick and wrong by no more than `error`; only what may offend is looked at closely.
    """
    # Rounding adds up along the path; where it shows, a step of refinement takes it away.
    for _ in range(REFINEMENTS):
        if len(dictionary.gram32) == 0:
            _take_away(x, dictionary, k, work)
        if not _refine(q, dictionary, mu, k, work):
            break
    by_gram = len(dictionary.gram32) > 0
    error = _look_up(q, dictionary, top, k, work) if by_gram else _look(len(q), dictionary, work)
    residual32 = work.residual32
    if error >= mu:
        # Lambda is so large that single precision says nothing: the same in double, rounded.
        for j in range(len(q)):
            residual32[j] = _residual(j, q, dictionary, k, work)
        error = 1e-6 * mu
    for i in range(k):
        residual32[work.candidates[work.active[i]]] = 0.0
    if own >= 0:
        residual32[own] = 0.0
    while True:
        j = _index_of_largest32(residual32, len(q))
        if abs(residual32[j]) <= mu - error:
            return -1, 0.0
        r = _residual(j, q, dictionary, k, work)
        if abs(r) > mu * (1.0 + SLACK):
            return j, r
        residual32[j] = 0.0


@_inlined
def _refine(q, dictionary, mu, k, work):
    """Bring r_j = mu sign_j about where it is off by more than rounding; whether it was."""
    off, u = 0.0, work.column
    for i in range(k):
        u[i] = _residual(work.candidates[work.active[i]], q, dictionary, k, work) - mu * work.sign[i]
        off = max(off, abs(u[i]))
    if off <= SLACK * mu:
        return False
    for i in range(k):
        for j in range(k):
            work.weight[i] += work.inverse[i, j] * u[j]
    return True


@_inlined
def _take_away(x, dictionary, k, work):
    """The remainder x - L'c."""
    rest, atoms = work.remainder, dictionary.atoms
    for d in range(len(x)):
        rest[d] = x[d]
    for i in range(k):
        atom = work.candidates[work.active[i]]
        for d in range(len(x)):
            rest[d] -= work.weight[i] * atoms[atom, d]


@_inlined
def _look(m, dictionary, work):
    """r of every landmark in single precision from the remainder, and a bound of its error."""
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
    return (D + 4) * EPSILON32 * np.sqrt(_dot(rest, rest)) * dictionary.longest


@_inlined
def _look_up(q, dictionary, top, k, work):
    """r = q - Gc of every landmark in single precision, and a bound of its error."""
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


@_inlined
def _residual(j, q, dictionary, k, work):
    """r_j in full precision."""
    if len(dictionary.gram32) == 0:
        return _dot(dictionary.atoms[j], work.remainder)
    r = q[j]
    for i in range(k):
        r -= work.weight[i] * dictionary.gram[work.candidates[work.active[i]], j]
    return r


@_inlined
def _dot(a, b):
    total = 0.0
    for d in range(len(a)):
        total += a[d] * b[d]
    return total


@_inlined
def _is_candidate(landmark, n, work):
    found = False
    for j in range(n):
        found |= work.candidates[j] == landmark
    return found


@_inlined
def _sort_active(work, k):
    """Active landmarks in increasing order, with their coefficients."""
    for i in range(1, k):
        a, w = work.active[i], work.weight[i]
        j = i
        while j > 0 and work.candidates[work.active[j - 1]] > work.candidates[a]:
            work.active[j], work.weight[j] = work.active[j - 1], work.weight[j - 1]
            j -= 1
        work.active[j], work.weight[j] = a, w


@_inlined
def _padded(n):
    return (n + PAD - 1) // PAD * PAD


# Numbers without sign are in the order of their bits, and extrema of integers vectorise where those of floats do not.


@_inlined
def _largest(r, n, cell):
    cell.view(np.int64)[0] = _largest_bits(r, n)
    return cell[0]


@_inlined
def _largest_bits(r, n):
    bits, best = r.view(np.int64), np.int64(0)
    for j in range(n):
        best = max(best, bits[j] & MAGNITUDE)
    return best


@_inlined
def _index_of_largest(r, n):
    bits, best, j = r.view(np.int64), _largest_bits(r, n), 0
    while bits[j] & MAGNITUDE != best:
        j += 1
    return j


@_inlined
def _index_of_smallest(r, n):
    """None of them may be negative."""
    bits, best, j = r.view(np.int64), MAGNITUDE, 0
    for i in range(n):
        best = min(best, bits[i])
    while bits[j] != best:
        j += 1
    return j


@_inlined
def _index_of_largest32(r, n):
    bits, best, j = r.view(np.int32), np.int32(0), 0
    for i in range(n):
        best = max(best, np.int32(bits[i] & MAGNITUDE32))
    while bits[j] & MAGNITUDE32 != best:
        j += 1
    return j


# The farthest-first search of lssc.kernels.farthest_first.


@_compiled
def search(X, squares, Q, dictionary, lam, first, chosen, bound, looked, work):
    """Fill `chosen`; looked[i] exemplars were known when bound[i] was computed. How many costs were computed."""
    point, share, n_solves = first, 0.5, 0
    kept = len(Q) == len(X)
    for size in range(len(chosen)):
        if size > 0:
            point = _index_of_worst(bound)
            while looked[point] < size:
                q = Q[point if kept else 0]
                _correlate_on(X[point], dictionary, looked[point] if kept else 0, size, q)
                looked[point] = size
                bound[point], share = _cost(X[point], squares[point], q[:size], dictionary, lam, share, work)
                n_solves += 1
                point = _index_of_worst(bound)
        chosen[size] = point
        # Never chosen twice, even where a duplicate or a zero point leaves all costs equal.
        bound[point] = -1.0
        _add_exemplar(X[point], size, dictionary)
    return n_solves


@_compiled
def _correlate_on(x, dictionary, start, size, q):
    """Correlations with the exemplars that have come since the last look."""
    for j in range(start, size):
        q[j] = _dot(dictionary.atoms[j], x)


@_compiled
def _cost(x, square, q, dictionary, lam, share, work):
    """min |c|_1 + lam/2 |x - L'c|^2, and the share of the largest correlation that makes a candidate, for the next."""
    mu, top, total, fitted = 1.0 / lam, _largest(q, len(q), work.cell), 0.0, 0.0
    if top > mu:
        n_candidates = _choose(q, max(share * top, mu), dictionary, work)
        share = _next_share(share, n_candidates)
        k, _ = _code_point(x, q, dictionary, -1, top, mu, n_candidates, work)
        for i in range(k):
            total += abs(work.weight[i])
            fitted += work.weight[i] * q[work.candidates[work.active[i]]]
    # At the minimum c'(q - Gc) is |c|_1 / lam, which takes Gc out of the cost.
    return 0.5 * total + 0.5 * lam * (square - fitted), share


@_compiled
def _add_exemplar(x, place, dictionary):
    """Make a point the exemplar of this place."""
    for d in range(len(x)):
        dictionary.atoms[place, d] = x[d]
    for d in range(len(dictionary.columns32)):
        dictionary.columns32[d, place] = x[d]
    for j in range(place + 1):
        product = _dot(dictionary.atoms[j], x)
        dictionary.gram[place, j] = dictionary.gram[j, place] = product
        if len(dictionary.gram32) > 0:
            dictionary.gram32[place, j] = dictionary.gram32[j, place] = product


@_compiled
def _index_of_worst(bound):
    """Where the largest bound stands; by its bits, as above."""
    bits, best, j = bound.view(np.int64), np.int64(-(2**63)), 0
    for i in range(len(bits)):
        best = max(best, bits[i])
    while bits[j] != best:
        j += 1
    return j
