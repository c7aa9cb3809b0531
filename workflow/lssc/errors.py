"""Errors that a user can mend by their message alone, and how a program ends with one."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

# Errors of a full disk, a used-up quota or a failing device.
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


# Problems of one config that are shown, and characters of each.
MOST_PROBLEMS, LONGEST_PROBLEM = 50, 500


class ConfigError(Exception):
    """Everything wrong with a config, one line each: key, value, what would be right."""

    def __init__(self, problems: list[str]) -> None:
        short = [p if len(p) <= LONGEST_PROBLEM else f"{p[: LONGEST_PROBLEM - 3]}..." for p in problems[:MOST_PROBLEMS]]
        short += [f"and {len(problems) - MOST_PROBLEMS:,} more"] * (len(problems) > MOST_PROBLEMS)
        # Keys and values may hold line breaks.
        printable = ("".join(c if c.isprintable() else "?" for c in problem) for problem in short)
        super().__init__("\n".join(f"config: {problem}" for problem in printable))


class InputError(ValueError):
    """A file, a size or a parameter cannot be used; the message says what would be right."""


class MissingPackage(ModuleNotFoundError, InputError):
    """A package that only an extra brings is not installed; the message says how to install it."""


class DamagedArtifact(Exception):
    """A file is cut short, altered, or was not written by this library."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; it cannot be used and must be made again")
        self.path = path


@contextlib.contextmanager
def exit_with_message(out: Path) -> Iterator[None]:
    """End the program with one line if `out` cannot be made; a damaged input is moved aside."""
    try:
        yield
    except DamagedArtifact as error:
        set_aside(error.path)
        sys.exit(f"{error}; moved aside: run the same command again to rebuild it")
    except (InputError, OSError) as error:
        message = f"while making {out}: {error}"
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            # At an ordinary exit HDF5 tries again to write what it could not, and may crash.
            print(message, file=sys.stderr, flush=True)
            os._exit(1)
        sys.exit(message)
    except MemoryError as error:
        sys.exit(f"while making {out}: not enough memory; {error or 'nothing more is known'}")


def set_aside(path: Path) -> None:
    """Rename a damaged file, so that the next run makes it again."""
    with contextlib.suppress(FileNotFoundError):
        path.replace(path.with_name(path.name + ".damaged"))
