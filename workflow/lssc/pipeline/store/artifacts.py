"""Reads and writes artifacts: one HDF5 file per stage and block of trials, one group per trial.

No other module opens HDF5. Each trial carries its arrays and facts about how they were made (recipe, seconds,
convergence, ...). `heads` guards against damage.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lssc.blocks import SPARSE_ROWS_PER_BLOCK
from lssc.errors import DamagedArtifact
from lssc.pipeline.store.files import replacing
from lssc.pipeline.store.heads import HEAD, check_sum, job_hash, write_head
from lssc.types import CodeBlocks, RowBlocks, Rows, StoredRows, block_slices, fits_in_memory

CSR = ("data", "indices", "indptr", "shape")
# Coefficients in a chunk of the file, if their number is not known from the start (256 KB of values).
NONZEROS_PER_CHUNK = 2**16
# Bytes of disk that HDF5 needs beside the arrays.
OVERHEAD = 2**18
# How HDF5 reports the system's error numbers.
ERRNO = re.compile(r"errno = (\d+)")


@dataclass(frozen=True)
class Record:
    """One trial of an artifact: arrays, whole or made in blocks, and JSON-able facts about them.

    Codes that are made in blocks are one entry; whole ones are several arrays (`csr_arrays`).
    """

    arrays: Mapping[str, np.ndarray | RowBlocks | CodeBlocks]
    facts: Mapping[str, Any] = field(default_factory=dict)


def csr_arrays(name: str, matrix: Any) -> dict[str, np.ndarray]:
    """A CSR matrix as plain arrays; `Reader.csr` joins them again."""
    return {f"{name}_{part}": np.asarray(getattr(matrix, part)) for part in CSR}


class StoredCodes:
    """Codes (n x m) in an open file, read at each access; only their pointers are in memory."""

    def __init__(self, data: h5py.Dataset, indices: h5py.Dataset, pointers: h5py.Dataset, shape: np.ndarray) -> None:
        self._data, self._indices, self._pointers = data, indices, pointers[()]
        self.shape, self.dtype = (int(shape[0]), int(shape[1])), data.dtype
        self.slices = block_slices(len(self), 1, SPARSE_ROWS_PER_BLOCK)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Any:
        from scipy.sparse import csr_matrix

        pointers = self._pointers[rows.start : rows.stop + 1]
        begin, end = pointers[[0, -1]]
        arrays = (self._data[begin:end], self._indices[begin:end], pointers - begin)
        return csr_matrix(arrays, shape=(rows.stop - rows.start, self.shape[1]))


class Writer:
    """Adds trials to an artifact that is being written."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file

    def add(self, trial: int, record: Record) -> None:
        """Write a trial. Each block of an array is written and hashed as it is made."""
        self._require_space([array for array in record.arrays.values() if not isinstance(array, CodeBlocks)])
        group, digest = self._file.create_group(_group(trial)), hashlib.sha256()
        for name, array in sorted(record.arrays.items()):
            if isinstance(array, CodeBlocks):
                self._add_codes(group, digest, name, array)
                continue
            data = group.create_dataset(name, shape=array.shape, dtype=array.dtype)
            for place, block in _hashed(digest, name, array):
                data[place] = block
            # A quota has to show here, where it can be reported: HDF5 crashes on what it cannot write later.
            data.flush()
        facts = json.dumps(dict(record.facts), sort_keys=True, default=_json_value)
        group.attrs.update(facts=facts, content=digest.hexdigest())

    def _add_codes(self, group: h5py.Group, digest: Any, name: str, codes: CodeBlocks) -> None:
        """Write codes as they are made: their number is known at the end."""
        n, m = codes.shape
        grown = {"shape": (0,), "maxshape": (None,), "chunks": (NONZEROS_PER_CHUNK,)}
        data = group.create_dataset(f"{name}_data", dtype=np.float32, **grown)
        indices = group.create_dataset(f"{name}_indices", dtype=np.int32, **grown)
        pointers = group.create_dataset(f"{name}_indptr", shape=(n + 1,), dtype=np.int64)
        group[f"{name}_shape"] = np.array([n, m])
        start, used = 0, 0
        for block in (codes.matrix for codes in codes.blocks):
            self._require_space([block.data, block.indices])
            stop, end = start + block.shape[0], used + block.nnz
            for dataset, values in ((data, block.data), (indices, block.indices)):
                dataset.resize((end,))
                dataset[used:end] = values
                digest.update(np.ascontiguousarray(values, dtype=dataset.dtype).data if len(values) else b"")
            pointers[start + 1 : stop + 1] = used + block.indptr[1:]
            digest.update(np.ascontiguousarray(block.indptr).data)
            start, used = stop, end
            data.flush()
        if start != n:
            raise ValueError(f"codes of {start} points, not {n}")

    def copy(self, trial: int, source: Reader) -> None:
        """Take a trial over from another artifact; HDF5 copies it piece by piece."""
        group = source._find(trial)
        self._require_space(group.values())
        self._file.copy(group, _group(trial))

    def _require_space(self, arrays: Iterable[np.ndarray | RowBlocks]) -> None:
        """OSError if the disk is too full, before HDF5 starts to write."""
        needed = sum(math.prod(array.shape) * array.dtype.itemsize for array in arrays) + OVERHEAD
        if shutil.disk_usage(Path(self._file.filename).parent).free < needed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextlib.contextmanager
