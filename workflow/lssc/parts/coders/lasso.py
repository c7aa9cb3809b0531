"""Sparse codes by the lasso, eqs. (4) and (5)."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from lssc.parts.landmarks import landmark_rows
from lssc.parts.params import Above
from lssc.parts.registry import component
from lssc.types import Codes, LandmarkArray, Rows


def warm_up() -> None:
    # In few dimensions, and in many.
    for D in (2, 40):
        code_lasso(np.eye(D), np.arange(1), lam=10.0)


@component("coder", "lasso", warm_up=warm_up, by_rows=True, per_point=True)
def code_lasso(
    X: Rows,
    landmarks: LandmarkArray,
    *,
    lam: Annotated[float, Above(0)],
    exclude_self: bool = True,
    precision: Literal["double", "single"] = "double",
    threads: int = 1,
) -> Codes:
    """min |c|_1 + lam/2 |x - L'c|^2 for every point x (row of X, n x D), L the landmarks as rows (m x D).

    With `exclude_self` no landmark takes part in its own code: eq. (5), FSC; without, eq. (4), ESC. In up to 32
    dimensions inner products of points and landmarks in single precision have errors of about 1e-7 of their norms.
    Codes have larger errors where landmarks are nearly dependent: many landmarks, with a large `lam`. In more
    dimensions the precision makes no difference: the code of either is optimal in double precision.
    """
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.lasso import compute_lasso_codes

    L, own = landmark_rows(X, landmarks, exclude_self=exclude_self)
    codes, n_unsolved = compute_lasso_codes(X, L, own, lam, single=precision == "single", threads=threads)
    return Codes(codes, {"converged": n_unsolved == 0, "n_unsolved": n_unsolved})
