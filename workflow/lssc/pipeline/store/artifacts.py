"""The only code that opens HDF5: one file per stage and block of trials, one group per trial.

The first line of a file says what it is and holds a checksum of all the rest, which is compared before HDF5 touches
it: a damaged HDF5 file can make the library crash or hang. The second names the job that made it, by its recipe and its
code. Each trial carries its arrays and the facts about how they were made (recipe, seconds, convergence, ...).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import operator
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lssc.errors import DamagedArtifact
from lssc.pipeline.store.files import replacing, sha256, stamp
from lssc.types import RowBlocks, Rows, is_held

FORMAT = b"lssc artifact 1 sha256 "
# HDF5 leaves this much room at the start of a file for others; 512 bytes is the least it can.
HEAD = 512
# Of larger numbers not even squares are finite, and compiled code ends in a crash.
LARGEST = 1e100
CSR = ("data", "indices", "indptr", "shape")
# What the arrays of these names are: types of numbers, and how many axes.
REALS, WHOLE = ("f8",), ("i8", "i4", "u1")
ARRAYS = {
    "X": (REALS, (2,)),
    "labels": (WHOLE, (1,)),
    "origin": (WHOLE, (1,)),
    "indices": (WHOLE, (1,)),
    "codes_data": (REALS, (1,)),
    "codes_indices": (WHOLE, (1,)),
    "codes_indptr": (WHOLE, (1,)),
    "codes_shape": (WHOLE, (1,)),
    "vectors": (REALS, (2,)),
    "values": (REALS, (1,)),
    "features": (("f4", "f8"), (2, 3)),
}
# What HDF5 and the reading of facts answer to a file that is not as it should be, and how HDF5 hands on the system's.
ERRNO = re.compile(r"errno = (\d+)")
ERRORS = (KeyError, OSError, OverflowError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Record:
    """One trial of an artifact: arrays, whole or made in blocks, and JSON-able facts about them."""

    arrays: Mapping[str, np.ndarray | RowBlocks]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """Hash of the arrays alone: equal results have equal content, however they were made and how long it took."""
        digest = hashlib.sha256()
        for name, array in sorted(self.arrays.items()):
            for _ in _hashed(digest, name, array):
                pass
        return digest.hexdigest()


def csr_arrays(name: str, matrix: Any) -> dict[str, np.ndarray]:
    """A CSR matrix as plain arrays, to be put back together by `Reader.csr`."""
    return {f"{name}_{part}": np.asarray(getattr(matrix, part)) for part in CSR}


# Bytes that HDF5 takes beside the arrays, and those who write at the same time.
ROOM = 2**18


class Writer:
    """Adds trials to an artifact under way."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file

    def add(self, trial: int, record: Record) -> None:
        """Write a trial. Arrays made in blocks are made once: written, and counted into the content, as they come."""
        self._need_room(record.arrays.values())
        group, digest = self._file.create_group(_group(trial)), hashlib.sha256()
        for name, array in sorted(record.arrays.items()):
            data = group.create_dataset(name, shape=array.shape, dtype=array.dtype)
            for place, block in _hashed(digest, name, array):
                data[place] = block
            # A quota, say, has to show here, where it can be told: what HDF5 cannot write later makes it crash.
            data.flush()
        facts = json.dumps(dict(record.facts), sort_keys=True, default=_plain)
        group.attrs.update(facts=facts, content=digest.hexdigest())

    def _need_room(self, arrays: Iterable[np.ndarray | RowBlocks]) -> None:
        """OSError before HDF5 begins what a full disk would not let it end."""
        needed = sum(math.prod(array.shape) * array.dtype.itemsize for array in arrays) + ROOM
        if shutil.disk_usage(Path(self._file.filename).parent).free < needed:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def copy(self, trial: int, source: Reader) -> None:
        """Take a trial over from another artifact; HDF5 copies it piece by piece."""
        group = source._find(trial)
        self._need_room(group.values())
        with _told(source.path, f"has trial {trial} that cannot be copied"):
            self._file.copy(group, _group(trial))


