"""Principal components and whitening, from blocks of rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lssc.errors import InputError
from lssc.linalg.scaling import fixed_signs
from lssc.types import Array

# Variance of a component, as a share of the first one's, below which it is rounding error.
MIN_VARIANCE_SHARE = 1e-12


@dataclass(frozen=True)
class Pca:
    """Principal axes as columns (D x dim), their variances, and the mean (zero if uncentred)."""

    mean: Array
    axes: Array
    variances: Array

    def project(self, X: Array) -> Array:
        return (X - self.mean) @ self.axes


def whitened(coordinates: Array, variances: Array) -> Array:
    """Principal coordinates (n x dim) at unit variance; InputError if a component has none."""
    if (flat := variances <= MIN_VARIANCE_SHARE * variances[0]).any():
        raise InputError(
            f"the points have variance in {int(np.argmax(flat))} directions only; "
            f"whitening to dim={len(variances)} needs as many"
        )
    return coordinates / np.sqrt(variances)


def flat_features(maps: np.ndarray, *, path_maximum: bool) -> Array:
    """Reshape n x paths x places to n x D; `path_maximum` divides each map by its maximum, per image and path."""
    maps = maps.astype(np.float64)
    if path_maximum:
        largest = maps.max(axis=2, keepdims=True)
        # A path without a response in an image stays zero.
        largest[largest <= 0] = 1.0
        maps /= largest
    return maps.reshape(len(maps), -1)


def fit_pca(blocks: Iterable[Array], *, dim: int, centre: bool) -> Pca:
    """The first `dim` principal components of all rows of the blocks.

    Fewer rows than columns are decomposed into singular values; of more rows, only the D x D second moments are kept.
    """
    from scipy.linalg import eigh, svd

    count, total, moments, few = 0, 0.0, 0.0, []
    for block in blocks:
        count += len(block)
        total = total + block.sum(axis=0)
        few.append(block)
        if count >= (D := len(total)):
            moments = sum((rows.T @ rows for rows in few), moments)
            few = []
    if dim > min(count, D):
        raise InputError(
            f"dim={dim} principal components from {count} points of {D} features; need at most {min(count, D)}"
        )
    mean = total / count if centre else np.zeros(D)
    if few:
        _, lengths, axes = svd(np.concatenate(few) - mean, full_matrices=False)
        return Pca(mean, fixed_signs(axes[:dim].T), lengths[:dim] ** 2 / count)
    covariance = moments / count - np.outer(mean, mean)
    variances, axes = eigh(covariance, subset_by_index=(D - dim, D - 1))
    return Pca(mean, fixed_signs(axes[:, ::-1]), np.maximum(variances[::-1], 0))
