"""Uniform sampling without replacement: FSC-uniform."""

from __future__ import annotations

import numpy as np

from lssc.parts.registry import component
from lssc.types import Landmarks, Rows


@component("selector", "uniform", by_rows=True)
def select_uniform(X: Rows, m: int, *, rng: np.random.Generator) -> Landmarks:
    """m of the n points uniformly at random, in increasing order."""
    return Landmarks(np.sort(rng.choice(len(X), m, replace=False)))
