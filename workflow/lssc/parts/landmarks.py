"""Landmarks of a coder: rows of X, or points of their own."""

from __future__ import annotations

import numpy as np

from lssc.types import Array, IndexArray, LandmarkArray, Rows


def landmark_rows(X: Rows, landmarks: LandmarkArray, *, exclude_self: bool = True) -> tuple[Array, IndexArray]:
    """The landmarks as points (m x D), and for each point the landmark that it must not use; -1 if it may use all.

    With `exclude_self`, a landmark that is a row of X must not be used by this row.
    """
    own = np.full(len(X), -1)
    if landmarks.ndim == 2:
        return landmarks, own
    if exclude_self:
        own[landmarks] = np.arange(len(landmarks))
    return X[landmarks], own
