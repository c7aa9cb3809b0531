"""Codes by the elastic net: EnSC (You, Li, Robinson and Vidal 2016)."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from lssc.parts.landmarks import landmark_rows
from lssc.parts.params import Above, AtLeast, AtMost
from lssc.parts.registry import component
from lssc.types import Array, Codes, LandmarkArray


def warm_up() -> None:
    from lssc.kernels.elastic_net import Penalty, code_by_working_sets

    # In few dimensions, and in many.
    for D in (3, 40):
        code_elastic_net(np.eye(D), np.arange(2), gamma=10.0)
    # What codes by thousands of landmarks.
    X = np.random.default_rng(0).standard_normal((8, 40))
    code_by_working_sets(X, X, np.arange(8), Penalty(0.01, 0.0, 0.1), threads=1)


@component("coder", "elastic_net", warm_up=warm_up)
def code_elastic_net(
    X: Array,
    landmarks: LandmarkArray,
    *,
    gamma: Annotated[float, Above(0)],
    tau: Annotated[float, Above(0), AtMost(1)] = 0.9,
    relative: bool = True,
    n_nonzero: Annotated[int, AtLeast(0)] = 50,
    threads: int = 1,
) -> Codes:
    """min tau |c|_1 + (1 - tau)/2 |c|^2 + lam/2 |x - L'c|^2 for every point x, L the landmarks as rows (m x D).

    lam is gamma; with `relative`, gamma times the value up to which the code of x is zero, tau / max_j |l_j'x|: then
    gamma must exceed 1. No landmark takes part in its own code. With tau = 1 it is the lasso. Codes are exact: the
    optimality conditions hold for all landmarks. Of each code the `n_nonzero` largest coefficients are kept, all if 0.

    Time grows with n m D, memory with n n_nonzero; there is no m x m matrix for more than 4,096 landmarks.
    """
    # Imported on use: Numba takes half a second to load.
    from lssc.kernels.elastic_net import compute_elastic_net_codes

    L, own = landmark_rows(X, landmarks)
    choices = {"gamma": gamma, "tau": tau, "relative": relative, "top": n_nonzero, "threads": threads}
    codes, n_unsolved = compute_elastic_net_codes(X, L, own, **choices)
    return Codes(codes, {"converged": n_unsolved == 0, "n_unsolved": n_unsolved})
