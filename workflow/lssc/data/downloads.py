"""Download by system programs, and unpack the files that match patterns from the archives."""

from __future__ import annotations

import lzma
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

from lssc.errors import InputError

# Seconds that a program may take.
TIMEOUT_SECONDS = 600
# Errors of reading a truncated or altered archive.
ARCHIVE_ERRORS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    ValueError,
)


def unpack(stream: IO[bytes], into: Path, patterns: Iterable[str]) -> None:
    """Write the plain files of a tar file that match a pattern, as `place_of` says."""
    patterns = list(patterns)
    try:
        with tarfile.open(fileobj=stream, mode="r|*") as tar:
            for member in tar:
                if member.isfile() and (place := place_of(member.name, patterns)):
                    _write(into / place, tar.extractfile(member).read())
    except ARCHIVE_ERRORS as error:
        raise InputError(f"the downloaded archive is cut short or damaged ({error})") from None


def unpack_zip(path: Path, into: Path, patterns: Iterable[str]) -> None:
    """Write the files of a zip file, such as a wheel, that match a pattern, as `place_of` says."""
    patterns = list(patterns)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                if not member.is_dir() and (place := place_of(member.filename, patterns)):
                    _write(into / place, archive.read(member))
    except ARCHIVE_ERRORS as error:
        raise InputError(f"the downloaded archive is cut short or damaged ({error})") from None


def place_of(name: str, patterns: Iterable[str]) -> PurePosixPath | None:
    """Where a file belongs: the end of its path that matches a pattern, plain or with .gz; None if none does.

    `*.pgm` matches in any folder, `faces/*/*.pgm` in any folder `faces`.
    """
    path = PurePosixPath(name)
    for pattern in patterns:
        end = path.parts[-len(PurePosixPath(pattern).parts) :]
        # A name in an archive must not lead out of the folder.
        if (path.match(pattern) or path.match(f"{pattern}.gz")) and not {"/", ".."} & set(end):
            return PurePosixPath(*end)
    return None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def run(command: list[str], *, cwd: Path) -> None:
    """Run a system program; InputError with the line that names the cause if it fails."""
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_SECONDS
        )
    except FileNotFoundError:
        raise InputError(f"the program {command[0]!r} is not installed") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{command[0]!r} took more than {TIMEOUT_SECONDS} s") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise InputError(f"{command[0]!r} failed: {_cause(lines)}")


def _cause(lines: list[str]) -> str:
    """The first line that mentions an error and is no warning, or else the last line."""
    errors = (line for line in lines if "error" in line.lower() or line.startswith("E:"))
    serious = (line for line in errors if not line.lower().startswith("warning"))
    return next(serious, (lines or ["no reason given"])[-1])
