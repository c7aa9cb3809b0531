"""Rules for parameters that the user leaves open: lam, the number of landmarks and the number of clusters.

docs/benchmarks.md compares them with tuned values on every dataset of the project.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lssc.types import Array, Rows

AUTO = "auto"
# Points sampled for the typical correlation: at 500 dimensions, their inner products take a few hundredths of a second.
MAX_SAMPLED = 1000
# Share of the points whose largest correlation may be below the typical one: SSC-ADMM takes the least, which is set by
# a single outlier.
LOW_SHARE = 0.1
# Most landmarks that "auto" chooses. The embedding forms a dense m x m matrix.
MAX_LANDMARKS = 3000


def is_auto(name: str, value: Any, otherwise: str) -> bool:
    """Whether the value is "auto"; ValueError for any other text."""
    if isinstance(value, str) and value != AUTO:
        raise ValueError(f'{name}={value!r} must be {otherwise} or "{AUTO}"')
    return isinstance(value, str)


def automatic_lam(X: Rows, *, factor: float, rng: np.random.Generator) -> float:
    """factor / s, where s is a low quantile over points j of max |x_i'x_j| over other points i.

    A point has a code if lam > 1 / max |x_i'x_j|. Multiplying X by a constant divides lam by its square, so that the
    codes stay the same.
    """
    s = typical_correlation(X, rng=rng)
    # Points without any correlation have no code at any lam.
    return factor / s if s > 0 else factor


def typical_correlation(X: Rows, *, rng: np.random.Generator) -> float:
    """The quantile LOW_SHARE, over sampled points, of the largest |inner product| with another sampled point."""
    n = len(X)
    sample = np.asarray(X[np.sort(rng.choice(n, min(n, MAX_SAMPLED), replace=False))], dtype=np.float64)
    correlations = np.abs(sample @ sample.T)
    np.fill_diagonal(correlations, 0)
    return float(np.quantile(correlations.max(axis=1), LOW_SHARE))


def automatic_landmarks(n: int, n_clusters: int, *, each: int) -> int:
    """`each` landmarks for every cluster, at most MAX_LANDMARKS, or all points if there are fewer."""
    return min(n, max(n_clusters, min(each * n_clusters, MAX_LANDMARKS)))


def count_clusters(values: Array) -> tuple[int, Array]:
    """The number of clusters by the largest eigengap, and the gaps: gaps[k - 1] follows the k-th largest value.

    The gap after the first value does not count: it is large for every connected graph.
    """
    gaps = values[:-1] - values[1:]
    return (1 if len(gaps) < 2 else 2 + int(np.argmax(gaps[1:]))), gaps
