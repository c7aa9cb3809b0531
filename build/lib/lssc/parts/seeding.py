"""Randomness: every generator in the pipeline comes from here."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def rng_for(seed: int, *key: str | int) -> np.random.Generator:
    """A generator that depends on the seed and the key alone: not on order, process, platform or block."""
    digest = hashlib.sha256(json.dumps([seed, *key]).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))
