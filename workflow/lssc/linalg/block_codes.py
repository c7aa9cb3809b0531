"""Codes of points in K blocks of atoms, of which few blocks of each point are not zero; their updates for k-FSC.

Points are rows: X (n x D) is close to C A, A the atoms (Kd x D, rows of length at most 1) and C the codes (n x Kd). The
objective is |X - CA|^2 / 2 + lam sum_ij |c_ij|, c_ij the d coefficients of point i in block j. Only blocks that are not
zero are stored and multiplied.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lssc.linalg.scaling import short_rows
from lssc.types import Array, IndexArray

# Weight of |c|^2 in the ridge regressions that start codes and that label points; lambda' in the paper.
RIDGE = 1e-5
# Relative length of a gradient step on the atoms from which on it is the last.
MIN_ATOM_STEP = 1e-3


@dataclass(frozen=True)
class Atoms:
    """K blocks of d atoms as the rows of a matrix (Kd x D)."""

    rows: Array
    n_blocks: int

    @property
    def dim(self) -> int:
        return len(self.rows) // self.n_blocks

    @cached_property
    def blocks(self) -> list[slice]:
        """The rows of each block."""
        return [slice(j * self.dim, (j + 1) * self.dim) for j in range(self.n_blocks)]

    @cached_property
    def gram(self) -> Array:
        return self.rows @ self.rows.T

    @cached_property
    def curvatures(self) -> Array:
        """The squared spectral norm of each block; 1 for a block of zeros, whose codes are zero at any step."""
        tops = np.array([np.linalg.eigvalsh(self.gram[own, own])[-1] for own in self.blocks])
        return np.where(tops > 0, tops, 1.0)

    def moved(self, sums: CodeSums, n_steps: int) -> Atoms:
        """After projected gradient steps on |X - CA|^2 / 2 of length 1 / |C'C|_2; Algorithm 3 of the paper."""
        curvature = float(np.linalg.eigvalsh(sums.codes)[-1])
        if curvature <= 0:
            return self
        rows = self.rows
        for _ in range(n_steps):
            step = (sums.codes @ rows - sums.points) / curvature
            rows = short_rows(rows - step)
            if np.linalg.norm(step) < MIN_ATOM_STEP * np.linalg.norm(rows):
                break
        return Atoms(rows, self.n_blocks)


@dataclass(frozen=True)
class BlockCode:
    """Codes in one block: the points whose code is not zero or has just become zero, codes, and their last change."""

    points: IndexArray
    values: Array
    change: Array

    def without_zeros(self) -> BlockCode:
        used = self.values.any(axis=1)
        return BlockCode(self.points[used], self.values[used], self.change[used])


BlockCodes = list[BlockCode]


def zero_codes(atoms: Atoms) -> BlockCodes:
    nothing = np.empty((0, atoms.dim))
    return [BlockCode(np.empty(0, dtype=np.int64), nothing, nothing) for _ in atoms.blocks]


def ridge_codes(products: Array, atoms: Atoms) -> BlockCodes:
    """X A' (A A' + RIDGE I)^-1, from products = X A': no block is zero."""
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(atoms.gram + RIDGE * np.eye(len(atoms.gram)))
    C, every = cho_solve(factor, products.T).T, np.arange(len(products))
    return [BlockCode(every, values := np.ascontiguousarray(C[:, own]), np.zeros_like(values)) for own in atoms.blocks]


def update_codes(products: Array, codes: BlockCodes, atoms: Atoms, lam: float, momentum: Array) -> BlockCodes:
    """One proximal gradient step on each block of the codes in turn; Algorithm 1 of the paper.

    `products` is X A'. Steps start from the codes plus `momentum` (one number for each block) times their last change.
    Each block sees the new codes of the blocks before it (Gauss-Seidel).
    """
    descent, blocks = products.copy(), atoms.blocks
    starts = [code.values + share * code.change for code, share in zip(codes, momentum, strict=True)]
    for own, code, start in zip(blocks, codes, starts, strict=True):
        descent[code.points] -= start @ atoms.gram[own]
    updated = []
    for own, code, start, tau in zip(blocks, codes, starts, atoms.curvatures, strict=True):
        here = descent[:, own]
        # A block of zeros stays zero unless its descent is longer than lam.
        active = np.einsum("ij,ij->i", here, here) > lam * lam
        active[code.points] = True
        points = np.flatnonzero(active)
        old, from_ = _spread(code, code.values, points), _spread(code, start, points)
        new = shrink_rows(from_ + here[points] / tau, lam / tau)
        descent[points, own.stop :] -= (new - from_) @ atoms.gram[own, own.stop :]
        kept = new.any(axis=1) | old.any(axis=1)
        updated.append(BlockCode(points[kept], new[kept], (new - old)[kept]))
    return updated


def _spread(code: BlockCode, values: Array, points: IndexArray) -> Array:
    """Values of the points of a block, among more points, in order; zero for the others."""
    spread = np.zeros((len(points), values.shape[1]))
    spread[np.searchsorted(points, code.points)] = values
    return spread


def shrink_rows(V: Array, threshold: float) -> Array:
    """Each row shorter by `threshold`, or zero: the minimiser c of threshold |c| + |c - v|^2 / 2."""
    length = np.sqrt(np.einsum("ij,ij->i", V, V))
    return V * (np.maximum(length - threshold, 0) / np.maximum(length, np.finfo(float).tiny))[:, None]


@dataclass
class CodeSums:
    """Sums over points: C'C, C'X, |X|^2, |C|^2, the squared last change of C, sum_ij |c_ij|, points without a code."""

    codes: Array
    points: Array
    squares: float = 0.0
    penalty: float = 0.0
    size: float = 0.0
    change: float = 0.0
    uncoded: int = 0

    @classmethod
    def zero(cls, atoms: Atoms) -> CodeSums:
        return cls(np.zeros_like(atoms.gram), np.zeros_like(atoms.rows))

    def add(self, X: Array, codes: BlockCodes, atoms: Atoms) -> None:
        """Add points with their codes."""
        C, used = np.zeros((len(X), len(atoms.rows))), np.zeros(len(X), dtype=np.int64)
        for own, code in zip(atoms.blocks, codes, strict=True):
            lengths = np.sqrt(np.einsum("ij,ij->i", code.values, code.values))
            C[code.points, own] = code.values
            used[code.points] += lengths > 0
            self.penalty += float(lengths.sum())
            self.size += float(np.square(lengths).sum())
            self.change += float(np.vdot(code.change, code.change))
        for own, code in zip(atoms.blocks, codes, strict=True):
            self.points[own] += code.values.T @ X[code.points]
            self.codes[own, own] += code.values.T @ code.values
            # Most points have one block alone.
            shared = used[code.points] > 1
            between = code.values[shared].T @ C[code.points[shared], own.stop :]
            self.codes[own, own.stop :] += between
            self.codes[own.stop :, own] += between.T
        squares = np.einsum("ij,ij->i", X, X)
        self.squares += float(squares.sum())
        # A zero point has no code at any lam.
        self.uncoded += int(((used == 0) & (squares > 0)).sum())

    def objective(self, atoms: Atoms, lam: float) -> float:
        """|X - CA|^2 / 2 + lam sum_ij |c_ij|."""
        fit = self.squares - 2 * np.vdot(self.points, atoms.rows) + np.vdot(self.codes, atoms.gram)
        return max(float(fit), 0.0) / 2 + lam * self.penalty
