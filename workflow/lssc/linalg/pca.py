"""Principal components of features that are read block by block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lssc.errors import InputError
from lssc.linalg.scaling import fixed_signs
from lssc.types import Array


@dataclass(frozen=True)
class Pca:
    """The axes of largest variance, as columns, around a mean (zero if uncentred)."""

    mean: Array
    axes: Array
    variances: Array

    def project(self, X: Array) -> Array:
        return (X - self.mean) @ self.axes


def flat_features(maps: np.ndarray, *, path_maximum: bool) -> Array:
    """n x paths x places -> n x D; with `path_maximum` each path's map is first divided by its maximum, per image."""
    maps = maps.astype(np.float64)
    if path_maximum:
        largest = maps.max(axis=2, keepdims=True)
        # A path that finds nothing in an image says nothing: it stays zero.
        largest[largest <= 0] = 1.0
        maps /= largest
    return maps.reshape(len(maps), -1)


def fit_pca(blocks: Iterable[Array], *, dim: int, centre: bool) -> Pca:
    """The first `dim` principal components of all rows together, from the D x D matrix of second moments."""
    from scipy.linalg import eigh

    count, total, moments = 0, 0.0, 0.0
    for block in blocks:
        count += len(block)
        total = total + block.sum(axis=0)
        moments = moments + block.T @ block
    D = len(total)
    if dim > min(count, D):
        raise InputError(
            f"dim={dim} principal components from {count} images of {D} features; need at most {min(count, D)}"
        )
    mean = total / count if centre else np.zeros(D)
    covariance = moments / count - np.outer(mean, mean)
    variances, axes = eigh(covariance, subset_by_index=(D - dim, D - 1))
    return Pca(mean, fixed_signs(axes[:, ::-1]), np.maximum(variances[::-1], 0))
