"""The lasso of many points over the same landmarks, solved exactly.

For a point x and landmarks L (rows), with G = L L' and q = L x, the code minimises |c|_1 + lam/2 |x - L'c|^2. The
correlations q of a block of points are one matrix product; each point is then solved by `lasso_point`. The elastic net
adds a ridge penalty.

In many dimensions paths are followed in single precision, and q is computed in single precision if the paths are short;
a point that is not solved so is solved again in double precision. In few dimensions all is in double precision.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from scipy import sparse

from lssc.errors import InputError
from lssc.kernels.compiled import FAST, helper, kernel
from lssc.kernels.lasso_arrays import make_dictionary, make_lasso_workspace
from lssc.kernels.lasso_point import (
    EPSILON32,
    FALL_WITHOUT_STOP,
    MAX_THRESHOLD,
    TARGET_CANDIDATES,
    choose_candidates,
    solve_point,
    update_threshold,
)
from lssc.kernels.products import make_columns, make_products, multiply, padded
from lssc.kernels.vectors import index_of_largest_magnitude32, largest_magnitude, norm
from lssc.types import Array, IndexArray, Rows

# Inner products up to this size stay finite in single precision, however rounded. The kernel crashes on infinity.
MAX_PRODUCT32 = 1e38
# Lengths of landmarks, and largest correlations, for paths in single precision; it neither over- nor underflows there.
LEAST32, MOST32 = 1e-8, 1e8
# The same for paths in double precision, whose checks are in single precision; beyond, a code counts as failed.
LEAST, MOST = 1e-18, 1e19
# Points, and numbers (256 MB), read at a time.
POINTS_PER_READ, NUMBERS_PER_READ = 1 << 16, 1 << 25
# Correlations, or coordinates, in a block, which stay in the cache, and points in a block at least.
NUMBERS_PER_BLOCK, MIN_POINTS_PER_BLOCK = 1 << 16, 256
# Points sampled to set the first candidate threshold.
SAMPLED_POINTS = 16
# Most landmarks in a code with a ridge penalty.
MAX_ACTIVE = 1024

_inlined = helper(fastmath=FAST, forceinline=True, _nrt=False)


class Penalty(NamedTuple):
    """The code minimises mu |c|_1 + ridge mu/2 |c|^2 + |x - L'c|^2/2; `share` > 0 is mu over the largest |q_j|."""

    mu: float
    share: float = 0.0
    ridge: float = 0.0


def compute_lasso_codes(
    X: Rows, landmarks: Array, own: IndexArray, lam: float, *, single: bool = False, threads: int = 1
) -> tuple[sparse.csr_matrix, int]:
    """Codes (n x m) of the rows of X (n x D) by the rows of `landmarks` (m x D), and how many are not optimal.

    own[i] >= 0 is a landmark that point i must not use. With `single`, correlations in few dimensions are computed in
    single precision as well, and codes are less exact.
    """
    return compute_penalised_codes(X, landmarks, own, Penalty(1 / lam), single=single, threads=threads)


