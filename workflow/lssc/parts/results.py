"""Checks of what a part returns, so that a wrong result is reported in its own step and names the part."""

from __future__ import annotations

from typing import Any

import numpy as np

from lssc.blocks import Blocks
from lssc.errors import InputError
from lssc.parts.registry import Component
from lssc.types import Clusters, Codes, Embedding, Landmarks, Points, RowBlocks

RETURNS = {
    "dataset": "Points(X, labels): n rows of numbers and n class numbers or None",
    "selector": "Landmarks(indices): m different row numbers",
    "coder": "Codes(matrix): a SciPy CSR matrix of n x m, one row per point",
    "embedder": "Embedding(vectors, values): n rows of coordinates, and the values they belong to",
}
# All other kinds return labels.
LABELS = "Clusters(labels, info): n whole numbers from 0 to K - 1"


def require_result(part: Component, result: Any, *, n: int, m: int = 0, n_clusters: int = 0) -> None:
    """InputError naming the part unless it returned what its kind returns for n points and m landmarks."""
    if problem := result_problem(part.kind, result, n=n, m=m, n_clusters=n_clusters):
        kind = f"{part.kind} {part.name!r}"
        raise InputError(f"{kind} returned {problem}; a {part.kind} returns {RETURNS.get(part.kind, LABELS)}")


def result_problem(kind: str, result: Any, *, n: int, m: int = 0, n_clusters: int = 0) -> str | None:
    """What is wrong with the result of a part of this kind; None if nothing is."""
    check = {"dataset": _points, "selector": _landmarks, "coder": _codes, "embedder": _embedding}
    return check.get(kind, _clusters)(result, n, m, n_clusters)


def _points(result: Any, n: int, m: int, n_clusters: int) -> str | None:
    if not isinstance(result, Points):
        return _type(result)
    if problem := _array(result.X, "X", "f", (n, None)):
        return problem
    return None if result.labels is None else _array(result.labels, "labels", "iu", (n,))


def _landmarks(result: Any, n: int, m: int, n_clusters: int) -> str | None:
    if not isinstance(result, Landmarks):
        return _type(result)
    if problem := _array(result.indices, "indices", "iu", (m,)):
        return problem
    if len(np.unique(result.indices)) < m:
        return "indices that repeat a point"
    if result.points is not None and (problem := _array(result.points, "points", "f", (m, None))):
        return problem
    return _range(result.indices, "indices", n)


def _codes(result: Any, n: int, m: int, n_clusters: int) -> str | None:
    if not isinstance(result, Codes):
        return _type(result)
    matrix = result.matrix
    if getattr(matrix, "format", None) != "csr" and not isinstance(matrix, Blocks):
        return f"a matrix of type {type(matrix).__name__}"
    return None if matrix.shape == (n, m) else f"a matrix of {matrix.shape[0]} x {matrix.shape[1]}, not {n} x {m}"


def _embedding(result: Any, n: int, m: int, n_clusters: int) -> str | None:
    if not isinstance(result, Embedding):
        return _type(result)
    return _array(result.vectors, "vectors", "f", (n, None)) or _array(result.values, "values", "f", (None,))


def _clusters(result: Any, n: int, m: int, n_clusters: int) -> str | None:
    if not isinstance(result, Clusters):
        return _type(result)
    problem = _array(result.labels, "labels", "iu", (n,))
    # Labels in blocks are not read for this.
    return (
        problem if problem or not isinstance(result.labels, np.ndarray) else _range(result.labels, "labels", n_clusters)
    )


def _type(result: Any) -> str:
    return "nothing" if result is None else f"a {type(result).__name__}"


def _array(array: Any, name: str, dtypes: str, shape: tuple[int | None, ...]) -> str | None:
    if not isinstance(array, np.ndarray | RowBlocks | Blocks):
        return f"{name} as {_type(array)}"
    if array.dtype.kind not in dtypes:
        return f"{name} of type {array.dtype}"
    fits = len(array.shape) == len(shape) and all(
        want in (None, have) for want, have in zip(shape, array.shape, strict=True)
    )
    wanted = " x ".join("any" if size is None else str(size) for size in shape)
    return None if fits else f"{name} of shape {' x '.join(map(str, array.shape))}, not {wanted}"


def _range(array: np.ndarray, name: str, below: int) -> str | None:
    outside = array.size and (array.min() < 0 or array.max() >= below)
    return f"{name} from {array.min()} to {array.max()}, not 0 to {below - 1}" if outside else None
