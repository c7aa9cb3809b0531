"""Codes and coordinates in files of a folder, for more of them than memory holds."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lssc.errors import MissingPackage
from lssc.types import RowBlocks

PARTS = ("data", "indices", "indptr", "shape")


@dataclass(frozen=True)
class Shard:
    """The codes of a block of points, a CSR matrix in an HDF5 file."""

    path: str

    @classmethod
    def write(cls, folder: str, name: str, matrix: Any) -> Shard:
        """The file appears whole or not at all: a task may be killed and run again elsewhere."""
        path = Path(folder) / f"{name}.h5"
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{uuid.uuid4().hex}")
        with _h5py().File(temporary, "w") as file:
            for part in PARTS:
                file[part] = getattr(matrix, part)
        os.replace(temporary, path)
        return cls(str(path))

    def load(self) -> Any:
        from scipy.sparse import csr_matrix

        with _h5py().File(self.path, "r") as file:
            data, indices, indptr, shape = (file[part][()] for part in PARTS)
        return csr_matrix((data, indices, indptr), shape=tuple(shape))


def _h5py() -> Any:
    try:
        import h5py
    except ModuleNotFoundError:
        raise MissingPackage("spill needs the package 'h5py'; install it with: pip install 'lssc[files]'") from None
    return h5py


class ShardRows:
    """The codes of all points (n x m), in shards that are read one by one."""

    dtype = np.dtype(np.float32)

    def __init__(self, shards: Sequence[Shard], lengths: Sequence[int], m: int) -> None:
        ends = np.cumsum(lengths).tolist()
        # The blocks that can be read.
        self.slices = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        self._shards, self.shape = {s.start: shard for s, shard in zip(self.slices, shards, strict=True)}, (ends[-1], m)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Any:
        return self._shards[rows.start].load()


def write_array(folder: str, name: str, blocks: RowBlocks) -> np.ndarray:
    """An array that is made block by block, as a memory map of a file."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    array = np.lib.format.open_memmap(Path(folder) / f"{name}.npy", "w+", blocks.dtype, blocks.shape)
    for place, block in blocks.placed():
        array[place] = block
    array.flush()
    return array
