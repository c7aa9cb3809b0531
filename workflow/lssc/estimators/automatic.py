"""Rules for parameters that the user leaves open: lam, the number of landmarks and the number of clusters.

docs/benchmarks.md compares them with tuned values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lssc.types import Array, Rows

AUTO = "auto"
# Points sampled for the typical correlation: at 500 dimensions, their inner products take a few hundredths of a second.
MAX_SAMPLED = 1000
# Ratio of the 90 % to the 10 % quantile of squared lengths up to which points count as equally long.
MAX_LENGTH_RATIO = 1.2
# Most landmarks that "auto" chooses. The embedding forms a dense m x m matrix.
MAX_LANDMARKS = 3000
# Fewest landmarks for every cluster, unless there are fewer points.
MIN_LANDMARKS_EACH = 10


@dataclass(frozen=True)
class Rule:
    """The constants of one method, chosen by sweeps on trials that no table reports.

    lam is `equal_lengths` or `other_lengths` divided by the typical correlation: a weight that suits the average point
    is too small for the short ones. There are `each` landmarks for every cluster, but at least `least`, and at most one
    of `points_each` points: if most points are landmarks, codes have one or two coefficients, and clusters fall apart.
    """

    equal_lengths: float
    other_lengths: float
    least: int = 0
    each: int = 0
    points_each: int = 1

    def lam(self, X: Rows, *, rng: np.random.Generator) -> float:
        """The weight of the residual; multiplying X by a constant divides it by the square, which keeps the codes."""
        correlation, equal = typical_correlation(X, rng=rng)
        factor = self.equal_lengths if equal else self.other_lengths
        # If most points have no correlation at all, they have no code at any weight.
        return factor / correlation if correlation > 0 else factor

    def n_landmarks(self, n: int, n_clusters: int) -> int:
        """The number of landmarks of n points."""
        wished = min(max(self.least, self.each * n_clusters), n // self.points_each, MAX_LANDMARKS)
        return min(n, max(wished, MIN_LANDMARKS_EACH * n_clusters))


def is_auto(name: str, value: Any, otherwise: str) -> bool:
    """Whether the value is "auto"; ValueError for any other text."""
    if isinstance(value, str) and value != AUTO:
        raise ValueError(f'{name}={value!r} must be {otherwise} or "{AUTO}"')
    return isinstance(value, str)


def typical_correlation(X: Rows, *, rng: np.random.Generator) -> tuple[float, bool]:
    """The median over sampled points j of max |x_i'x_j| over others i, and whether points are about equally long.

    A point has a code if lam > 1 / max |x_i'x_j|. SSC-ADMM takes the least instead of the median, which one outlier
    decides.
    """
    n = len(X)
    sample = X[np.sort(rng.choice(n, min(n, MAX_SAMPLED), replace=False))]
    products = np.abs(sample @ sample.T)
    short, long = np.quantile(products.diagonal(), [0.1, 0.9])
    np.fill_diagonal(products, 0)
    return float(np.median(products.max(axis=1))), bool(long <= MAX_LENGTH_RATIO * short)


def count_clusters(values: Array) -> tuple[int, Array]:
    """The number of clusters by the largest eigengap, and the gaps: gaps[k - 1] follows the k-th largest value.

    The gap after the first value does not count: it is large for every connected graph.
    """
    gaps = values[:-1] - values[1:]
    return (1 if len(gaps) < 2 else 2 + int(np.argmax(gaps[1:]))), gaps
