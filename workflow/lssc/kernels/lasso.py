"""The lasso of many points over the same landmarks, solved exactly.

For a point x and landmarks L (rows), with G = L L' and q = L x, the code minimises |c|_1 + lam/2 |x - L'c|^2. The
correlations q of a block of points are one matrix product; each point is then solved by `lasso_point`. The elastic net
adds a ridge penalty.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from scipy import sparse

from lssc.errors import InputError
from lssc.kernels.compiled import FAST, helper, kernel
from lssc.kernels.lasso_path import aligned_zeros, make_dictionary, make_lasso_workspace
from lssc.kernels.lasso_point import (
    MAX_THRESHOLD,
    TARGET_CANDIDATES,
    choose_candidates,
    solve_point,
    update_threshold,
)
from lssc.kernels.vectors import largest_magnitude
from lssc.types import Array, IndexArray, Rows

# Inner products up to this size stay finite in single precision, however rounded. The kernel crashes on infinity.
MAX_PRODUCT32 = 1e38
# Points, and numbers (256 MB), read at a time.
POINTS_PER_READ, NUMBERS_PER_READ = 1 << 16, 1 << 25
# Correlations in a block, which stay in the cache, and points in a block at least.
CORRELATIONS_PER_BLOCK, MIN_POINTS_PER_BLOCK = 1 << 16, 256
# Points sampled to set the first candidate threshold.
SAMPLED_POINTS = 16
# Most landmarks in a code with a ridge penalty.
MAX_ACTIVE = 1024


class Penalty(NamedTuple):
    """The code minimises mu |c|_1 + ridge mu/2 |c|^2 + |x - L'c|^2/2; `share` > 0 is mu over the largest |q_j|."""

    mu: float
    share: float = 0.0
    ridge: float = 0.0


def compute_lasso_codes(
    X: Rows, landmarks: Array, own: IndexArray, lam: float, *, single: bool = False, threads: int = 1
) -> tuple[sparse.csr_matrix, int]:
    """Codes (n x m) of the rows of X (n x D) by the rows of `landmarks` (m x D), and how many are not optimal.

    own[i] >= 0 is a landmark that point i must not use. With `single`, correlations are computed in single precision.
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
            threshold = coder.first_threshold(points)
            jobs = [(points[block], own[start:][block], counts[start + 1 :][block], threshold) for block in blocks]
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
        self.penalty, self.size = penalty, max(MIN_POINTS_PER_BLOCK, CORRELATIONS_PER_BLOCK // self.m)
        self.dictionary = make_dictionary(landmarks)
        self.columns = np.ascontiguousarray(landmarks.T, dtype=np.float32 if single else np.float64)
        self.single, self.scratch = single, threading.local()

    def first_threshold(self, X: Array) -> float:
        """The share of a point's largest correlation from which on a landmark is a candidate, by a sample of X."""
        sample = np.abs(X[:: len(X) // SAMPLED_POINTS + 1] @ self.columns)
        place = max(0, self.m - TARGET_CANDIDATES)
        sample.partition((place, self.m - 1), axis=1)
        return min(MAX_THRESHOLD, float(sample[:, place].sum() / max(sample[:, -1].sum(), 1e-300)))

    def code(self, X: Array, own: IndexArray, counts: IndexArray, threshold: float) -> tuple[IndexArray, Array, int]:
        """Landmarks and coefficients of these points, point by point, and how many are not optimal; sets `counts`."""
        if not hasattr(self.scratch, "work"):
            self.scratch.work = make_lasso_workspace(self.m, self.D, self.most)
            self.scratch.Q = aligned_zeros(self.size, self.m)
            # np.empty: untouched pages cost no memory.
            self.scratch.code = np.empty(self.size * self.most, dtype=np.int32), np.empty(self.size * self.most)
        Q, (indices, values) = self.scratch.Q[: len(X)], self.scratch.code
        if self.single:
            Q[:] = X.astype(np.float32) @ self.columns
        else:
            np.matmul(X, self.columns, out=Q)
        dictionary, work = self.dictionary, self.scratch.work
        used, failed = _code_block(X, Q, own, self.penalty, threshold, dictionary, work, counts, indices, values)
        return indices[:used].copy(), values[:used].copy(), failed


@kernel(fastmath=FAST, _nrt=False)
def _code_block(X, Q, own, penalty, threshold, dictionary, work, counts, indices, values):
    """Code the points X with correlations Q one by one. Returns the numbers of coefficients and of failures."""
    used, failed = 0, 0
    for point in range(len(Q)):
        q = Q[point]
        if own[point] >= 0:
            q[own[point]] = 0.0
        top = largest_magnitude(q, len(q), work.cell)
        mu = penalty.share * top if penalty.share > 0.0 else penalty.mu
        work.ridge[0] = penalty.ridge * mu
        k = 0
        if top > mu:
            n_candidates = choose_candidates(q, max(threshold * top, mu), dictionary, work)
            threshold = update_threshold(threshold, n_candidates)
            k, solved = solve_point(X[point], q, dictionary, own[point], top, mu, n_candidates, work)
            failed += not solved
        counts[point] = k
        _sort_active(work, k)
        for i in range(k):
            indices[used + i] = work.candidates[work.active[i]]
            values[used + i] = work.weight[i]
        used += k
    return used, failed


@helper(fastmath=FAST, forceinline=True, _nrt=False)
def _sort_active(work, k):
    """Sort the active landmarks, with their coefficients, by landmark."""
    for i in range(1, k):
        a, w = work.active[i], work.weight[i]
        j = i
        while j > 0 and work.candidates[work.active[j - 1]] > work.candidates[a]:
            work.active[j], work.weight[j] = work.active[j - 1], work.weight[j - 1]
            j -= 1
        work.active[j], work.weight[j] = a, w
