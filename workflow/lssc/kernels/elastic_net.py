"""The elastic net of many points over the same atoms, solved exactly without a matrix of all their inner products.

For a point x and atoms L (rows), the code minimises

    tau |c|_1 + (1 - tau)/2 |c|^2 + 1/(2 alpha) |x - L'c|^2,

the lasso at mu = alpha tau with a ridge penalty of alpha (1 - tau). In few dimensions, or for few atoms, the path of
the lasso solves it. Otherwise each point has a working set of atoms. An atom may stay outside if its inner product with
the remainder x - L'c is at most mu in magnitude; those above are in the oracle region of You et al. 2016. The set
starts with a few atoms. It is solved, all atoms are checked, the worst violations join, until there are none. On the
way mu falls from large values, so that the set stays small, and solutions are approximate; at the end they are exact.
Points of a block go together: a check is one matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from scipy import sparse

from lssc.kernels.codes import keep_largest
from lssc.kernels.compiled import kernel
from lssc.kernels.elastic_net_point import ROUNDING, descend, solve
from lssc.kernels.lasso import Penalty, compute_penalised_codes
from lssc.kernels.lasso_arrays import MAX_DIMENSIONS_BY_COORDINATES, MAX_LANDMARKS_BY_GRAM
from lssc.types import Array, IndexArray

# Points in a block.
POINTS_PER_BLOCK = 32
# mu of a stage over that of the stage before.
LEVEL_RATIO = 0.5
# Violations, relative to mu, that may be left in a stage before the last, and passes of coordinate descent in a round.
LOOSE, MAX_PASSES = 0.03, 30
# Atoms that join a working set in a round, and places in it at first.
MAX_JOINS, FIRST_PLACES = 20, 128


def compute_elastic_net_codes(
    X: Array,
    atoms: Array,
    own: IndexArray,
    *,
    gamma: float,
    tau: float,
    relative: bool = True,
    top: int = 0,
    threads: int = 1,
) -> tuple[sparse.csr_matrix, int]:
    """Codes (n x m) of the rows of X (n x D) by the rows of `atoms` (m x D), and how many are not optimal.

    own[i] >= 0 is an atom that point i must not use. 1/alpha is gamma, or with `relative` gamma times the value up to
    which the code of the point is zero. Of each code the `top` largest coefficients are kept, all if 0.
    """
    # Divide by a power of two, which is exact, so that inner products fit single precision. Codes do not change.
    scale = 2.0 ** np.frexp(max(_longest(X), _longest(atoms)))[1]
    X, atoms, mu = X / scale, atoms / scale, tau / gamma / scale**2
    penalty = Penalty(mu, 1 / gamma if relative else 0.0, (1 - tau) / tau)
    m, dim = atoms.shape
    if m <= MAX_LANDMARKS_BY_GRAM or dim <= MAX_DIMENSIONS_BY_COORDINATES:
        codes, n_unsolved = compute_penalised_codes(X, atoms, own, penalty, threads=threads)
    else:
        codes, n_unsolved = code_by_working_sets(X, atoms, own, penalty, threads)
    if top:
        ends, indices, values = keep_largest(codes.indptr, codes.indices, codes.data, top)
        codes = sparse.csr_matrix((values, indices, ends), shape=codes.shape)
    return codes, n_unsolved


def code_by_working_sets(
    X: Array, atoms: Array, own: IndexArray, penalty: Penalty, threads: int
) -> tuple[sparse.csr_matrix, int]:
    """The same, exact for any number of atoms: of each point, only a working set of them is looked at."""
    coder = _BlockCoder(atoms, penalty)
    blocks = [slice(start, start + POINTS_PER_BLOCK) for start in range(0, len(X), POINTS_PER_BLOCK)]
    with ThreadPoolExecutor(threads) as pool:
        parts, owns = (X[block] for block in blocks), (own[block] for block in blocks)
        results = list((pool.map if threads > 1 else map)(coder.code, parts, owns))
    counts, indices, values, failures = zip(*results, strict=True)
    ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    codes = sparse.csr_matrix((np.concatenate(values), np.concatenate(indices), ends), shape=(len(X), len(atoms)))
    return codes, sum(failures)


def _longest(points: Array) -> float:
    """The largest Euclidean length of a row."""
    return float(np.sqrt(np.einsum("ij,ij->i", points, points).max()))


class _Problem:
    """One point: its working set, the inner products in it, its code and r; `size` places of the arrays are used."""

    def __init__(self, q: Array, own: int, mu: float, ridge_share: float, dim: int) -> None:
        self.q_all, self.own, self.goal, self.ridge_share = q, own, mu, ridge_share
        self.size, self.is_exact, self.is_solved = 0, False, True
        self.mu = max(mu, LEVEL_RATIO * float(np.abs(q).max()))
        self.members, self.rows = np.empty(FIRST_PLACES, dtype=np.int64), np.empty((FIRST_PLACES, dim))
        self.G = np.empty((FIRST_PLACES, FIRST_PLACES))
        self.q, self.c, self.r = (np.zeros(FIRST_PLACES) for _ in range(3))

    def join(self, new: IndexArray, atoms: Array, remainder: Array) -> None:
        """Add atoms to the working set."""
        start, end = self.size, self.size + len(new)
        if end > len(self.members):
            self._grow(max(end, 2 * len(self.members)))
        self.members[start:end], self.rows[start:end], self.q[start:end] = new, atoms[new], self.q_all[new]
        self.r[start:end] = self.rows[start:end] @ remainder
        products = self.rows[start:end] @ self.rows[:end].T
        self.G[start:end, :end], self.G[:start, start:end] = products, products[:, :start].T
        self.size = end

    def _grow(self, places: int) -> None:
        for name in ("members", "rows", "q", "c", "r"):
            old = getattr(self, name)
            new = np.zeros((places, *old.shape[1:]), dtype=old.dtype)
            new[: self.size] = old[: self.size]
            setattr(self, name, new)
        G = np.empty((places, places))
        G[: self.size, : self.size] = self.G[: self.size, : self.size]
        self.G = G

    def minimise(self, x: Array) -> None:
        """Lower the objective of point x over the working set: to the minimum in the last stage."""
        ridge = self.ridge_share * self.mu
        if not self.is_exact:
            descend(self.size, self.G, self.c, self.r, self.mu, ridge, LOOSE, MAX_PASSES)
        elif not solve(self.size, self.G, self.q, self.c, self.r, self.mu, ridge):
            # Atoms are nearly dependent: the path takes longer and is safer.
            penalty, alone = Penalty(self.mu, 0.0, self.ridge_share), np.array([-1])
            codes, n_failed = compute_penalised_codes(x[None], self.rows[: self.size], alone, penalty)
            self.c[: self.size], self.is_solved = codes.toarray().ravel(), n_failed == 0
            self.r[: self.size] = self.q[: self.size] - self.rows[: self.size] @ self.approximation()

    def approximation(self) -> Array:
        """L'c."""
        return self.c[: self.size] @ self.rows[: self.size]

    def violations(self, correlations: Array) -> IndexArray:
        """The atoms to join next; lowers mu as long as there are none. Clears places of `correlations`."""
        clear(correlations, self.members[: self.size], self.own)
        while True:
            limit = self.mu * (1 + (ROUNDING if self.is_exact else LOOSE))
            new = find_largest(correlations, limit, MAX_JOINS)
            if len(new) or self.is_exact or self.mu == self.goal:
                return new
            self.mu = max(self.goal, LEVEL_RATIO * self.mu)


