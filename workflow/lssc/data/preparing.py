"""Preparation of points, block by block: standardise, centre, reduce, whiten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from lssc.linalg.pca import fit_pca, whitened
from lssc.types import Array, RowBlocks


@dataclass(frozen=True)
class Preparation:
    """`standardise` brings each column to mean 0 and variance 1, `centre` to mean 0; a constant column becomes 0.

    `dim` then reduces the points to so many principal components (0: as they are); `whiten` centres the points and
    scales each component to unit variance.
    """

    standardise: bool = False
    centre: bool = False
    dim: int = 0
    whiten: bool = False

    def apply(self, blocks: Callable[[], Iterable[Array]], n: int, D: int) -> RowBlocks:
        """The prepared points; each call of `blocks` gives all n points of D numbers anew."""
        if self.standardise:
            blocks = _standardised(blocks, n)
        if self.dim or self.whiten:
            dim = self.dim or D
            pca = fit_pca(blocks(), dim=dim, centre=self.centre or self.whiten)
            reduced = map(pca.project, blocks())
            whiten = partial(whitened, variances=pca.variances)
            return _row_blocks(n, dim, map(whiten, reduced) if self.whiten else reduced)
        if self.centre and not self.standardise:
            mean = _mean(blocks(), n)
            return _row_blocks(n, D, (block - mean for block in blocks()))
        return _row_blocks(n, D, blocks())


def _standardised(blocks: Callable[[], Iterable[Array]], n: int) -> Callable[[], Iterable[Array]]:
    mean = _mean(blocks(), n)
    deviation = np.sqrt(_mean(((block - mean) ** 2 for block in blocks()), n))
    # The mean of equal numbers may differ from them by rounding.
    deviation[deviation <= 1e-12 * np.abs(mean)] = np.inf
    return lambda: ((block - mean) / deviation for block in blocks())


def _mean(blocks: Iterable[Array], n: int) -> Array:
    return sum(block.sum(axis=0) for block in blocks) / n


def _row_blocks(n: int, D: int, blocks: Iterable[Array]) -> RowBlocks:
    return RowBlocks((n, D), np.dtype(np.float64), iter(blocks))
