"""The scale of the two ADMM baselines' penalties."""

from __future__ import annotations

import numpy as np

from lssc.types import Array

# Points at a time: what they are compared by stays in the cache.
CHUNK = 128


def penalties(Y: Array, alpha: float) -> tuple[float, float]:
    """(alpha / lambda0, alpha), points as columns of Y.

    lambda0, the smallest over points of the largest |y_i'y_j| with another point, is where the first code becomes zero.
    Zero points say nothing about scale and are left out. Computed by chunks: never n x n.
    """
    Y = Y[:, np.abs(Y).max(axis=0) > 0]
    if Y.shape[1] < 2:
        return alpha, alpha
    lambda0 = np.inf
    for start in range(0, Y.shape[1], CHUNK):
        similarity = Y[:, start : start + CHUNK].T @ Y
        np.abs(similarity, out=similarity)
        own = np.arange(len(similarity))
        similarity[own, start + own] = 0
        lambda0 = min(lambda0, similarity.max(axis=1).min())
    return (alpha / lambda0 if lambda0 > 0 else alpha), alpha
