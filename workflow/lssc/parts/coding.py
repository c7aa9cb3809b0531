"""Codes of points that come block by block: each block is coded by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lssc.parts.registry import find
from lssc.types import Array, IndexArray


def code_block(
    block: Array,
    start: int,
    *,
    landmarks: Array,
    rows: IndexArray | None,
    coder: str,
    params: Mapping[str, Any],
    threads: int = 1,
) -> Any:
    """The codes of points start, start + 1, ... by the landmarks (m x D), in single precision (CSR).

    `rows` are those of the landmarks among all points, if they are points: none is used in its own code.
    """
    n, part = len(block), find("coder", coder)
    if rows is None:
        codes = part(block, landmarks, threads=threads, **params).matrix
    else:
        # The coder takes landmarks as rows of its points: those that lie elsewhere follow the block.
        here = (rows >= start) & (rows < start + n)
        places = np.where(here, rows - start, n + np.cumsum(~here) - 1)
        points = np.concatenate([block, landmarks[~here]])
        codes = part(points, places, threads=threads, **params).matrix[:n]
    codes.data = codes.data.astype(np.float32)
    return codes
