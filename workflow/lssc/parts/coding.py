"""Codes of points that come block by block: each block is coded by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lssc.parts.registry import find
from lssc.types import Array, CodeBlocks, Codes, IndexArray, LandmarkArray, Rows, block_slices

# Numbers of the points that are coded at a time (64 MB).
NUMBERS_PER_BLOCK = 2**23


def code_rows(
    X: Rows, landmarks: LandmarkArray, coder: str, params: Mapping[str, Any], *, threads: int = 1
) -> CodeBlocks:
    """The codes of points that need not be in memory, block by block."""
    rows = landmarks if landmarks.ndim == 1 else None
    known = X[landmarks] if rows is not None else landmarks
    options = {"landmarks": known, "rows": rows, "coder": coder, "params": params, "threads": threads}

    def blocks() -> Iterator[Codes]:
        for place in block_slices(len(X), X.shape[1], NUMBERS_PER_BLOCK):
            yield code_block(X[place], place.start, **options)

    return CodeBlocks((len(X), len(known)), blocks())


def code_block(
    block: Array,
    start: int,
    *,
    landmarks: Array,
    rows: IndexArray | None,
    coder: str,
    params: Mapping[str, Any],
    threads: int = 1,
) -> Codes:
    """The codes of points start, start + 1, ... by the landmarks (m x D), in single precision (CSR).

    `rows` are those of the landmarks among all points, if they are points: none is used in its own code.
    """
    n, part = len(block), find("coder", coder)
    if rows is None:
        codes = part(block, landmarks, threads=threads, **params)
    else:
        # The coder takes landmarks as rows of its points: those that lie elsewhere follow the block.
        here = (rows >= start) & (rows < start + n)
        places = np.where(here, rows - start, n + np.cumsum(~here) - 1)
        codes = part(np.concatenate([block, landmarks[~here]]), places, threads=threads, **params)
    matrix = codes.matrix[:n]
    matrix.data = matrix.data.astype(np.float32)
    return Codes(matrix, codes.info)
