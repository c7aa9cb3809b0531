"""The statistical model of the paper, eq. (1): points near a union of random subspaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Annotated, Literal

import numpy as np

from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, Points, RowBlocks, block_sizes, is_held

Draw = Callable[[np.random.Generator, tuple[int, int]], Array]
# Numbers of mean square 1.
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
    """x = H_k z + e with e ~ N(0, noise^2 I); n / n_clusters points from each subspace.

    The paper does not say how z is distributed: its entries are independent, of mean square 1 and `normal`, `uniform`
    about zero, of longer tails (`laplace`) or without a sign (`positive`, uniform from zero). The columns of each H_k
    are drawn from the columns of one random orthonormal D x D matrix, so that subspaces may share directions. Points
    too many to hold come in blocks, drawn from `rng` as they are asked for.
    """
    Q, _ = np.linalg.qr(rng.standard_normal((ambient_dim, ambient_dim)))
    bases = [Q[:, rng.choice(ambient_dim, subspace_dim, replace=False)] for _ in range(n_clusters)]
    each = n // n_clusters
    pieces = [(H, size) for H in bases for size in block_sizes(each, ambient_dim)]
    X = RowBlocks((n_clusters * each, ambient_dim), np.dtype(np.float64), _blocks(pieces, noise, DRAWS[z], rng))
    return Points(X.whole() if is_held(X.shape) else X, np.repeat(np.arange(n_clusters), each))


def _blocks(pieces: list[tuple[Array, int]], noise: float, draw: Draw, rng: np.random.Generator) -> Iterator[Array]:
    """So many points of each subspace, for (basis, number) one after the other."""
    # All z come before all noise, so that blocks of any size hold the same points: z is drawn here to get to where
    # the noise begins, and once more below.
    z_rng = deepcopy(rng)
    for H, size in pieces:
        draw(rng, (size, H.shape[1]))
    for H, size in pieces:
        block = draw(z_rng, (size, H.shape[1])) @ H.T
        block += noise * rng.standard_normal(block.shape)
        yield block
