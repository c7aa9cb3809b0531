"""The paper's spectral embedding: singular vectors of |C| D^-1/2 (m x n), without an n x n matrix."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

import numpy as np
from scipy import sparse

from lssc.blocks import Blocks, Sums, as_blocks
from lssc.linalg.eigen import top_eigenpairs
from lssc.linalg.scaling import column_signs, unit_rows
from lssc.parts.params import AtLeast
from lssc.parts.registry import component
from lssc.types import Array, Embedding, Projection

# Singular values below this share of the largest one count as zero.
MIN_SINGULAR_SHARE = 1e-7


def warm_up() -> None:
    import scipy.sparse.linalg  # noqa: F401

    embed_landmark_svd(sparse.csr_matrix(np.eye(3)), n_clusters=2, rng=np.random.default_rng(0))


@component("embedder", "landmark_svd", warm_up=warm_up, by_rows=True)
def embed_landmark_svd(
    codes: sparse.csr_matrix | Blocks,
    *,
    n_clusters: int,
    scale_rows: bool = False,
    solver: Literal["auto", "gram", "svd"] = "auto",
    gram_up_to: Annotated[int, AtLeast(1)] = 3000,
    rng: np.random.Generator,
) -> Embedding:
    """Algorithm 1, steps 3 to 5: the top K right singular vectors of |C| D^-1/2 (m x n), D = diag(|C|' |C| 1).

    `gram` takes the eigenvectors of the m x m matrix |C| D^-1 |C|' (exact, cheap for small m), `svd` a truncated SVD,
    `auto` the first up to m = `gram_up_to`. Two sums over the codes, then the coordinates of each point by itself.
    """
    return embed_codes(codes, n_clusters, scale_rows=scale_rows, solver=solver, gram_up_to=gram_up_to, rng=rng)


def embed_codes(
    codes: sparse.csr_matrix | Blocks,
    k: int,
    *,
    top: int = 0,
    power: float = 1.0,
    landmark_degrees: bool = False,
    value_power: float = 0.0,
    drop_first: bool = False,
    scale_rows: bool,
    solver: Literal["auto", "gram", "svd"] = "auto",
    gram_up_to: int = 3000,
    rng: np.random.Generator,
) -> Embedding:
    """Steps 3 to 5 for A in place of |C|' (n x m): each point's `top` largest |c|, to the `power`.

    `landmark_degrees` divides the columns of A by the square roots of their sums. There are k vectors, each times its
    singular value to `value_power`. `drop_first` leaves out the first vector, which is the same for every graph: the
    square roots of the degrees, of singular value 1.
    """
    codes = as_blocks(codes)
    sums, uncoded = codes.sum(partial(_column_sums, top=top, power=power))
    landmark_scale = 1 / np.sqrt(np.where(sums > 0, sums, 1.0)) if landmark_degrees else None
    weights = sums if landmark_scale is None else sums * landmark_scale
    projection = Projection(weights, np.zeros((len(weights), 0)), scale_rows, top, power, landmark_scale)
    # The first right singular vector: known, so it can be left out even if others have singular value 1, too.
    first = weights / max(np.linalg.norm(weights), 1e-300) if drop_first else np.zeros(len(weights))
    use_gram = solver == "gram" or (solver == "auto" and len(weights) <= gram_up_to)
    U, values = (_top_by_gram if use_gram else _top_by_svd)(codes, projection, k, first, rng)
    # Signs by the landmarks: those of the points would take another pass.
    columns = column_signs(U) * (values**value_power if value_power else 1.0)
    projection = replace(projection, basis=U * columns)
    # Codes in single precision give coordinates in single precision.
    dtype = codes.dtype if codes.dtype.kind == "f" else np.dtype(np.float64)
    vectors = codes.map(partial(_coordinates, projection=projection, dtype=dtype), row=(k,), dtype=dtype)
    return Embedding(vectors, values, {"n_uncoded": int(uncoded)}, projection)


def project_codes(codes: sparse.csr_matrix, projection: Projection) -> Array:
    """Coordinates of any points in an embedding by landmarks, from their codes by the same landmarks."""
    vectors = _scaled(codes, projection) @ projection.basis
    return unit_rows(vectors) if projection.scale_rows else vectors


def _coordinates(codes: sparse.csr_matrix, *, projection: Projection, dtype: np.dtype) -> Array:
    return project_codes(codes, projection).astype(dtype, copy=False)


def _scaled(codes: sparse.csr_matrix, projection: Projection) -> sparse.csr_matrix:
    """The rows of D^-1/2 A for these codes, D = diag(A weights)."""
    A = _select(codes, top=projection.top, power=projection.power)
    if projection.landmark_scale is not None:
        A.data *= projection.landmark_scale[A.indices]
    degree = A @ projection.weights
    # A point without a code has degree zero: its row is zero and stays at the origin.
    degree[degree == 0] = 1.0
    A.data *= np.repeat(1 / np.sqrt(degree), np.diff(A.indptr))
    return A


def _select(codes: sparse.csr_matrix, *, top: int, power: float) -> sparse.csr_matrix:
    """Each point's `top` largest |c| to a power; all if `top` is 0. In double precision."""
    indptr, indices, data = codes.indptr, codes.indices, codes.data
    if top:
        # Imported on use: Numba takes half a second to load.
        from lssc.kernels.codes import keep_largest

        indptr, indices, data = keep_largest(indptr, indices, data, top)
    magnitudes = np.abs(data, dtype=np.float64)
    if power != 1:
        magnitudes **= power
    # Share the index arrays of the codes.
    return sparse.csr_matrix((magnitudes, indices, indptr), shape=codes.shape)


def _column_sums(codes: sparse.csr_matrix, *, top: int, power: float) -> Sums:
    """A'1, and the number of points without a code."""
    A = _select(codes, top=top, power=power)
    return np.asarray(A.sum(axis=0)).ravel(), np.array((np.diff(A.indptr) == 0).sum())


def _top_by_gram(
    codes: Blocks, projection: Projection, k: int, first: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Columns u / s for the top k singular triplets (u, s, v) but u = `first`, so that A @ columns = v."""
    from scipy.linalg import eigh

    m = codes.shape[1]
    (gram,) = codes.sum(partial(_lower_gram, projection=projection))
    if first.any():
        gram -= np.outer(first, first)
    squares, U = eigh(gram, lower=True, subset_by_index=(max(m - k, 0), m - 1))
    return _divide(U[:, ::-1], np.sqrt(np.maximum(squares[::-1], 0)), k)


def _lower_gram(codes: sparse.csr_matrix, *, projection: Projection) -> Sums:
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.gram import add_lower_gram

    A = _scaled(codes, projection)
    if not A.has_canonical_format:
        # A shares its index arrays with the codes, which must not change.
        A = A.copy()
        A.sum_duplicates()
    gram = np.zeros((A.shape[1], A.shape[1]))
    add_lower_gram(A.indptr, A.indices, A.data, gram)
    return (gram,)


def _top_by_svd(
    codes: Blocks, projection: Projection, k: int, first: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The same without the m x m matrix, from products with A and A'."""

    def product(x: Array) -> Array:
        (image,) = codes.sum(partial(_product, projection=projection, x=x))
        return image - np.multiply.outer(first, first @ x)

    squares, U = top_eigenpairs(product, codes.shape[1], k, rng=rng)
    return _divide(U, np.sqrt(np.maximum(squares, 0)), k)


def _product(codes: sparse.csr_matrix, *, projection: Projection, x: Array) -> Sums:
    A = _scaled(codes, projection)
    return (A.T @ (A @ x),)


def _divide(U: Array, values: Array, k: int) -> tuple[Array, Array]:
    # If the rank is below K, the missing coordinates are zero, not rounding errors over rounding errors.
    kept = values > MIN_SINGULAR_SHARE * max(values.max(initial=0), 1e-300)
    columns, singular = np.zeros((U.shape[0], k)), np.zeros(k)
    columns[:, : len(values)] = np.where(kept, U / np.where(kept, values, 1), 0)
    singular[: len(values)] = np.where(kept, values, 0)
    return columns, singular