@contextlib.contextmanager
def writing(path: Path, recipe: Mapping[str, Any] | None = None, code: str = "") -> Iterator[Writer]:
    """Write an artifact: it takes its name only when every trial is on disk; on an error nothing is left behind."""
    with replacing(path) as temporary:
        with _created(temporary) as file:
            yield Writer(file)
        _seal(temporary, _job(recipe, code))


def is_made_by(path: Path, recipe: Mapping[str, Any], code: str) -> bool:
    """Whether an artifact says that it was made by a job of this recipe and code; its content is not looked at."""
    head = _head(path)
    return head[0].startswith(FORMAT) and head[1] == _job(recipe, code).encode()


def _job(recipe: Mapping[str, Any] | None, code: str) -> str:
    return hashlib.sha256(json.dumps([recipe, code], sort_keys=True).encode()).hexdigest()


def _head(path: Path) -> list[bytes]:
    """The lines at the start: format and checksum, job, time and size."""
    with path.open("rb") as file:
        lines = file.read(HEAD).split(b"\n")
    return [*lines, b"", b""][:3]


@contextlib.contextmanager
def _created(path: Path) -> Iterator[h5py.File]:
    """A new HDF5 file; OSError if it cannot be written, for want of room for example."""
    file = None
    try:
        file = h5py.File(path, "w", userblock_size=HEAD)
        yield file
        file.flush()
    except Exception as error:
        if code := ERRNO.search(str(error)):
            # To close it would crash. It stays open, with all that refers to it, until the program ends.
            _lost.append((file, error))
            raise OSError(int(code[1]), os.strerror(int(code[1]))) from None
        if file:
            file.close()
        raise
    file.close()


_lost: list[Any] = []


class Reader:
    """Gives the trials of an open artifact; DamagedArtifact where they are not what they should be."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        self.path, self._file = path, file

    @property
    def trials(self) -> list[int]:
        return sorted(int(name.removeprefix("trial_")) for name in self._file)

    def facts(self, trial: int) -> dict[str, Any]:
        """How a trial was made, without reading its arrays."""
        with _told(self.path, f"has facts of trial {trial} that cannot be read"):
            facts = json.loads(self._find(trial).attrs["facts"])
        self.require(isinstance(facts, dict), f"has facts of trial {trial} that are no mapping")
        return facts

    def numbers(self, trial: int, names: Iterable[str]) -> dict[str, float]:
        """Those of the facts that are numbers."""
        found = {name: self.facts(trial).get(name) for name in names}
        wrong = [name for name, value in found.items() if not is_number(value)]
        self.require(not wrong, f"has no number {', '.join(wrong)} in trial {trial}")
        return found

    def content(self, trial: int) -> str:
        """The hash of a trial's arrays, without reading them."""
        with _told(self.path, f"has no content of trial {trial} that can be read"):
            return str(self._find(trial).attrs["content"])

    def array(self, trial: int, name: str, *, rows: int | None = None, below: int | None = None) -> np.ndarray:
        """One array of a trial, without reading the others: of so many rows, of numbers from 0 to below a bound."""
        array = self._read(self._dataset(trial, name, rows))
        if below is not None and array.size:
            inside = array.min() >= 0 and array.max() < below
            self.require(inside, f"has numbers in {name} of trial {trial} that are not from 0 to {below - 1}")
        return array

    def rows(self, trial: int, name: str, *, rows: int | None = None) -> Rows:
        """One array of a trial; a large one stays in the file until rows are asked for."""
        data = self._dataset(trial, name, rows)
        return self._read(data) if is_held(data.shape) else StoredRows(data, partial(self._read, data))

    def csr(self, trial: int, name: str) -> Any:
        """The CSR matrix that `csr_arrays` took apart; compiled code relies on every index in it."""
        from scipy.sparse import csr_matrix

        data, indices, indptr, shape = (self.array(trial, f"{name}_{part}") for part in CSR)
        # SciPy takes differences of these, which overflow to what looks like order.
        ends = len(indptr) and indptr[0] == 0 and indptr[-1] == len(data) == len(indices)
        ordered = ends and bool((indptr[:-1] <= indptr[1:]).all())
        self.require(ordered, f"has no matrix {name} in trial {trial} (its rows do not follow each other)")
        try:
            matrix = csr_matrix((data, indices, indptr), shape=tuple(shape))
            matrix.check_format(full_check=True)
        except (ValueError, OverflowError) as error:
            raise DamagedArtifact(self.path, f"has no matrix {name} in trial {trial} ({error})") from None
        return matrix

    def record(self, trial: int) -> Record:
        return Record({name: self.array(trial, name) for name in self._find(trial)}, self.facts(trial))

    def require(self, holds: bool, problem: str) -> None:
        """DamagedArtifact unless something holds of this file."""
        if not holds:
            raise DamagedArtifact(self.path, problem)

    def _find(self, trial: int) -> h5py.Group:
        self.require(_group(trial) in self._file, f"has no trial {trial}")
        return self._file[_group(trial)]

    def _dataset(self, trial: int, name: str, rows: int | None) -> h5py.Dataset:
        group = self._find(trial)
        self.require(name in group, f"has no {name} in trial {trial}")
        data = group[name]
        types, axes = ARRAYS.get(name, ((data.dtype.str[1:],), range(33)))
        fits = data.dtype.str[1:] in types and len(data.shape) in axes and all(data.shape[1:])
        self.require(fits, f"has {name} in trial {trial} as {data.dtype} {data.shape}, which it cannot be")
        enough = rows in (None, *data.shape[:1])
        self.require(enough, f"has {name} in trial {trial} as {data.shape}, not of {rows} rows")
        return data

    def _read(self, data: h5py.Dataset, rows: Any = ()) -> np.ndarray:
        with _told(self.path, f"has {data.name} that cannot be read"):
            array = data[rows]
        self.require(is_sound(array), f"has numbers in {data.name} that are not finite, or beyond {LARGEST:g}")
        return array


