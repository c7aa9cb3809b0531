"""What a file holds, as a short text that changes when the file does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from lssc.data.files.folders import open_folder

# Larger files are known by size and time instead of a checksum: a second or two at every start is enough.
MAX_HASHED_BYTES = 2**30
BYTES_PER_BLOCK = 2**20


def content_of(paths: Iterable[Path]) -> str:
    """SHA-256 of each file or folder; size and time of files beyond 1 GB."""
    return "+".join(_folder_content(path) if path.is_dir() else _file_content(path) for path in paths)


def _folder_content(folder: Path) -> str:
    """SHA-256 of the names and contents of the files of a folder that are read."""
    files = open_folder(folder).files
    names = (f"{path.relative_to(folder).as_posix()} {_file_content(path)}\n" for path in files)
    return hashlib.sha256("".join(names).encode("utf-8", "surrogateescape")).hexdigest()


def _file_content(path: Path) -> str:
    stat = path.stat()
    return _content(path, stat.st_size, stat.st_mtime_ns)


@cache
def _content(path: Path, size: int, time: int) -> str:
    if size > MAX_HASHED_BYTES:
        return f"{size}-{time}"
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BYTES_PER_BLOCK):
            digest.update(block)
    return digest.hexdigest()
