"""Features of the images of a collection, reduced by PCA: the paper's experiment on MNIST."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from lssc.errors import InputError
from lssc.linalg.pca import fit_pca, flat_features, whitened
from lssc.parts.params import AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, ImageFeatures, IndexArray, Points


@component("dataset", "images")
def images(
    n: int,
    *,
    n_clusters: int,
    collection: str,
    classes: tuple[int, ...] = (),
    path_maximum: bool = True,
    centre: bool = True,
    dim: Annotated[int, AtLeast(1), AtMost(100_000)] = 500,
    pca_on: Literal["all", "subset"] = "all",
    whiten: bool = False,
    features: ImageFeatures,
    rng: np.random.Generator,
) -> Points:
    """n / K random images of each of K classes, or all images if there are n; `classes` defaults to all.

    Features are reduced to `dim` principal components of `all` images of the collection or of this `subset`.
    `path_maximum` first divides each scattering path by its maximum, per image; `centre` subtracts the mean.
    `whiten` scales each component to unit variance, over all images or the subset.
    """
    labels = features.labels
    chosen = list(classes) or sorted(set(labels.tolist()))
    rows = choose_rows(labels, chosen, n, rng)
    if len(rows) != n:
        raise InputError(f"n={n} cannot be divided among the {len(chosen)} classes of these images")
    if pca_on == "subset":
        flat = flat_features(features.rows(rows), path_maximum=path_maximum)
        pca = fit_pca([flat], dim=dim, centre=centre)
        X = whitened(pca.project(flat), pca.variances) if whiten else pca.project(flat)
    else:
        X = _components(features, rows, dim=dim, whiten=whiten)
    clusters = np.searchsorted(np.sort(chosen), labels[rows])
    return Points(X, clusters.astype(np.int64), rows)


def _components(features: ImageFeatures, rows: IndexArray, *, dim: int, whiten: bool) -> Array:
    """The first `dim` principal components of these images; the file may hold more."""
    X = features.rows(rows)[:, :dim].astype(np.float64)
    if X.shape[1] < dim:
        raise InputError(f"dim={dim} components requested; these images have {X.shape[1]}")
    return whitened(X, features.variances[:dim]) if whiten else X


def choose_rows(labels: np.ndarray, classes: list[int], n: int, rng: np.random.Generator) -> IndexArray:
    """Rows of the images that are used, increasing."""
    members = [np.flatnonzero(labels == label) for label in classes]
    if n == sum(map(len, members)):
        return np.sort(np.concatenate(members))
    each = n // len(classes)
    for label, rows in zip(classes, members, strict=True):
        if len(rows) < each:
            raise InputError(f"n={n} needs {each} images of each class, but class {label} has only {len(rows)}")
    return np.sort(np.concatenate([rng.choice(rows, each, replace=False) for rows in members]))
