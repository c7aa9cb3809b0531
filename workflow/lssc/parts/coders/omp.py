"""Sparse codes by orthogonal matching pursuit: SSC-OMP (You, Robinson and Vidal 2016)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.params import AtLeast, Below
from lssc.parts.registry import component
from lssc.types import Array, Codes, IndexArray

# Points that are compared with the landmarks together.
CHUNK = 256


def warm_up() -> None:
    code_omp(np.eye(2), np.arange(2), k=1)


@component("coder", "omp", warm_up=warm_up)
def code_omp(
    X: Array,
    landmarks: IndexArray,
    *,
    k: Annotated[int, AtLeast(1), Below("m")],
    tol: Annotated[float, AtLeast(0)] = 1e-6,
) -> Codes:
    """At most k landmarks per point, itself excluded, each step adding the one most correlated with the residual.

    A point is done early once its squared residual, relative to its squared length, is at most `tol`. Atoms are scored
    as given, without scaling, so long atoms are favoured where points have different lengths. Products are made in
    tiles: never n x m.
    """
    # Compiled code is loaded when it is needed.
    from lssc.kernels.omp import compute_omp_codes

    own = np.full(len(X), -1)
    own[landmarks] = np.arange(len(landmarks))
    return Codes(compute_omp_codes(X, X[landmarks], own, k, float(tol), CHUNK))
