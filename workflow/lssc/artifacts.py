"""The only code that opens HDF5: one file per stage and block of trials, one group per trial.

A file appears whole or not at all. Each trial carries its arrays, the facts about how they were made (recipe, seconds,
convergence, ...) and checksums of both; reading a damaged file fails with its path and what to do.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from lssc import __version__

FORMAT = 1


class DamagedArtifact(Exception):
    """A file that is cut short, altered, or not ours."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; it cannot be used and must be made again")
        self.path = path


@dataclass(frozen=True)
class Record:
    """One trial of an artifact: arrays, and JSON-able facts about them."""

    arrays: Mapping[str, np.ndarray]
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """Hash of the arrays alone: equal results have equal content, however long they took."""
        digest = hashlib.sha256()
        for name, array in sorted(self.arrays.items()):
            digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).data if array.size else b"")
        return digest.hexdigest()


def csr_arrays(name: str, matrix: Any) -> dict[str, np.ndarray]:
    """A CSR matrix as plain arrays, to be put back together by `csr_matrix`."""
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    return {f"{name}_{key}": np.asarray(value) for key, value in parts.items()}


def csr_matrix(record: Record, name: str) -> Any:
    """The CSR matrix that `csr_arrays` took apart."""
    from scipy.sparse import csr_matrix as build

    data, indices, indptr, shape = (record.arrays[f"{name}_{k}"] for k in ("data", "indices", "indptr", "shape"))
    return build((data, indices, indptr), shape=tuple(shape))


class Writer:
    """Collects trials in a temporary file beside the final one."""

    def __init__(self, file: h5py.File) -> None:
        self._file = file

    def add(self, trial: int, record: Record) -> None:
        group = self._file.create_group(_group(trial))
        for name, array in record.arrays.items():
            group.create_dataset(name, data=array)
        facts = json.dumps(dict(record.facts), sort_keys=True, default=_plain)
        content = record.content
        group.attrs.update(facts=facts, content=content, checksum=_checksum(content, facts))


@contextlib.contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """Write an artifact: it takes its name only when every trial is on disk; on an error nothing is left behind."""
    with replacing(path) as temporary, h5py.File(temporary, "w") as file:
        yield Writer(file)
        file.attrs.update(format=FORMAT, library=__version__, complete=True)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside the path; the file written there takes the path's place once it is safely on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # What a killed process left behind. Should it still be alive, it fails when it wants to finish: it lost its place.
    for stale in path.parent.glob(f".{path.name}.*.tmp"):
        stale.unlink(missing_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        _sync(temporary)
        os.replace(temporary, path)
        _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text)


class Reader:
    """Gives the trials of an open artifact, each checked as it is read."""

    def __init__(self, path: Path, file: h5py.File) -> None:
        self._path, self._file = path, file

    @property
    def trials(self) -> list[int]:
        return sorted(int(name.removeprefix("trial_")) for name in self._file)

    def facts(self, trial: int) -> dict[str, Any]:
        """The facts of a trial, without reading its arrays."""
        return json.loads(self._attributes(trial)["facts"])

    def content(self, trial: int) -> str:
        """The hash of a trial's arrays as written, without reading them."""
        return str(self._attributes(trial)["content"])

    def record(self, trial: int) -> Record:
        with _damage(self._path):
            arrays = {name: data[()] for name, data in self._file[_group(trial)].items()}
        record = Record(arrays, self.facts(trial))
        if record.content != self.content(trial):
            raise DamagedArtifact(self._path, f"the arrays of trial {trial} do not match their checksum")
        return record

    def _attributes(self, trial: int) -> Mapping[str, Any]:
        if _group(trial) not in self._file:
            raise DamagedArtifact(self._path, f"has no trial {trial}")
        with _damage(self._path):
            attributes = dict(self._file[_group(trial)].attrs)
            stamp = _checksum(attributes["content"], attributes["facts"])
            if stamp != attributes["checksum"]:
                raise DamagedArtifact(self._path, f"the facts of trial {trial} do not match their checksum")
        return attributes


@contextlib.contextmanager
def reading(path: Path) -> Iterator[Reader]:
    """Read an artifact; DamagedArtifact if it is not a whole one of this format."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such artifact")
    with contextlib.ExitStack() as stack:
        with _damage(path):
            file = stack.enter_context(h5py.File(path, "r"))
            complete, version = file.attrs.get("complete", False), file.attrs.get("format")
        if not complete:
            raise DamagedArtifact(path, "was never finished")
        if version != FORMAT:
            raise DamagedArtifact(path, f"has format {version}, this library reads {FORMAT}")
        yield Reader(path, file)


def _sync(path: Path) -> None:
    """Have a file or folder reach the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, KeyError, ValueError, RuntimeError, UnicodeDecodeError) as error:
        raise DamagedArtifact(path, f"cut short or altered ({' '.join(str(error).split())})") from error


def _group(trial: int) -> str:
    return f"trial_{trial:03d}"


def _checksum(content: str, facts: str) -> str:
    return hashlib.sha256(f"{content}{facts}".encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"facts take plain values, not {type(value).__name__}")
