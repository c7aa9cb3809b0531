"""Randomness: every generator in the pipeline comes from here."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def rng_for(seed: int, *key: str | int) -> np.random.Generator:
    """A generator that depends on the seed and the key alone: not on order, process, platform or block."""
    digest = hashlib.sha256(json.dumps([seed, *key]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def first_trial(n: int) -> tuple[str | int, ...]:
    """The key of trial 0 of the stream `t` on n points: one run of an estimator is this trial of the pipeline."""
    return "t", n, 0
