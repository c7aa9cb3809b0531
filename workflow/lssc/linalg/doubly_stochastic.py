"""The doubly stochastic matrix nearest to a sparse one, without n x n arrays.

For K >= 0 (n x n, sparse), A minimises -<K, A> + eta/2 |A|^2 over all A >= 0 whose rows and columns sum to 1. With
potentials a and b of rows and columns, A_ij = (K_ij + a_i + b_j)_+ / eta, where a and b minimise

    sum_ij (K_ij + a_i + b_j)_+^2 / 2 - eta (sum a + sum b).

A may be positive where K is zero. Sums of (a_i + b_j)_+ over all pairs need only b in order and its running sums, so
pairs where K is zero cost n log n; only entries of K are corrected one by one. The minimum is found by Newton's method:
its equations are solved by conjugate gradients. eta falls in stages from a value at which the minimum is easy.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature

import numpy as np
from scipy import sparse

from lssc.errors import InputError
from lssc.types import Array, IndexArray

# Largest deviation of a sum from 1, and at the end of a stage before the last.
TOLERANCE, STAGE_TOLERANCE = 1e-8, 1e-2
# eta of a stage over that of the stage before.
ETA_RATIO = 0.25
# Newton steps of all stages, halvings of a step, and conjugate gradients in a step, at most.
MAX_STEPS, MAX_HALVINGS, MAX_GRADIENTS = 500, 40, 200
# Added to the diagonal of Newton's equations, relative to the mean: potentials are unique up to constants.
SHIFT = 1e-7
# Entries of A per row on average, at most: beyond that it is no sparse matrix.
MAX_ENTRIES_PER_ROW = 1000


@dataclass(frozen=True)
class DoublyStochastic:
    """A (n x n, CSR), the number of Newton steps, and the largest deviation of a sum of a row or column from 1."""

    matrix: sparse.csr_matrix
    n_steps: int
    error: float


def make_doubly_stochastic(K: sparse.csr_matrix, eta: float) -> DoublyStochastic:
    """The minimiser A for this K; InputError if it is not sparse."""
    n = K.shape[0]
    pattern = _Pattern(np.repeat(np.arange(n), np.diff(K.indptr)), K.indices, K.data, n)
    # At the first eta all entries of A are about 1/n.
    stage, n_steps = max(eta, n * float(K.data.max(initial=0.0))), 0
    point = _Point(pattern, np.full(2 * n, stage / (2 * n)), stage)
    while True:
        following = None
        if point.error > (TOLERANCE if stage == eta else STAGE_TOLERANCE) and n_steps < MAX_STEPS:
            following, n_steps = _newton(point), n_steps + 1
        if following is None and stage == eta:
            return DoublyStochastic(_entries(point), n_steps, point.error)
        if following is None:
            stage = max(eta, ETA_RATIO * stage)
            following = _Point(pattern, point.potentials, stage)
        point = following


@dataclass(frozen=True)
class _Pattern:
    """The entries of K."""

    rows: IndexArray
    columns: IndexArray
    values: Array
    n: int


class _Side:
    """Sums over all j of (p + q_j)_+ and its powers, for many p."""

    def __init__(self, q: Array) -> None:
        self.order = np.argsort(-q, kind="stable")
        self.falling = -q[self.order]
        self.sums, self.squares = (np.concatenate([[0.0], np.cumsum(v)]) for v in (q[self.order], q[self.order] ** 2))

    def counts(self, p: Array) -> IndexArray:
        """How many q_j exceed -p."""
        return np.searchsorted(self.falling, p, side="left")

    def add(self, x: Array, counts: IndexArray) -> Array:
        """The sum of x_j over the first so many j in order of q."""
        return np.concatenate([[0.0], np.cumsum(x[self.order])])[counts]


class _Point:
    """The objective at some potentials, with its gradient and second derivatives."""

    def __init__(self, pattern: _Pattern, potentials: Array, eta: float) -> None:
        n = pattern.n
        self.pattern, self.potentials, self.eta = pattern, potentials, eta
        self.a, self.b = potentials[:n], potentials[n:]
        self.by_a, self.by_b = _Side(self.a), _Side(self.b)
        self.row_counts, self.column_counts = self.by_b.counts(self.a), self.by_a.counts(self.b)
        rest = self.a[pattern.rows] + self.b[pattern.columns]
        self.with_k, self.without_k = np.maximum(pattern.values + rest, 0.0), np.maximum(rest, 0.0)
        extra = self.with_k - self.without_k
        rows = self.row_counts * self.a + self.by_b.sums[self.row_counts]
        rows += np.bincount(pattern.rows, extra, n)
        columns = self.column_counts * self.b + self.by_a.sums[self.column_counts]
        columns += np.bincount(pattern.columns, extra, n)
        self.gradient = np.concatenate([rows, columns]) - eta
        self.error = float(np.abs(self.gradient).max()) / eta

    @property
    def objective(self) -> float:
        t, a = self.row_counts, self.a
        total = (t * a**2 + 2 * a * self.by_b.sums[t] + self.by_b.squares[t]).sum()
        total += (self.with_k**2 - self.without_k**2).sum()
        return float(total / 2 - self.eta * self.potentials.sum())


def _newton(point: _Point) -> _Point | None:
    """The next point; None if no step lowers the objective."""
    step = _newton_step(point)
    slope, before, share = float(point.gradient @ step), point.objective, 1.0
    for _ in range(MAX_HALVINGS):
        trial = _Point(point.pattern, point.potentials + share * step, point.eta)
        if trial.objective <= before + 1e-4 * share * slope or trial.error < 0.9 * point.error:
            return trial
        share /= 2
    return None


def _newton_step(point: _Point) -> Array:
    from scipy.sparse.linalg import LinearOperator, cg

    n, pattern = point.pattern.n, point.pattern
    used = (point.with_k > 0) & (point.without_k == 0)
    shape = (np.ones(int(used.sum())), (pattern.rows[used], pattern.columns[used]))
    P = sparse.csr_matrix(shape, shape=(n, n))
    T = P.T.tocsr()
    diagonal = np.concatenate([point.row_counts + np.diff(P.indptr), point.column_counts + np.diff(T.indptr)])
    diagonal = diagonal + SHIFT * max(diagonal.mean(), 1.0)

    def product(x: Array) -> Array:
        x = x.ravel()
        rows = P @ x[n:] + point.by_b.add(x[n:], point.row_counts)
        columns = T @ x[:n] + point.by_a.add(x[:n], point.column_counts)
        return diagonal * x + np.concatenate([rows, columns])

    H, scale = (LinearOperator((2 * n, 2 * n), matvec=f) for f in (product, lambda x: x.ravel() / diagonal))
    # Looser far from the solution: such steps only find the entries that are positive.
    tol = min(1e-2, point.error)
    # SciPy before 1.12 calls it tol.
    name = "rtol" if "rtol" in signature(cg).parameters else "tol"
    return cg(H, -point.gradient, **{name: tol}, atol=0.0, maxiter=MAX_GRADIENTS, M=scale)[0]


def _entries(point: _Point) -> sparse.csr_matrix:
    """A, as a sparse matrix."""
    n, pattern, t = point.pattern.n, point.pattern, point.row_counts
    total = int(t.sum()) + int((point.with_k > 0).sum())
    if total > MAX_ENTRIES_PER_ROW * n:
        raise InputError(f"eta={point.eta:g} spreads the affinity over {total:,} of {n * n:,} pairs; use a smaller eta")
    extra = (point.with_k - point.without_k, (pattern.rows, pattern.columns))
    rows = np.repeat(np.arange(n), t)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(t) - t, t)
    columns = point.by_b.order[places]
    rest = (point.a[rows] + point.b[columns], (rows, columns))
    A = sparse.csr_matrix(extra, shape=(n, n)) + sparse.csr_matrix(rest, shape=(n, n))
    A = sparse.csr_matrix(A / point.eta)
    A.eliminate_zeros()
    return A
