"""Codes that go to files as they are made."""

from __future__ import annotations

import math
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lssc.blocks import LocalBlocks
from lssc.errors import InputError
from lssc.parts.coding import code_rows
from lssc.shards import Shard, ShardRows
from lssc.types import Codes, LandmarkArray, Rows


def new_folder(spill: str | os.PathLike[str] | None) -> str | None:
    """A folder of its own for each fit: a later fit must not change the results of an earlier one."""
    if spill is None:
        return None
    os.makedirs(spill, exist_ok=True)
    return tempfile.mkdtemp(prefix="fit-", dir=os.fspath(spill))


def code_to_files(
    points: Rows, landmarks: LandmarkArray, coder: str, params: Mapping[str, Any], *, folder: str, **options: Any
) -> Codes:
    """The codes of all points, in files of the folder: memory holds those of one block."""
    codes, shards, lengths, start = code_rows(points, landmarks, coder, params, **options), [], [], 0
    for block in codes.blocks:
        shards.append(Shard.write(folder, f"codes-{start:012d}", block.matrix))
        lengths.append(block.matrix.shape[0])
        if not start:
            _require_space(folder, Path(shards[0].path).stat().st_size, math.ceil(len(points) / lengths[0]) - 1)
        start += lengths[-1]
    return Codes(LocalBlocks(ShardRows(shards, lengths, codes.shape[1])))


def _require_space(folder: str, size: int, more: int) -> None:
    """InputError if the disk has no room for `more` blocks like the first one, before it is filled."""
    free = shutil.disk_usage(folder).free
    if free < size * more:
        raise InputError(
            f"spill={folder}: the codes take about {size * more / 1e9:.1f} GB, {free / 1e9:.1f} GB are free"
        )
