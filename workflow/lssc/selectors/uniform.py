"""Uniform sampling: FSC-uniform."""

from __future__ import annotations

import numpy as np

from lssc.registry import component
from lssc.types import Array, Landmarks


@component("selector", "uniform")
def select_uniform(X: Array, m: int, *, rng: np.random.Generator) -> Landmarks:
    """m of the n points uniformly at random, without replacement, in increasing order."""
    return Landmarks(np.sort(rng.choice(len(X), m, replace=False)))