class _BlockCoder:
    """Codes blocks of points, in any number of threads."""

    def __init__(self, atoms: Array, penalty: Penalty) -> None:
        self.atoms, self.atoms32, self.penalty = atoms, atoms.astype(np.float32), penalty

    def code(self, X: Array, own: IndexArray) -> tuple[IndexArray, IndexArray, Array, int]:
        """Numbers of coefficients, atoms and coefficients of these points, and how many codes are not optimal."""
        Q = X @ self.atoms.T
        problems = [self._problem(q, atom) for q, atom in zip(Q, own, strict=True)]
        self._solve(X, problems, Q.copy())
        codes = [_nonzeros(p) for p in problems]
        counts = np.array([len(indices) for indices, _ in codes])
        indices, values = (np.concatenate(parts) for parts in zip(*codes, strict=True))
        return counts, indices, values, sum(p is not None and not p.is_solved for p in problems)

    def _problem(self, q: Array, own: int) -> _Problem | None:
        """The problem of a point with these correlations; None if its code is zero."""
        if own >= 0:
            q[own] = 0.0
        largest = float(np.abs(q).max())
        mu = self.penalty.share * largest or self.penalty.mu
        return None if largest <= mu else _Problem(q, own, mu, self.penalty.ridge, self.atoms.shape[1])

    def _solve(self, X: Array, problems: Sequence[_Problem | None], correlations: Array) -> None:
        left = [i for i, p in enumerate(problems) if p is not None]
        remainders, correlations = X[left], correlations[left]
        while left:
            going = []
            for i, remainder, row in zip(left, remainders, correlations, strict=True):
                p = problems[i]
                new = p.violations(row)
                if len(new):
                    p.join(new, self.atoms, remainder)
                elif p.is_exact:
                    continue
                else:
                    p.is_exact = True
                p.minimise(X[i])
                going.append(i)
            left = [i for i in going if problems[i].is_solved]
            remainders = np.array([X[i] - problems[i].approximation() for i in left]).reshape(-1, X.shape[1])
            correlations = self._correlate(remainders, any(problems[i].is_exact for i in left))

    def _correlate(self, remainders: Array, exact: bool) -> Array:
        """Inner products with all atoms; single precision is enough before the last stage."""
        if exact:
            return remainders @ self.atoms.T
        return (remainders.astype(np.float32) @ self.atoms32.T).astype(np.float64)


def _nonzeros(p: _Problem | None) -> tuple[IndexArray, Array]:
    """The atoms of a code in increasing order, and their coefficients."""
    if p is None:
        return np.empty(0, dtype=np.int32), np.empty(0)
    used = np.flatnonzero(p.c[: p.size])
    used = used[np.argsort(p.members[used])]
    return p.members[used].astype(np.int32), p.c[used]


@kernel()
def clear(correlations, members, own):
    """Set the correlations of these atoms to zero."""
    for j in members:
        correlations[j] = 0.0
    if own >= 0:
        correlations[own] = 0.0


@kernel()
def find_largest(correlations, limit, most):
    """Up to `most` places of the largest magnitudes above `limit`."""
    places = np.flatnonzero(np.abs(correlations) > limit)
    if len(places) > most:
        size = np.abs(correlations[places])
        least = np.partition(size, len(size) - most)[len(size) - most]
        places = places[size >= least][:most]
    return places
