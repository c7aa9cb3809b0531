"""The values that pass between the stages of a method. Glossary: X points, C codes, K clusters, m landmarks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lssc.rows import RowBlocks

Array: TypeAlias = NDArray[np.float64]
IndexArray: TypeAlias = NDArray[np.int64]
Info: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Points:
    """n points as rows of X, with the cluster each was drawn from; `origin` is their place in a larger collection.

    X comes in blocks where it is too large to hold.
    """

    X: Array | RowBlocks
    labels: IndexArray
    origin: IndexArray | None = None


@dataclass(frozen=True)
class Landmarks:
    """Which rows of X are landmarks."""

    indices: IndexArray
    info: Info = field(default_factory=dict)


@dataclass(frozen=True)
class Codes:
    """Row j of `matrix` (n x m, CSR) is the code of point j: the paper's column c_j."""

    matrix: Any
    info: Info = field(default_factory=dict)


@dataclass(frozen=True)
class Embedding:
    """One row of coordinates per point, with the eigenvalues or singular values they belong to."""

    vectors: Array
    values: Array
    info: Info = field(default_factory=dict)


@dataclass(frozen=True)
class Clusters:
    """A cluster for every point, counted from zero."""

    labels: IndexArray
    info: Info
