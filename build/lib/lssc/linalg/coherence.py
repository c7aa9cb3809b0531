"""The penalties of the two ADMM baselines, by the coherence of the points."""

from __future__ import annotations

import numpy as np

from lssc.types import Array

# Points compared with all others at a time.
POINTS_PER_CHUNK = 128


def penalties(Y: Array, alpha: float) -> tuple[float, float]:
    """(mu1, mu2) = (alpha / lambda0, alpha) for the points y_j, columns of Y (D x n).

    lambda0 = min_j max_{i != j} |y_i'y_j| is the weight at which the first code becomes zero. Zero points have no scale
    and are left out. Computed by chunks, so that no n x n matrix is formed.
    """
    Y = Y[:, np.abs(Y).max(axis=0) > 0]
    if Y.shape[1] < 2:
        return alpha, alpha
    lambda0 = np.inf
    for start in range(0, Y.shape[1], POINTS_PER_CHUNK):
        similarity = Y[:, start : start + POINTS_PER_CHUNK].T @ Y
        np.abs(similarity, out=similarity)
        own = np.arange(len(similarity))
        similarity[own, start + own] = 0
        lambda0 = min(lambda0, similarity.max(axis=1).min())
    return (alpha / lambda0 if lambda0 > 0 else alpha), alpha
