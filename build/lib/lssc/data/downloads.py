"""Download by system programs, and unpack known files from the archives."""

from __future__ import annotations

import lzma
import subprocess
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

from lssc.errors import InputError

# Seconds that a program may take.
TIMEOUT_SECONDS = 600
# Errors of reading a truncated or altered archive.
ARCHIVE_ERRORS = (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError, ValueError)


def unpack(stream: IO[bytes], into: Path, names: Iterable[str]) -> None:
    """Write the plain files of these names (or with .gz), from any folder of the tar file, into one folder."""
    accepted = {spelling for name in names for spelling in (name, f"{name}.gz")}
    try:
        with tarfile.open(fileobj=stream, mode="r|*") as tar:
            for member in tar:
                name = PurePosixPath(member.name).name
                if member.isfile() and name in accepted:
                    (into / name).write_bytes(tar.extractfile(member).read())
    except ARCHIVE_ERRORS as error:
        raise InputError(f"the downloaded archive is cut short or damaged ({error})") from None


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
    """The first line that mentions an error, or else the last line."""
    return next(
        (line for line in lines if "error" in line.lower() or line.startswith("E:")), (lines or ["no reason given"])[-1]
    )