def compute_penalised_codes(
    X: Rows, landmarks: Array, own: IndexArray, penalty: Penalty, *, single: bool = False, threads: int = 1
) -> tuple[sparse.csr_matrix, int]:
    """The same with any penalty."""
    if single:
        _require_products32(landmarks)
    coder = _BlockCoder(landmarks, penalty, single)
    counts = np.zeros(len(X) + 1, dtype=np.int64)
    parts, n_unsolved = [], 0
    size = max(1, min(POINTS_PER_READ, NUMBERS_PER_READ // coder.D))
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(X), size):
            # Writable: Numba would compile another version for read-only arrays.
            points = np.require(X[start : start + size], np.float64, ["C", "W"])
            if single:
                _require_products32(points)
            blocks = [slice(i, i + coder.size) for i in range(0, len(points), coder.size)]
            plan = coder.plan(points)
            jobs = [(points[block], own[start:][block], counts[start + 1 :][block], *plan) for block in blocks]
            results = list((pool.map if threads > 1 else map)(coder.code, *zip(*jobs, strict=True)))
            parts.append((np.concatenate([r[0] for r in results]), np.concatenate([r[1] for r in results])))
            n_unsolved += sum(r[2] for r in results)
    return _assemble(parts, np.cumsum(counts), len(landmarks)), n_unsolved


def _assemble(parts: list[tuple[IndexArray, Array]], pointers: IndexArray, m: int) -> sparse.csr_matrix:
    """One matrix of all parts, which are released one by one: there are never two copies of all codes."""
    indices, values = np.empty(pointers[-1], dtype=np.int32), np.empty(pointers[-1])
    end = len(indices)
    while parts:
        part_indices, part_values = parts.pop()
        start = end - len(part_indices)
        indices[start:end], values[start:end] = part_indices, part_values
        end = start
    return sparse.csr_matrix((values, indices, pointers), shape=(len(pointers) - 1, m))


def _require_products32(points: Array) -> None:
    """InputError unless inner products of such points are finite in single precision."""
    largest, limit = max(points.max(initial=0), -points.min(initial=0)), np.sqrt(MAX_PRODUCT32 / points.shape[1])
    if not largest <= limit:
        raise InputError(f"coordinates of up to {largest:.2g} need precision: double; single takes up to {limit:.2g}")


class _BlockCoder:
    """Codes blocks of points, in any number of threads."""

    def __init__(self, landmarks: Array, penalty: Penalty, single: bool) -> None:
        self.m, self.D = landmarks.shape
        self.most = 1 + min(MAX_ACTIVE if penalty.ridge else self.D, self.m)
        self.penalty, self.size = penalty, max(MIN_POINTS_PER_BLOCK, NUMBERS_PER_BLOCK // max(self.m, self.D))
        self.dictionary = make_dictionary(landmarks)
        self.dictionary32 = self.dictionary._replace(path_gram=self.dictionary.gram32)
        self.single, self.scratch = single, threading.local()
        self.by_single_paths = len(self.dictionary.gram32) > 0 and LEAST32 < self.dictionary.longest < MOST32
        self.width, self.columns = padded(self.m), make_columns(landmarks, np.float64)
        self.columns32 = make_columns(landmarks, np.float32) if single or self.by_single_paths else None

    def plan(self, X: Array) -> tuple[float, bool]:
        """How to code the points X, by a sample of them.

        The share of a point's largest correlation from which on a landmark is a candidate, and whether correlations are
        computed in double precision: if paths are long, codes have so many landmarks that this costs less than to
        correct those of single precision.
        """
        sample = np.abs(X[:: len(X) // SAMPLED_POINTS + 1] @ self.dictionary.atoms.T)
        place = max(0, self.m - TARGET_CANDIDATES)
        sample.partition((place, self.m - 1), axis=1)
        top, nearest = sample[:, -1].sum(), sample[:, place].sum()
        is_long = top > FALL_WITHOUT_STOP * self.penalty.mu * len(sample)
        return min(MAX_THRESHOLD, float(nearest / max(top, 1e-300))), bool(is_long or self.penalty.share > 0)

    def code(
        self, X: Array, own: IndexArray, counts: IndexArray, threshold: float, exact: bool
    ) -> tuple[IndexArray, Array, int]:
        """Landmarks and coefficients of these points, point by point, and how many are not optimal; sets `counts`."""
        if not hasattr(self.scratch, "work"):
            self._make_scratch()
        if self.by_single_paths:
            return self._code_by_single_paths(X, own, counts, threshold, exact)
        if self.single:
            multiply(X, self.columns32, self.width, self.scratch.Q32)
            self.scratch.Q[: len(X)] = self.scratch.Q32[: len(X)]
        else:
            multiply(X, self.columns, self.width, self.scratch.Q)
        return self._code_by_double_paths(X, own, counts, threshold)

    def _code_by_double_paths(
        self, X: Array, own: IndexArray, counts: IndexArray, threshold: float
    ) -> tuple[IndexArray, Array, int]:
        """The same, from the correlations in `scratch.Q`."""
        scratch = self.scratch
        how, out = (own, self.penalty, threshold, self.dictionary, scratch.work), (counts, *scratch.code)
        used, n_unsolved = _code_block(X, scratch.Q, *how, *out)
        return *(codes[:used].copy() for codes in scratch.code), n_unsolved

    def _code_by_single_paths(
        self, X: Array, own: IndexArray, counts: IndexArray, threshold: float, exact: bool
    ) -> tuple[IndexArray, Array, int]:
        """The same; points that are not solved in single precision are solved in double precision, all at once."""
        scratch = self.scratch
        if exact:
            multiply(X, self.columns, self.width, scratch.Q)
            with np.errstate(over="ignore"):  # such points are not solved in single precision
                scratch.Q32[: len(X)] = scratch.Q[: len(X)]
        else:
            multiply(X, self.columns32, self.width, scratch.Q32)
        exact_Q = scratch.Q if exact else np.empty((len(X), 0))
        how, out = (own, self.penalty, threshold, self.dictionary32, scratch.work32), (counts, *scratch.code)
        used, threshold = _code_block_by_single_paths(X, scratch.Q32, exact_Q, *how, *out)
        indices, values = (codes[:used].copy() for codes in scratch.code)
        failed = np.flatnonzero(counts < 0)
        if len(failed) == 0:
            return indices, values, 0
        counts[failed], again = 0, np.empty_like(failed)
        multiply(X[failed], self.columns, self.width, scratch.Q)
        more_indices, more_values, n_unsolved = self._code_by_double_paths(X[failed], own[failed], again, threshold)
        places = np.repeat(np.cumsum(counts)[failed], again)
        counts[failed] = again
        return np.insert(indices, places, more_indices), np.insert(values, places, more_values), n_unsolved

    def _make_scratch(self) -> None:
        """Arrays of this thread. Pages of zeros that nobody touches take no memory."""
        scratch, n = self.scratch, self.size if self.single or self.by_single_paths else 0
        scratch.Q, scratch.Q32 = make_products(self.size, self.m, np.float64), make_products(n, self.m, np.float32)
        scratch.code = np.empty(self.size * self.most, dtype=np.int32), np.empty(self.size * self.most)
        if self.by_single_paths:
            scratch.work32 = make_lasso_workspace(self.m, self.D, self.most, np.float32)
        scratch.work = make_lasso_workspace(self.m, self.D, self.most)


@kernel(fastmath=FAST, _nrt=False)
def _code_block(X, Q, own, penalty, threshold, dictionary, work, counts, indices, values):
    """Code the points X with correlations Q one by one. Returns the numbers of coefficients and of failures."""
    used, failed, m = 0, 0, len(dictionary.atoms)
    for point in range(len(X)):
        q = Q[point][:m]
        k, solved, threshold = _code_point(X[point], q, own[point], penalty, threshold, dictionary, work)
        failed += not solved
        counts[point] = k
        used = _write(work, k, indices, values, used)
    return used, failed


@kernel(fastmath=FAST, _nrt=False)
def _code_block_by_single_paths(X, Q, exact_Q, own, penalty, threshold, dictionary, work, counts, indices, values):
    """Code the points X with correlations Q by paths in single precision; exact_Q is Q in double precision, or without
    columns. Returns the number of coefficients and the next threshold; points that are not solved have the count -1.
    """
    used, m = 0, len(dictionary.atoms)
    for point in range(len(X)):
        x, q, exact_q = X[point], Q[point][:m], exact_Q[point][:m]
        if own[point] >= 0:
            q[own[point]] = 0.0
            exact_q[own[point] : own[point] + 1] = 0.0
        if len(exact_q) > 0:
            top, error = largest_magnitude(exact_q, len(exact_q), work.cell), 0.0
        else:
            top = np.float64(abs(q[index_of_largest_magnitude32(q, len(q))]))
            # Rounding, and numbers too small for single precision.
            error = (len(x) + 2) * EPSILON32 * norm(x) * dictionary.longest + LEAST**2
        mu = penalty.share * top if penalty.share > 0.0 else penalty.mu
        work.ridge[0] = penalty.ridge * mu
        k, solved = 0, top + error <= mu
        if LEAST32 < top < MOST32 and mu < top - error:
            n = choose_candidates(q, np.float32(max(threshold * top, mu)), dictionary, work)
            threshold = update_threshold(threshold, n)
            k, solved = solve_point(x, q, exact_q, error, dictionary, own[point], top, mu, n, work)
        counts[point] = k if solved else -1
        if solved:
            used = _write(work, k, indices, values, used)
    return used, threshold


@_inlined
def _code_point(x, q, own, penalty, threshold, dictionary, work):
    """Code a point in double precision. Returns the number of coefficients, if optimal, and the next threshold."""
    if own >= 0:
        q[own] = 0.0
    top = largest_magnitude(q, len(q), work.cell)
    mu = penalty.share * top if penalty.share > 0.0 else penalty.mu
    work.ridge[0] = penalty.ridge * mu
    if top <= mu:
        return np.int64(0), True, threshold
    if not (LEAST < dictionary.longest < MOST and LEAST**2 < top < MOST**2):
        return np.int64(0), False, threshold
    n = choose_candidates(q, max(threshold * top, mu), dictionary, work)
    k, solved = solve_point(x, q, q, 0.0, dictionary, own, top, mu, n, work)
    return k, solved, update_threshold(threshold, n)


@_inlined
def _write(work, k, indices, values, used):
    """Sort the code by landmark and write it to place `used`. Returns the next place."""
    for i in range(1, k):
        a, w = work.active[i], work.weight[i]
        j = i
        while j > 0 and work.active[j - 1] > a:
            work.active[j], work.weight[j] = work.active[j - 1], work.weight[j - 1]
            j -= 1
        work.active[j], work.weight[j] = a, w
    for i in range(k):
        indices[used + i], values[used + i] = work.active[i], work.weight[i]
    return used + k