class StoredRows:
    """Rows of an array in a file, read and checked at each access; the file must still be open."""

    def __init__(self, data: h5py.Dataset, read: Callable[[Any], np.ndarray]) -> None:
        self._read = read
        self.shape, self.dtype = data.shape, data.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        if isinstance(rows, slice):
            return self._read(rows)
        if not isinstance(rows, np.ndarray) or rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise TypeError(f"stored rows are had by a slice or an array of indices, not by {rows!r}")
        # HDF5 takes increasing indices only, each once.
        wanted, place = np.unique(rows, return_inverse=True)
        if len(wanted) and not 0 <= wanted[0] <= wanted[-1] < len(self):
            raise IndexError(f"rows {wanted[0]} to {wanted[-1]} asked for; there are {len(self)}")
        return self._read(wanted)[place]


@contextlib.contextmanager
def reading(path: Path) -> Iterator[Reader]:
    """Read an artifact; DamagedArtifact unless every byte is as it was written, and it holds plain arrays alone."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such artifact")
    _check(path)
    with _told(path, "is no HDF5 file"):
        file = h5py.File(path, "r")
    with file:
        with _told(path, "cannot be read"):
            problem = next(_oddities(file, path.stat().st_size), None)
        if problem:
            raise DamagedArtifact(path, f"holds {problem}, which is none of ours")
        yield Reader(path, file)


def _oddities(file: h5py.File, size: int) -> Iterator[str]:
    """All but trials with their arrays.

    HDF5 also knows links to other files, arrays that lie in them, and filters, which can be code to load.
    """
    for trial in file:
        if not re.fullmatch(r"trial_(\d{3}|[1-9]\d{3,8})", trial) or not _is_own(file, trial, h5py.Group):
            yield repr(trial)
            continue
        group = file[trial]
        for name in group:
            if not _is_own(group, name, h5py.Dataset) or not _is_plain(group[name], size):
                yield f"{name!r} in {trial}"


def _is_own(group: h5py.Group, name: str, kind: type) -> bool:
    link = group.get(name, getlink=True)
    return isinstance(link, h5py.HardLink) and group.get(name, getclass=True) is kind


def _is_plain(data: h5py.Dataset, size: int) -> bool:
    """Whether an array lies in its file as it is in memory, no larger than the file."""
    how = data.id.get_create_plist()
    return (
        data.shape is not None
        and data.dtype.kind in "fiub"
        and data.dtype.isnative
        and data.dtype.itemsize <= 8
        and how.get_layout() in (h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT)
        and how.get_nfilters() == how.get_external_count() == 0
        and data.id.get_storage_size() == math.prod(data.shape) * data.dtype.itemsize <= size
    )


@contextlib.contextmanager
def _told(path: Path, problem: str) -> Iterator[None]:
    try:
        yield
    except ERRORS as error:
        # What the system answers, such as no room where a trial is copied to, is no damage of this file.
        if ERRNO.search(str(error)):
            raise
        reason = str(error).partition("\n")[0][:200]
        raise DamagedArtifact(path, f"{problem} ({reason})") from None


def is_sound(array: np.ndarray) -> bool:
    """Whether all numbers are finite and of use; no array of answers is made for it."""
    return array.size == 0 or bool(array.min() >= -LARGEST and array.max() <= LARGEST)


def is_number(value: Any) -> bool:
    """Whether a fact is a number that can be counted with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _hashed(digest: Any, name: str, array: np.ndarray | RowBlocks) -> Iterator[tuple[Any, np.ndarray]]:
    """The blocks of an array (a whole one is a single block) and their places, counted into the digest as they pass."""
    digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
    for place, block in [(..., array)] if isinstance(array, np.ndarray) else array.placed():
        digest.update(np.ascontiguousarray(block).data if block.size else b"")
        yield place, block


