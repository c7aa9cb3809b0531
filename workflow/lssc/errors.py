"""Errors whose message alone tells a user what to do, and how a program ends with one."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


class InputError(Exception):
    """Something that was given, a file or a size, cannot be used; the message says what would be right."""


class DamagedArtifact(Exception):
    """A file that is cut short, altered, or not ours."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; it cannot be used and must be made again")
        self.path = path


@contextlib.contextmanager
def telling(out: Path) -> Iterator[None]:
    """End the program with one line where a file or a size cannot be used; a damaged artifact is moved aside."""
    try:
        yield
    except DamagedArtifact as error:
        set_aside(error.path)
        sys.exit(f"{error}; moved aside: run the same command again to rebuild it")
    except (InputError, OSError) as error:
        told = f"while making {out}: {error}"
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            # At an ordinary end HDF5 tries once more to write what it could not, and may crash on it.
            print(told, file=sys.stderr, flush=True)
            os._exit(1)
        sys.exit(told)
    except MemoryError as error:
        sys.exit(f"while making {out}: not enough memory; {error or 'nothing more is known'}")


def set_aside(path: Path) -> None:
    """Move a damaged file out of the way, so that the next run makes it again."""
    with contextlib.suppress(FileNotFoundError):
        path.replace(path.with_name(path.name + ".damaged"))
