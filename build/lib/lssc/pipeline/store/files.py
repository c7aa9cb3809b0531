"""Writes files whole or not at all, and keeps a checksum of each in a hidden file beside it, its seal.

A file with the time and size at which it was written counts as unaltered; any other is compared with its checksum.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from lssc.errors import DamagedArtifact
from lssc.pipeline.store.locks import allowed_to_write


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside the path; the file written there replaces the path once it is on disk."""
    with allowed_to_write():
        path.parent.mkdir(parents=True, exist_ok=True)
        # Left by a killed process; a living one would hold the folder's lock.
        for stale in path.parent.glob(f".{path.name}.*.tmp"):
            stale.unlink(missing_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")  # the pattern of `is_temporary`
        try:
            yield temporary
            _sync(temporary)
            os.replace(temporary, path)
            _sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def is_temporary(path: Path) -> bool:
    return re.fullmatch(r"\..+\.\d+\.tmp", path.name) is not None


@contextlib.contextmanager
def sealing(path: Path) -> Iterator[Path]:
    """As `replacing`, and writes the seal."""
    with replacing(path) as temporary:
        yield temporary
        # On a network file system the time may change until the file is on disk.
        _sync(temporary)
        seal = f"{sha256(temporary)} {stamp(temporary)}\n"
    with replacing(seal_of(path)) as temporary:
        temporary.write_text(seal)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with sealing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_bytes(path: Path) -> bytes:
    """Read a file; DamagedArtifact if it does not match its seal. A file without one is not checked."""
    content, seal = path.read_bytes(), seal_of(path)
    if is_seal(seal) and not seal.read_text().startswith(hashlib.sha256(content).hexdigest()):
        raise DamagedArtifact(path, "does not match its checksum: cut short or altered")
    return content


def read_text(path: Path) -> str:
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise DamagedArtifact(path, "is not UTF-8 text") from None


def seal_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")


def is_seal(path: Path) -> bool:
    """Whether a file is a seal; other programs have checksum files, too."""
    if not (path.name.startswith(".") and path.name.endswith(".sha256") and path.is_file()):
        return False
    with path.open("rb") as file:
        return re.fullmatch(rb"[0-9a-f]{64} \d+ \d+\n", file.read(200)) is not None


def sealed(seal: Path) -> Path:
    """The file that a seal belongs to."""
    return seal.with_name(seal.name.removeprefix(".").removesuffix(".sha256"))


def is_altered(path: Path, seal: Path) -> bool:
    """Whether a file differs from what was written: compare time and size; hash only if they differ.

    Snakemake touches the outputs of jobs, so a new time is entered where the content is the same.
    """
    digest, _, written = seal.read_text().strip().partition(" ")
    if stamp(path) == written:
        return False
    if sha256(path) != digest:
        return True
    with contextlib.suppress(OSError), replacing(seal) as temporary:
        temporary.write_text(f"{digest} {stamp(path)}\n")
    return False


def stamp(path: Path) -> str:
    """Time and size: differs if a file was written to since."""
    status = path.stat()
    return f"{status.st_mtime_ns} {status.st_size}"


def sha256(path: Path, skip: int = 0) -> str:
    """The checksum of a file, without its first `skip` bytes."""
    with path.open("rb") as file:
        file.seek(skip)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Flush a file or folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
