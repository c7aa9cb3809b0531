"""The head of an artifact: three lines that show whether the rest of the file is as it was written.

    lssc artifact 1 sha256 <checksum of everything behind the head>
    <the job that made it: a hash of its recipe and code>
    <time and size when it was written>

The checksum is compared before HDF5 opens the file: a damaged HDF5 file can make that library crash or hang.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import operator
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lssc.errors import DamagedArtifact
from lssc.pipeline.store.files import sha256, stamp

# Raise the number when the meaning of files changes: older ones are then moved aside and made again.
NAME = b"lssc artifact "
FORMAT = NAME + b"1 sha256 "
# Bytes at the start of a file that HDF5 leaves to others; 512 is the least.
HEAD = 512


def write_head(path: Path, job: str) -> None:
    now = time.time_ns() // 1000 * 1000
    digest, size = sha256(path, HEAD), path.stat().st_size
    with path.open("r+b") as file:
        file.write(FORMAT + f"{digest}\n{job}\n{now} {size}\n".encode())
    os.utime(path, ns=(now, now))


def check_sum(path: Path) -> None:
    """DamagedArtifact unless the file has this format and every byte behind its head is as it was written."""
    first = _lines(path)[0]
    if not first.startswith(FORMAT):
        raise DamagedArtifact(path, "is not an artifact of this version of the library, or was cut short")
    if sha256(path, HEAD).encode() != first.removeprefix(FORMAT):
        raise DamagedArtifact(path, "does not match its checksum: cut short or altered")


def is_artifact(path: Path) -> bool:
    """Whether a file starts as artifacts do, of any version; a few bytes may be damaged.

    A crash of the machine leaves an empty file or zeros: such a file counts as one, too.
    """
    with path.open("rb") as file:
        start = file.read(len(NAME))
    return not any(start) or sum(map(operator.eq, start, NAME)) > len(start) / 2


def is_intact(path: Path) -> bool:
    """Whether an artifact has the time and size at which it was written, or else its checksum.

    Where the content is the same, a new time is entered, so that the file is not read again.
    """
    if _has_stamp(path):
        return True
    try:
        check_sum(path)
    except DamagedArtifact:
        return False
    with contextlib.suppress(OSError):
        _enter_stamp(path)
    return True


@contextlib.contextmanager
def touching(paths: Iterable[Path]) -> Iterator[None]:
    """Enter the new times of artifacts that are only touched within."""
    intact = [path for path in paths if path.is_file() and _has_stamp(path)]
    yield
    for path in intact:
        with contextlib.suppress(OSError):
            _enter_stamp(path)


def is_made_by(path: Path, recipe: Mapping[str, Any], code: str) -> bool:
    """Whether the head names the job of this recipe and code; the content is not read."""
    lines = _lines(path)
    return lines[0].startswith(FORMAT) and lines[1] == job_hash(recipe, code).encode()


def job_hash(recipe: Mapping[str, Any] | None, code: str) -> str:
    return hashlib.sha256(json.dumps([recipe, code], sort_keys=True).encode()).hexdigest()


def _lines(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        lines = file.read(HEAD).split(b"\n")
    return [*lines, b"", b""][:3]


def _has_stamp(path: Path) -> bool:
    """Whether an artifact has the time and size that its head names."""
    lines = _lines(path)
    return lines[0].startswith(FORMAT) and stamp(path).encode() == lines[2]


def _enter_stamp(path: Path) -> None:
    """Write time and size into the head, which the checksum does not cover, and keep the file's time."""
    before, place = path.stat(), len(b"\n".join(_lines(path)[:2])) + 1
    with path.open("r+b") as file:
        file.seek(place)
        file.write(f"{stamp(path)}\n".encode())
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
