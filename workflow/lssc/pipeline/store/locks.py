"""Whose a folder is: one run's at a time, and a job writes only while its own run owns the folder.

Two files in the folder are locked, and the kernel gives a lock back however its process ends. A run holds `.run` alone
as long as it lives; what is written there names it. Its jobs, on whatever machine, share `.jobs` while they write. A
run that begins enters its name, so that jobs of earlier runs that start later find another's and end, and then waits
until it has `.jobs` to itself: those that had started are over by then.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from lssc.errors import InputError

# Set by a run for its jobs: its id, and the folders it owns.
RUN, FOLDERS = "LSSC_RUN", "LSSC_FOLDERS"
# How file systems without locks say so.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


@dataclass(frozen=True)
class Owner:
    """The run that a folder belongs to, or belonged to last."""

    id: str
    host: str
    pid: int
    since: str
    remote: bool


@contextlib.contextmanager
def allowed_to_write() -> Iterator[None]:
    """Hold the folders of a job's run; InputError if they are another's by now. What is run by hand may write."""
    with contextlib.ExitStack() as stack:
        for folder in map(Path, filter(None, os.environ.get(FOLDERS, "").split(os.pathsep))):
            stack.callback(os.close, lock(folder / ".jobs", fcntl.LOCK_SH))
            owner = owner_of(folder)
            if owner is None or owner.id != os.environ.get(RUN):
                raise InputError(f"{folder} belongs to a later run; this job of an earlier one ends")
        yield


def lock(path: Path, how: int) -> int:
    """Lock a file until the handle is closed; BlockingIOError if `how` says not to wait and another process has it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, how)
    except OSError as error:
        # Where there are no locks, as on some network file systems, the owner's name must do.
        if error.errno not in NO_LOCKS:
            os.close(handle)
            raise
    return handle


def is_locked(handle: int) -> bool:
    """Whether `lock` could take a lock, and not only open the file."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def owner_of(folder: Path) -> Owner | None:
    """What `.run` says; None where nothing legible stands.

    What belongs to that run is ended, so an id must be one.
    """
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
        owner = Owner(**json.loads((folder / ".run").read_text()))
        plain = isinstance(owner.pid, int) and isinstance(owner.remote, bool)
        if re.fullmatch("[0-9a-f]{12}", owner.id) and plain and f"{owner.host}{owner.since}".isprintable():
            return owner
    return None


def enter_owner(folder: Path, owner: Owner) -> None:
    """Write in place: a file of that name put there instead would not carry the lock."""
    with (folder / ".run").open("r+") as file:
        file.write(json.dumps(asdict(owner)).ljust(400) + "\n")
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
