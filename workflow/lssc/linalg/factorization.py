"""k-factorization (Fan 2021): K blocks of atoms, one for each cluster, and the cluster of each point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lssc.linalg.block_codes import RIDGE, Atoms, BlockCodes, CodeSums, ridge_codes, update_codes, zero_codes
from lssc.types import Array, IndexArray, Rows

# Share of the last change of the codes that the next step starts with; delta in the paper.
MOMENTUM = 0.95
# Rounds without momentum at the start.
PLAIN_ROUNDS = 2
# Gradient steps on the atoms in a round.
ATOM_STEPS = 5
# Steps on the codes of a batch, before one on the atoms.
BATCH_CODE_STEPS = 5
# Numbers in the products of a block of points with all atoms (2 MB): they stay in the cache.
NUMBERS_PER_BLOCK = 2**18
# Singular values of a block, over the largest, that count as zero.
MIN_SINGULAR_VALUE = 1e-10


@dataclass(frozen=True)
class Factorization:
    """Atoms, the objective after each round, the share of points without a code, and whether it converged."""

    atoms: Atoms
    objectives: list[float]
    uncoded: float
    converged: bool


def point_blocks(n: int, atoms: Atoms) -> list[slice]:
    size = max(1, NUMBERS_PER_BLOCK // len(atoms.rows))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def start_atoms(X: Array, centres: Array, dim: int) -> Atoms:
    """For each centre, an orthonormal basis of the `dim` points nearest to it by angle; zeros if they span less."""
    rows = np.zeros((len(centres), dim, X.shape[1]))
    for block, cosines in zip(rows, centres @ X.T, strict=True):
        nearest = np.argsort(-cosines, kind="stable")[:dim]
        _, sizes, axes = np.linalg.svd(X[nearest], full_matrices=False)
        rank = int((sizes > MIN_SINGULAR_VALUE * sizes[0]).sum())
        block[:rank] = axes[:rank]
    return Atoms(rows.reshape(-1, X.shape[1]), len(centres))


def factorize(
    X: Rows,
    atoms: Atoms,
    *,
    lam: float,
    max_iter: int,
    tol: float,
    max_uncoded: float = 1.0,
    momentum: float = MOMENTUM,
) -> Factorization:
    """Update codes and atoms in turn until both change by less than `tol`, relatively; Algorithm 4 of the paper.

    Ends as soon as a share `max_uncoded` of the points has no code. A round costs n K d D operations.
    """
    codes: dict[int, BlockCodes] = {}
    objectives, before, size, done, uncoded = [], atoms.curvatures, 0.0, False, 0.0
    while not done and len(objectives) < max_iter and uncoded < max_uncoded:
        factor = momentum if len(objectives) >= PLAIN_ROUNDS else 0.0
        sums = _update_all(X, codes, atoms, lam, factor * np.sqrt(before / atoms.curvatures))
        moved, uncoded = atoms.moved(sums, ATOM_STEPS), sums.uncoded / len(X)
        objectives.append(sums.objective(moved, lam))
        # Before the first round the size of the codes is unknown: it is never the last.
        done = sums.change < tol**2 * size and _squared_change(moved.rows, atoms.rows) < tol**2
        atoms, before, size = moved, atoms.curvatures, sums.size
    return Factorization(atoms, objectives, uncoded, done)


def _update_all(X: Rows, codes: dict[int, BlockCodes], atoms: Atoms, lam: float, momentum: Array) -> CodeSums:
    """Update the codes of all points, in place; they start as ridge regressions."""
    sums = CodeSums.zero(atoms)
    for block in point_blocks(len(X), atoms):
        points, key = X[block], block.start
        products = points @ atoms.rows.T
        first = key not in codes
        old = ridge_codes(products, atoms) if first else codes[key]
        new = update_codes(products, old, atoms, lam, momentum)
        sums.add(points, new, atoms)
        # The change in the first round, in all blocks, is not used: there is no momentum in the second.
        codes[key] = [code.without_zeros() for code in new] if first else new
    return sums


def _squared_change(new: Array, old: Array) -> float:
    return float(np.square(new - old).sum() / max(np.vdot(old, old), np.finfo(float).tiny))


def factorize_batches(
    X: Rows,
    atoms: Atoms,
    *,
    lam: float,
    passes: int,
    batch_size: int,
    rng: np.random.Generator,
    max_uncoded: float = 1.0,
) -> Factorization:
    """Update the atoms from batches of points, whose codes start at zero; Algorithm 5 of the paper.

    Ends after a pass that leaves a share `max_uncoded` of the points without a code. The objective of a pass is the sum
    over its batches, each at its own atoms. Keeps the codes of one batch only.
    """
    objectives, uncoded = [], 0.0
    while len(objectives) < passes and uncoded < max_uncoded:
        order, total, n_uncoded = rng.permutation(len(X)), 0.0, 0
        for start in range(0, len(X), batch_size):
            points = X[np.sort(order[start : start + batch_size])]
            sums = _batch_sums(points, atoms, lam)
            atoms = atoms.moved(sums, 1)
            total, n_uncoded = total + sums.objective(atoms, lam), n_uncoded + sums.uncoded
        uncoded = n_uncoded / len(X)
        objectives.append(total)
    return Factorization(atoms, objectives, uncoded, True)


def _batch_sums(points: Array, atoms: Atoms, lam: float) -> CodeSums:
    """Sums of the codes of a batch after a few steps from zero."""
    sums = CodeSums.zero(atoms)
    for block in point_blocks(len(points), atoms):
        products, codes = points[block] @ atoms.rows.T, zero_codes(atoms)
        for step in range(BATCH_CODE_STEPS):
            share = MOMENTUM if step >= PLAIN_ROUNDS else 0.0
            codes = update_codes(products, codes, atoms, lam, np.full(atoms.n_blocks, share))
        sums.add(points[block], codes, atoms)
    return sums


def ridge_bases(dictionary: Array) -> Array:
    """Matrices W (d x D) for each block, by which the ridge residual of a point x is |x|^2 - |W x|^2.

    With the singular values s and right singular vectors V of a block, W = s sqrt(s^2 + 2 RIDGE) / (s^2 + RIDGE) V'.
    """
    _, sizes, axes = np.linalg.svd(dictionary, full_matrices=False)
    weights = sizes * np.sqrt(sizes**2 + 2 * RIDGE) / (sizes**2 + RIDGE)
    return weights[:, :, None] * axes


def nearest_blocks(X: Rows, dictionary: Array) -> IndexArray:
    """For each point the block (of K x d x D atoms) of least ridge residual."""
    bases = ridge_bases(dictionary)
    K, d, D = bases.shape
    stacked, labels = Atoms(bases.reshape(K * d, D), K), np.empty(len(X), dtype=np.int64)
    for block in point_blocks(len(X), stacked):
        coordinates = X[block] @ stacked.rows.T
        coordinates *= coordinates
        labels[block] = coordinates.reshape(-1, K, d).sum(axis=2).argmax(axis=1)
    return labels
