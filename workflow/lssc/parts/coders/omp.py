"""Sparse codes by orthogonal matching pursuit: SSC-OMP (You, Robinson and Vidal 2016)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.landmarks import landmark_rows
from lssc.parts.params import AtLeast, Below
from lssc.parts.registry import component
from lssc.types import Array, Codes, LandmarkArray

# Points compared with the landmarks at a time.
POINTS_PER_BLOCK = 256


def warm_up() -> None:
    code_omp(np.eye(2), np.arange(2), k=1)


@component("coder", "omp", warm_up=warm_up)
def code_omp(
    X: Array,
    landmarks: LandmarkArray,
    *,
    k: Annotated[int, AtLeast(1), Below("m")],
    tol: Annotated[float, AtLeast(0)] = 1e-6,
) -> Codes:
    """Greedily min |x - L'c|^2 with at most k nonzeros: each step adds the landmark most correlated with the residual.

    No landmark takes part in its own code. A point is done early when its squared residual, relative to its squared
    norm, is at most `tol`. Correlations are not scaled by the norms of landmarks, so long landmarks are favoured.
    Memory is linear in n + m.
    """
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.omp import compute_omp_codes

    L, own = landmark_rows(X, landmarks)
    return Codes(compute_omp_codes(X, L, own, k, float(tol), POINTS_PER_BLOCK))