def is_intact(path: Path) -> bool:
    """Whether an artifact is as it was written: it has the time and size of then, or else its checksum.

    Snakemake touches what jobs have made, so the time is entered anew where only that has changed.
    """
    head = _head(path)
    if head[0].startswith(FORMAT) and stamp(path).encode() == head[2]:
        return True
    try:
        _check(path)
    except DamagedArtifact:
        return False
    with contextlib.suppress(OSError):
        _stamp_again(path, len(b"\n".join(head[:2])) + 1)
    return True


def _stamp_again(path: Path, place: int) -> None:
    """Outside of what the checksum covers, and without a change of the file's time."""
    found = path.stat()
    with path.open("r+b") as file:
        file.seek(place)
        file.write(f"{stamp(path)}\n".encode())
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def is_foreign(path: Path) -> bool:
    """Whether a file was never ours: it begins with something else than ours do, were they damaged in places.

    Nothing, or nothing but zeros, is what a crash of the machine leaves of a file. One of ours that begins with
    anything else is found by whoever reads it.
    """
    with path.open("rb") as file:
        start = file.read(len(FORMAT))
    return any(start) and sum(map(operator.eq, start, FORMAT)) < len(start) / 2


def _seal(path: Path, job: str) -> None:
    """Write the first lines: format and checksum of everything behind them, who made it, and when it was written."""
    now = time.time_ns() // 1000 * 1000
    digest, size = sha256(path, HEAD), path.stat().st_size
    with path.open("r+b") as file:
        file.write(FORMAT + f"{digest}\n{job}\n{now} {size}\n".encode())
    os.utime(path, ns=(now, now))


def _check(path: Path) -> None:
    head = _head(path)[0]
    if not head.startswith(FORMAT):
        raise DamagedArtifact(path, "is not an artifact of this version of the library, or was cut short")
    if sha256(path, HEAD).encode() != head.removeprefix(FORMAT):
        raise DamagedArtifact(path, "does not match its checksum: cut short or altered")


def _group(trial: int) -> str:
    return f"trial_{trial:03d}"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"facts take plain values, not {type(value).__name__}")
