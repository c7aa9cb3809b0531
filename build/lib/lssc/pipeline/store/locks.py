"""Locks a results folder to one run and its jobs.

A run locks the file `.run` in the folder as long as it lives, and writes its name there. Its jobs, on whatever machine,
share a lock on `.jobs` while they write. The kernel releases a lock however its process ends. A run that starts writes
its name first, so that jobs of earlier runs that start later see another owner and end. Then it waits until nobody
holds `.jobs`: jobs of earlier runs that had started are over by then.
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

# Environment variables that a run sets for its jobs: its id, and the folders it owns.
RUN_VARIABLE, FOLDERS_VARIABLE = "LSSC_RUN", "LSSC_FOLDERS"
# Errors by which file systems say that they have no locks.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
# Bytes of the owner's name in `.run`, padded so that a shorter one overwrites all of a longer one.
OWNER_BYTES = 400


@dataclass(frozen=True)
class Owner:
    """The run that owns a folder, or owned it last."""

    id: str
    host: str
    pid: int
    since: str
    remote: bool  # whether its jobs went to a cluster


@contextlib.contextmanager
def allowed_to_write() -> Iterator[None]:
    """Hold the folders of this job's run; InputError if another run owns one by now. Without a run writing is free."""
    with contextlib.ExitStack() as stack:
        for folder in map(Path, filter(None, os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep))):
            stack.callback(os.close, lock(folder / ".jobs", fcntl.LOCK_SH))
            owner = read_owner(folder)
            if owner is None or owner.id != os.environ.get(RUN_VARIABLE):
                raise InputError(f"{folder} belongs to a later run; this job of an earlier one ends")
        yield


def lock(path: Path, mode: int) -> int:
    """Lock a file until the handle is closed; BlockingIOError if `mode` forbids waiting and another holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, mode)
    except OSError as error:
        # Some network file systems have no locks; there the owner's name in `.run` must do.
        if error.errno not in NO_LOCKS:
            os.close(handle)
            raise
    return handle


def is_locked(handle: int) -> bool:
    """Whether `lock` took a lock: false on a file system without locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def read_owner(folder: Path) -> Owner | None:
    """The owner that `.run` names; None if it names none, or not a valid one: processes with its id are killed."""
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
        owner = Owner(**json.loads((folder / ".run").read_text()))
        has_types = isinstance(owner.pid, int) and isinstance(owner.remote, bool)
        if re.fullmatch("[0-9a-f]{12}", owner.id) and has_types and f"{owner.host}{owner.since}".isprintable():
            return owner
    return None


def write_owner(folder: Path, owner: Owner) -> None:
    """Write into the existing file: a new file of that name would not be locked."""
    with (folder / ".run").open("r+") as file:
        file.write(json.dumps(asdict(owner)).ljust(OWNER_BYTES) + "\n")
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
