"""Take known files out of an archive without trusting the names or links in it."""

from __future__ import annotations

import lzma
import subprocess
import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

from lssc.data.idx import LARGEST
from lssc.errors import InputError

TIMEOUT = 600
# What reading an archive that is cut short, altered or forged ends with; names of names of names, with the last.
DAMAGE = (
    tarfile.TarError,
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    ValueError,
    OverflowError,
    RecursionError,
)


def unpack(stream: IO[bytes], into: Path, names: Iterable[str]) -> None:
    """Write the plain files of these names, in whatever folder of the tar file they lie, flat into a folder."""
    wanted = {spelling for name in names for spelling in (name, f"{name}.gz")}
    try:
        with tarfile.open(fileobj=stream, mode="r|*") as tar:
            for member in tar:
                name = PurePosixPath(member.name).name
                if member.isfile() and not member.issparse() and name in wanted:
                    if member.size > LARGEST:
                        raise InputError(f"{name}: {member.size:,} bytes in the archive; too large for images")
                    (into / name).write_bytes(tar.extractfile(member).read())
    except DAMAGE as error:
        raise InputError(f"the downloaded archive is cut short or damaged ({error})") from None


def run(command: list[str], *, cwd: Path) -> None:
    """Run a program of the system; InputError with the line that names the cause if that fails."""
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
    except FileNotFoundError:
        raise InputError(f"the program {command[0]!r} is not installed") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{command[0]!r} took more than {TIMEOUT} s") from None
    if done.returncode:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise InputError(f"{command[0]!r} failed: {_cause(said)}")


def _cause(lines: list[str]) -> str:
    """The line that names the cause: the first that says error, or else the last."""
    return next(
        (line for line in lines if "error" in line.lower() or line.startswith("E:")), (lines or ["no reason given"])[-1]
    )
