"""The efficient ADMM for SSC (Pourkamali-Anaraki and Becker 2018): the paper's "modified version"."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.coherence import penalties
from lssc.params import Above, AtLeast
from lssc.registry import component
from lssc.types import Array, Codes, IndexArray

# Columns that run together, and stop together.
BLOCK = 64
# How often the stopping rule is looked at: looking may cost a product with all points.
CHECK_EVERY = 5


def warm_up() -> None:
    code_admm_modified(np.eye(2), np.arange(2), alpha=10.0)


@component("coder", "admm_modified", warm_up=warm_up, needs_all=True)
def code_admm_modified(
    X: Array,
    landmarks: IndexArray,
    *,
    alpha: Annotated[float, Above(0)],
    max_iter: Annotated[int, AtLeast(1)] = 200,
    tol: Annotated[float, AtLeast(0)] = 2e-4,
) -> Codes:
    """Eq. (3) with lambda = alpha / lambda0 through a D x D system instead of an n x n one: n^2 D per iteration.

    The iteration is separable by columns, so every block of columns runs until it meets the tolerance by itself and
    only its nonzeros are kept: memory is n x BLOCK, never n x n.
    """
    # Compiled code is loaded when it is needed.
    from lssc.admm_kernel import admm_codes

    points = X[landmarks]
    codes, iterations, gap = admm_codes(
        points, *penalties(points.T, alpha), max_iter=max_iter, tol=float(tol), block=BLOCK, check_every=CHECK_EVERY
    )
    return Codes(codes, {"n_iter": iterations, "gap": gap, "converged": gap <= tol})
