"""Sparse codes by the lasso, eqs. (4) and (5), solved by a compiled homotopy."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np

from lssc.parts.params import Above
from lssc.parts.registry import component
from lssc.types import Codes, IndexArray, Rows


def warm_up() -> None:
    code_lasso(np.eye(2), np.arange(1), lam=10.0)


@component("coder", "lasso", warm_up=warm_up, by_rows=True)
def code_lasso(
    X: Rows,
    landmarks: IndexArray,
    *,
    lam: Annotated[float, Above(0)],
    exclude_self: bool = True,
    precision: Literal["double", "single"] = "double",
    threads: int = 1,
) -> Codes:
    """min |c|_1 + lam/2 |x - L'c|^2 for every point x, L the landmarks as rows.

    With `exclude_self` no landmark takes part in its own code: eq. (5), FSC; without, eq. (4), ESC. In single precision
    the inner products of points and landmarks are wrong by about 1e-7 of their lengths, and the codes accordingly.
    """
    # Compiled code is loaded when it is needed.
    from lssc.kernels.lasso import compute_lasso_codes

    own = np.full(len(X), -1)
    if exclude_self:
        own[landmarks] = np.arange(len(landmarks))
    codes, unsolved = compute_lasso_codes(X, X[landmarks], own, lam, single=precision == "single", threads=threads)
    return Codes(codes, {"converged": unsolved == 0, "n_unsolved": unsolved})
