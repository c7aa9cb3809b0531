"""What a file holds, as a short text that changes when the file does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

# Larger files are known by size and time instead of a checksum: a second or two at every start is enough.
MAX_HASHED_BYTES = 2**30
BYTES_PER_BLOCK = 2**20


def content_of(paths: Iterable[Path]) -> str:
    """SHA-256 of each file; size and time of files beyond 1 GB."""
    stats = ((path, path.stat()) for path in paths)
    return "+".join(_content(path, stat.st_size, stat.st_mtime_ns) for path, stat in stats)


@cache
def _content(path: Path, size: int, time: int) -> str:
    if size > MAX_HASHED_BYTES:
        return f"{size}-{time}"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BYTES_PER_BLOCK):
            digest.update(block)
    return digest.hexdigest()
