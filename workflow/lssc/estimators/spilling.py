"""Codes that go to files as they are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lssc.blocks import LocalBlocks
from lssc.estimators.inputs import row_blocks
from lssc.parts.coding import code_block
from lssc.shards import Shard, ShardRows
from lssc.types import Codes, LandmarkArray, Rows


def code_to_files(
    points: Rows, landmarks: LandmarkArray, coder: str, params: Mapping[str, Any], *, folder: str, threads: int
) -> Codes:
    """The codes of all points, in files of the folder: memory holds those of one block."""
    rows = landmarks if landmarks.ndim == 1 else None
    known = points[landmarks] if rows is not None else landmarks
    blocks, shards = row_blocks(*points.shape), []
    for block in blocks:
        options = {"landmarks": known, "rows": rows, "coder": coder, "params": params, "threads": threads}
        codes = code_block(points[block], block.start, **options)
        shards.append(Shard.write(folder, f"codes-{block.start:012d}", codes))
    return Codes(LocalBlocks(ShardRows(shards, [b.stop - b.start for b in blocks], len(known))))
