"""The codes of `lasso` by a compiled homotopy: the same problem, to the last digits, in less time."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.params import Above
from lssc.registry import component
from lssc.types import Array, Codes, IndexArray


def warm_up() -> None:
    code_homotopy(np.eye(2), np.arange(1), lam=10.0)


@component("coder", "homotopy", warm_up=warm_up)
def code_homotopy(
    X: Array, landmarks: IndexArray, *, lam: Annotated[float, Above(0)], exclude_self: bool = True
) -> Codes:
    """min |c|_1 + lam/2 |x - L'c|^2 for every point x, L the landmarks as rows; parameters as those of `lasso`."""
    # Compiled code is loaded when it is needed.
    from lssc.homotopy import lasso_codes

    own = np.full(len(X), -1)
    if exclude_self:
        own[landmarks] = np.arange(len(landmarks))
    codes, unsolved = lasso_codes(X, X[landmarks], own, lam)
    return Codes(codes, {"converged": unsolved == 0, "n_unsolved": unsolved})
