"""Files appear whole or not at all, in the name of the run that owns their folder, and an altered one is found out.

What is written carries, in its first bytes or in a hidden file beside it, its checksum and the time it was written. A
file that still has that time was not touched since; any other is compared with its checksum.
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
    """A temporary name beside the path; the file written there takes the path's place once it is safely on disk."""
    with allowed_to_write():
        path.parent.mkdir(parents=True, exist_ok=True)
        # What a killed process left behind. A living one would hold the folder.
        for stale in path.parent.glob(f".{path.name}.*.tmp"):
            stale.unlink(missing_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")  # as `is_temporary` knows it
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
    """As `replacing`, and the checksum goes to a hidden file beside it."""
    with replacing(path) as temporary:
        yield temporary
        # On a network file system the time is settled once the file is.
        _sync(temporary)
        seal = f"{sha256(temporary)} {stamp(temporary)}\n"
    with replacing(seal_of(path)) as temporary:
        temporary.write_text(seal)


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with sealing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_text(path: Path) -> str:
    """A text file as it was written; DamagedArtifact if its seal says otherwise. One without is taken as it is."""
    content, seal = path.read_bytes(), seal_of(path)
    if is_seal(seal) and not seal.read_text().startswith(hashlib.sha256(content).hexdigest()):
        raise DamagedArtifact(path, "does not match its checksum: cut short or altered")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise DamagedArtifact(path, "is no text") from None


def seal_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")


def is_seal(path: Path) -> bool:
    """Whether a file is a seal of ours; others keep checksums, too."""
    if not (path.name.startswith(".") and path.name.endswith(".sha256") and path.is_file()):
        return False
    with path.open("rb") as file:
        return re.fullmatch(rb"[0-9a-f]{64} \d+ \d+\n", file.read(200)) is not None


def sealed(seal: Path) -> Path:
    """The file that a seal belongs to."""
    return seal.with_name(seal.name.removeprefix(".").removesuffix(".sha256"))


def is_altered(path: Path, seal: Path) -> bool:
    """Whether a file differs from what was written; one that has the time and size of then is taken at its word.

    Where only the time differs, as Snakemake touches what jobs have made, it is entered anew.
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
    """Tells, as good as any clock can, whether a file was touched."""
    found = path.stat()
    return f"{found.st_mtime_ns} {found.st_size}"


def sha256(path: Path, skip: int = 0) -> str:
    """The checksum of a file behind its first so many bytes."""
    with path.open("rb") as file:
        file.seek(skip)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Have a file or folder reach the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
