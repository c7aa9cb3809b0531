"""Affine subspaces fitted to clusters: moments of the clusters, principal axes, squared distances of points."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lssc.linalg.scaling import column_signs
from lssc.types import Array, IndexArray, Subspaces

# Numbers in a block of points and of their coordinates (16 MB in single precision).
NUMBERS_PER_BLOCK = 2**22
# Least share of a residual that leverage leaves: a point that alone spans an axis has leverage 1.
MIN_UNEXPLAINED = 0.05
# Multiple of the mean Mahalanobis distance within a subspace from which on points count as far off.
FREE_SPREAD = 2.0


@dataclass
class Moments:
    """Counts (K), sums (K x D) and second moments (K x D x D) of the points of each cluster."""

    counts: Array
    sums: Array
    squares: Array

    @classmethod
    def zero(cls, n_clusters: int, dim: int) -> Moments:
        return cls(np.zeros(n_clusters), np.zeros((n_clusters, dim)), np.zeros((n_clusters, dim, dim)))

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.counts + other.counts, self.sums + other.sums, self.squares + other.squares)

    def add(self, points: Array, labels: IndexArray, sign: int = 1) -> None:
        """Add the points to their clusters, or take them away (sign -1)."""
        for k in np.unique(labels):
            members = points[labels == k]
            self.counts[k] += sign * len(members)
            self.sums[k] += sign * members.sum(axis=0, dtype=np.float64)
            self.squares[k] += sign * (members.T @ members)


def fit_subspaces(moments: Moments, threshold: float, *, dtype: type = np.float64) -> Subspaces:
    """One affine subspace for each cluster: its mean and its first d principal axes.

    d is the same for all clusters: the mean number of eigenvalues of a cluster's covariance above `threshold` times
    their mean. Eigenvectors are computed in the precision `dtype`; single precision takes half the time.
    """
    from scipy.linalg import eigh

    K, D = moments.sums.shape
    # Divide and conquer is the fastest; SciPy 1.11 cannot do it on one number.
    driver = "evd" if D > 1 else "ev"
    counts = np.maximum(moments.counts, 1)
    means = moments.sums / counts[:, None]
    variances, axes = np.zeros((K, D)), np.zeros((K, D, D))
    for k in range(K):
        covariance = moments.squares[k] / counts[k] - np.outer(means[k], means[k])
        values, vectors = eigh(covariance.astype(dtype, copy=False), driver=driver, overwrite_a=True)
        variances[k], axes[k] = np.maximum(values[::-1], 0), vectors[:, ::-1]
    above = variances > threshold * variances.mean(axis=1, keepdims=True)
    filled = moments.counts > 1
    d = max(1, round(above[filled].sum(axis=1).mean())) if filled.any() else 1
    d = min(d, D)
    noise = variances[:, d:].mean(axis=1) if d < D else np.zeros(K)
    return Subspaces(means, np.ascontiguousarray(axes[:, :, :d]), variances[:, :d], noise, moments.counts.copy())


def leading_coordinates(points: Array, dim: int) -> Array:
    """The first `dim` principal coordinates of the points, at most one for each point.

    Points that have no more coordinates are returned as they are.
    """
    from lssc.linalg.pca import fit_pca

    dim = min(dim, len(points))
    if points.shape[1] <= dim:
        return points
    return fit_pca([points], dim=dim, centre=False).project(points).astype(points.dtype)


def squared_distances(
    points: Array, subspaces: Subspaces, *, labels: IndexArray | None = None, within: float = 0.0
) -> Array:
    """|x - mu_k|^2 - |z|^2 + within s^2 max(q - 2d, 0), z = U_k'(x - mu_k), for every point and cluster (n x K).

    q = sum_j z_j^2/v_j, v the variances of the cluster's coordinates, is d on average for points of the cluster; s^2 is
    the mean noise of all clusters. So points far off within the subspace are far, too, in units of the noise; with
    within=0 this is the distance to the subspace. The precision is that of the points.

    With `labels`, the distance to a point's own cluster is divided by (1 - h)^2, h = 1/n_k + sum_j z_j^2/(n_k v_j) its
    leverage: approximately the distance to the subspace fitted without the point. Clusters of fewer than two points
    have no subspace and are infinitely far.
    """
    dtype, n = points.dtype, len(points)
    K, D, d = subspaces.bases.shape
    stacked = subspaces.bases.transpose(1, 0, 2).reshape(D, K * d).astype(dtype, copy=False)
    offsets = np.einsum("kd,kdj->kj", subspaces.means, subspaces.bases).ravel().astype(dtype)
    coordinates = points @ stacked
    coordinates -= offsets
    coordinates *= coordinates
    coordinates = coordinates.reshape(n, K, d)
    means = subspaces.means.astype(dtype)
    distances = np.square(points).sum(axis=1)[:, None] - 2 * (points @ means.T) + (means**2).sum(axis=1)
    distances -= coordinates.sum(axis=2)
    np.maximum(distances, 0, out=distances)
    if within:
        spread = np.einsum("nkd,kd->nk", coordinates, _inverse(subspaces).astype(dtype))
        distances += within * np.maximum(spread - FREE_SPREAD * d * _noise(subspaces), 0)
    if labels is not None:
        rows = np.arange(n)
        distances[rows, labels] /= _unexplained(coordinates[rows, labels], subspaces, labels) ** 2
    distances[:, subspaces.counts < 2] = np.inf
    return distances


def _noise(subspaces: Subspaces) -> float:
    """s^2, the mean noise of the clusters."""
    return float(subspaces.noise @ subspaces.counts / max(subspaces.counts.sum(), 1))


def _inverse(subspaces: Subspaces) -> Array:
    """s^2 / v (K x d); 0 on axes without variance."""
    noise = _noise(subspaces)
    return np.divide(noise, subspaces.variances, out=np.zeros_like(subspaces.variances), where=subspaces.variances > 0)


def _unexplained(squares: Array, subspaces: Subspaces, labels: IndexArray) -> Array:
    """1 - h of each point, from its squared coordinates in its own cluster."""
    variances = subspaces.variances[labels]
    safe = np.where(variances > 0, variances, 1)
    leverage = (1 + np.where(variances > 0, squares / safe, 0).sum(axis=1)) / np.maximum(subspaces.counts[labels], 1)
    return np.maximum(1 - leverage, MIN_UNEXPLAINED)


@dataclass(frozen=True)
class Frame:
    """Points as (x - shift) / scale in single precision.

    Single precision is three times as fast; shifted and scaled, its squares neither cancel nor overflow.
    """

    shift: Array
    scale: float

    @classmethod
    def of_points(cls, points: Array) -> Frame:
        """Their mean and their spread."""
        shift = points.mean(axis=0)
        spread = float(np.sqrt(np.square(points - shift).sum(axis=1).mean()))
        return cls(shift, spread if spread > 0 else 1.0)

    @classmethod
    def of_subspaces(cls, subspaces: Subspaces) -> Frame:
        """The mean and the spread of the points that the subspaces were fitted to."""
        D, d = subspaces.bases.shape[1:]
        shares = subspaces.counts / max(subspaces.counts.sum(), 1)
        shift = shares @ subspaces.means
        about_means = subspaces.variances.sum(axis=1) + (D - d) * subspaces.noise
        spread = float(np.sqrt(shares @ (about_means + np.square(subspaces.means - shift).sum(axis=1))))
        return cls(shift, spread if spread > 0 else 1.0)

    def centred(self, points: Array) -> Array:
        centred = np.empty(points.shape, dtype=np.float32)
        # Scaled in double precision: large numbers overflow in single.
        np.multiply(points - self.shift, 1 / self.scale, out=centred, casting="same_kind")
        return centred

    def centred_subspaces(self, subspaces: Subspaces) -> Subspaces:
        """Subspaces of points as subspaces of centred points."""
        return replace(
            subspaces,
            means=(subspaces.means - self.shift) / self.scale,
            variances=subspaces.variances / self.scale**2,
            noise=subspaces.noise / self.scale**2,
        )

    def restored(self, subspaces: Subspaces) -> Subspaces:
        """Subspaces of centred points as subspaces of points, with signs fixed."""
        signs = np.array([column_signs(basis) for basis in subspaces.bases])
        return replace(
            subspaces,
            means=subspaces.means * self.scale + self.shift,
            bases=subspaces.bases * signs[:, None, :],
            variances=subspaces.variances * self.scale**2,
            noise=subspaces.noise * self.scale**2,
        )


def nearest_subspaces(
    points: Array, subspaces: Subspaces, *, labels: IndexArray | None = None, within: float = 0.0
) -> tuple[IndexArray, Array]:
    """The nearest subspace of each point, and its squared distance; leverage is corrected if labels are given."""
    nearest, least = np.empty(len(points), dtype=np.int64), np.empty(len(points))
    K, D, d = subspaces.bases.shape
    size = max(1, NUMBERS_PER_BLOCK // (D + K * d))
    for start in range(0, len(points), size):
        block = slice(start, start + size)
        own = None if labels is None else labels[block]
        distances = squared_distances(points[block], subspaces, labels=own, within=within)
        nearest[block] = distances.argmin(axis=1)
        least[block] = distances.min(axis=1)
    return nearest, least


def label_points(points: Array, subspaces: Subspaces, *, within: float) -> IndexArray:
    """The nearest subspace of each point, as `squared_distances` measures."""
    frame = Frame.of_subspaces(subspaces)
    return nearest_subspaces(frame.centred(points), frame.centred_subspaces(subspaces), within=within)[0]


def log_densities(points: Array, subspaces: Subspaces) -> Array:
    """The log density of each point under a mixture of Gaussians: variances along the axes, the mean noise off them."""
    from scipy.special import logsumexp

    D, d = subspaces.bases.shape[1:]
    shares = subspaces.counts / subspaces.counts.sum()
    noise = max(_noise(subspaces), np.finfo(float).tiny)
    distances, exponents = squared_distances(points, subspaces), np.full((len(points), len(shares)), -np.inf)
    for k in np.flatnonzero(subspaces.counts >= 2):
        variances = np.maximum(subspaces.variances[k], noise)
        z = (points - subspaces.means[k]) @ subspaces.bases[k]
        spread = distances[:, k] / noise + (z**2 / variances).sum(axis=1)
        determinant = np.log(variances).sum() + (D - d) * np.log(noise)
        exponents[:, k] = np.log(shares[k]) - (D * np.log(2 * np.pi) + determinant + spread) / 2
    return logsumexp(exponents, axis=1)
