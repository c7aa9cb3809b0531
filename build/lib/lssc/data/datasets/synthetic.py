"""Points near a union of random subspaces: the statistical model of the paper, eq. (1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Annotated, Literal

import numpy as np

from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, Points, RowBlocks, block_sizes, fits_in_memory

Draw = Callable[[np.random.Generator, tuple[int, int]], Array]
# Distributions of mean square 1.
DRAWS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(-(3**0.5), 3**0.5, shape),
    "laplace": lambda rng, shape: rng.laplace(0.0, 0.5**0.5, shape),
    "positive": lambda rng, shape: rng.uniform(0.0, 3**0.5, shape),
}


@component("dataset", "synthetic")
def synthetic(
    n: int,
    *,
    n_clusters: int,
    ambient_dim: Annotated[int, AtLeast(1), AtMost(100_000)] = 16,
    subspace_dim: Annotated[int, AtLeast(1), AtMost("ambient_dim")] = 6,
    noise: Annotated[float, AtLeast(0)] = 0.1,
    z: Literal["normal", "uniform", "laplace", "positive"] = "normal",
    rng: np.random.Generator,
) -> Points:
    """x = H_k z + e with e ~ N(0, noise^2 I); n / n_clusters points from each subspace k.

    The paper leaves the distribution of z open: independent entries of mean square 1, `normal`, `uniform` about zero,
    `laplace`, or `positive` (uniform from zero). The columns of each H_k are drawn from those of one random orthonormal
    D x D matrix, so subspaces may share directions. If X is too large for memory, it comes in blocks that are drawn
    from `rng` on demand.
    """
    Q, _ = np.linalg.qr(rng.standard_normal((ambient_dim, ambient_dim)))
    bases = [Q[:, rng.choice(ambient_dim, subspace_dim, replace=False)] for _ in range(n_clusters)]
    each = n // n_clusters
    pieces = [(H, size) for H in bases for size in block_sizes(each, ambient_dim)]
    X = RowBlocks((n_clusters * each, ambient_dim), np.dtype(np.float64), _blocks(pieces, noise, DRAWS[z], rng))
    return Points(X.whole() if fits_in_memory(X.shape) else X, np.repeat(np.arange(n_clusters), each))


def _blocks(pieces: list[tuple[Array, int]], noise: float, draw: Draw, rng: np.random.Generator) -> Iterator[Array]:
    """For each (basis, size) a block of `size` points."""
    # All z are drawn before all noise, so that points do not depend on block sizes: skip z here to reach the noise, and
    # draw z again below from a copy.
    z_rng = deepcopy(rng)
    for H, size in pieces:
        draw(rng, (size, H.shape[1]))
    for H, size in pieces:
        block = draw(z_rng, (size, H.shape[1])) @ H.T
        block += noise * rng.standard_normal(block.shape)
        yield block