def writing(path: Path, recipe: Mapping[str, Any] | None = None, code: str = "") -> Iterator[Writer]:
    """Write an artifact. It gets its name only when every trial is on disk; an error leaves nothing behind."""
    with replacing(path) as temporary:
        with _created(temporary) as file:
            yield Writer(file)
        write_head(temporary, job_hash(recipe, code))


@contextlib.contextmanager
def _created(path: Path) -> Iterator[h5py.File]:
    """A new HDF5 file; OSError if it cannot be written, on a full disk for example."""
    file = None
    try:
        file = h5py.File(path, "w", userblock_size=HEAD)
        yield file
        file.flush()
    except Exception as error:
        if code := ERRNO.search(str(error)):
            # Closing the file would crash. It stays open, with everything that refers to it, until the program ends.
            _unclosable.append((file, error))
            raise OSError(int(code[1]), os.strerror(int(code[1]))) from None
        if file:
            file.close()
        raise
    file.close()


_unclosable: list[Any] = []


class Reader:
    """Reads the trials of an open artifact; DamagedArtifact if one is missing or has another size than expected."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        self.path, self._file = path, file

    @property
    def trials(self) -> list[int]:
        return sorted(int(name.removeprefix("trial_")) for name in self._file)

    def facts(self, trial: int) -> dict[str, Any]:
        """How a trial was made, without reading its arrays."""
        return json.loads(self._find(trial).attrs["facts"])

    def content(self, trial: int) -> str:
        """The hash of a trial's arrays, without reading them."""
        return str(self._find(trial).attrs["content"])

    def has(self, trial: int, name: str) -> bool:
        """Whether a trial holds this array."""
        return name in self._find(trial)

    def array(self, trial: int, name: str, *, rows: int | None = None) -> np.ndarray:
        """One array of a trial, of which a number of rows may be required."""
        return self._dataset(trial, name, rows)[()]

    def rows(self, trial: int, name: str, *, rows: int | None = None) -> Rows:
        """One array of a trial; a large one stays in the file, to be read by rows."""
        data = self._dataset(trial, name, rows)
        return data[()] if fits_in_memory(data.shape) else StoredRows(data)

    def codes(self, trial: int, name: str) -> Any:
        """A CSR matrix; a large one stays in the file, to be read by rows."""
        data, indices, indptr, shape = (self._dataset(trial, f"{name}_{part}", None) for part in CSR)
        return self.csr(trial, name) if fits_in_memory(data.shape) else StoredCodes(data, indices, indptr, shape[()])

    def csr(self, trial: int, name: str) -> Any:
        """The CSR matrix that `csr_arrays` took apart."""
        from scipy.sparse import csr_matrix

        data, indices, indptr, shape = (self.array(trial, f"{name}_{part}") for part in CSR)
        return csr_matrix((data, indices, indptr), shape=tuple(shape))

    def record(self, trial: int) -> Record:
        return Record({name: self.array(trial, name) for name in self._find(trial)}, self.facts(trial))

    def require(self, holds: bool, problem: str) -> None:
        """DamagedArtifact unless a condition on this file holds."""
        if not holds:
            raise DamagedArtifact(self.path, problem)

    def _find(self, trial: int) -> h5py.Group:
        self.require(_group(trial) in self._file, f"has no trial {trial}")
        return self._file[_group(trial)]

    def _dataset(self, trial: int, name: str, rows: int | None) -> h5py.Dataset:
        group = self._find(trial)
        self.require(name in group, f"has no {name} in trial {trial}")
        shape = group[name].shape
        self.require(rows in (None, *shape[:1]), f"has {name} in trial {trial} as {shape}, not of {rows} rows")
        return group[name]


@contextlib.contextmanager
def reading(path: Path) -> Iterator[Reader]:
    """Read an artifact; DamagedArtifact unless every byte is as it was written."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such artifact")
    check_sum(path)
    with h5py.File(path, "r") as file:
        yield Reader(path, file)


def _hashed(digest: Any, name: str, array: np.ndarray | RowBlocks) -> Iterator[tuple[Any, np.ndarray]]:
    """The blocks of an array (a whole one is a single block) with their places; each is added to the digest."""
    digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
    for place, block in [(..., array)] if isinstance(array, np.ndarray) else array.placed():
        digest.update(np.ascontiguousarray(block).data if block.size else b"")
        yield place, block


def _group(trial: int) -> str:
    return f"trial_{trial:03d}"


def _json_value(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"facts take plain values, not {type(value).__name__}")
