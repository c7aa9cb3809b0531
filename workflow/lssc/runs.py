"""How a run takes hold of its folders: alone, after everything that an earlier run left behind has ended."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lssc.artifacts import is_foreign, is_intact
from lssc.errors import InputError, set_aside
from lssc.files import is_altered, is_seal, sealed
from lssc.ownership import FOLDERS, RUN, Owner, enter_owner, lock, owner_of

# Seconds that what is told to end may take for it; Slurm itself gives a job 30 between the first signal and the last.
PATIENCE = 120
# A disk with less room than this is as good as full.
ROOM = 2_000_000
Tell = Callable[[str], object]


@contextlib.contextmanager
def claimed(folders: Sequence[Path], *, remote: bool, tell: Tell) -> Iterator[str]:
    """Own the folders, for the life of this process at most; the id of the run.

    InputError if one is another run's or cannot be written to. `remote` says that jobs go to a cluster.
    """
    run = Owner(uuid.uuid4().hex[:12], socket.gethostname(), os.getpid(), time.strftime("%Y-%m-%d %H:%M:%S"), remote)
    with contextlib.ExitStack() as stack:
        for folder in folders:
            with _writable(folder):
                stack.callback(os.close, _lock_alone(folder))
        for earlier in {owner for owner in map(owner_of, folders) if owner}:
            _end(earlier, tell)
        for folder in folders:
            with _writable(folder):
                _enter(folder, run, tell)
                set_damaged_aside(folder, tell)
        os.environ.update({RUN: run.id, FOLDERS: os.pathsep.join(map(str, folders))})
        try:
            yield run.id
        finally:
            # An interrupted executor may leave jobs in the queue.
            if remote:
                with contextlib.suppress(InputError):
                    _cancel_jobs(run.id)


def set_damaged_aside(folder: Path, tell: Tell) -> None:
    """Move what is no longer as it was written out of the way, so that it is made again where it is needed."""
    for path in _damaged(folder):
        set_aside(path)
        tell(f"{path}: cut short, altered or of another version; moved aside and made again where it is needed")


def tell_full_disk(folders: Sequence[Path], tell: Tell) -> None:
    """Say so if a disk has no room left: what failed for it may have had none to say why."""
    for folder in folders:
        free = shutil.disk_usage(folder).free
        if free < ROOM:
            tell(f"{folder}: no space left on its disk ({free:,} bytes); make room and run the same command again")


def _damaged(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        # Another run's.
        folders[:] = [name for name in folders if not Path(place, name, ".run").exists()]
        for path in filter(Path.is_file, (Path(place, name) for name in names)):
            # The folder may hold files of others, too.
            if path.suffix == ".h5" and not is_foreign(path) and not is_intact(path):
                yield path
            elif is_seal(path) and sealed(path).is_file() and is_altered(sealed(path), path):
                yield sealed(path)


def _lock_alone(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return lock(folder / ".run", fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = owner_of(folder)
        who = f", process {owner.pid} on {owner.host} since {owner.since}" if owner else ""
        raise InputError(f"{folder}: another run is under way there{who}; wait for it or end it") from None


def _enter(folder: Path, run: Owner, tell: Tell) -> None:
    jobs = _lock_out_jobs(folder, tell)
    try:
        enter_owner(folder, run)
    finally:
        os.close(jobs)


@contextlib.contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to: {error.strerror}") from None


def _lock_out_jobs(folder: Path, tell: Tell) -> int:
    """Take the lock that jobs share; those that could not be ended, as on another machine, are waited for."""
    told = False
    while True:
        try:
            return lock(folder / ".jobs", fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not told:
                tell(f"{folder}: waiting for jobs that an earlier run left behind")
            told = True
            time.sleep(0.2)


def _end(earlier: Owner, tell: Tell) -> None:
    """End whatever an earlier run left behind on this machine and in the queue of its cluster."""
    processes = _end_processes(earlier.id)
    queued = _cancel_jobs(earlier.id) if earlier.remote else 0
    if processes or queued:
        what = [f"{processes} processes"] * bool(processes) + [f"{queued} jobs on the cluster"] * bool(queued)
        tell(f"ended {' and '.join(what)} that the run of {earlier.since} had left behind")


def _end_processes(run: str) -> int:
    import psutil

    found = [process for process in psutil.process_iter() if process.pid != os.getpid() and _belongs(process, run)]
    for process in found:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(found, timeout=PATIENCE)
    return len(found)


def _belongs(process: object, run: str) -> bool:
    import psutil

    try:
        return process.environ().get(RUN) == run
    except (psutil.Error, OSError):
        return False


def _cancel_jobs(run: str) -> int:
    """Cancel the Slurm jobs that have the run's id in their name, and wait until they are gone."""
    if not shutil.which("squeue"):
        return 0
    found = ids = _queued(run)
    deadline = time.monotonic() + PATIENCE
    while ids:
        if time.monotonic() > deadline:
            raise InputError(f"jobs {' '.join(ids)} of an earlier run do not end; see `squeue` and end them first")
        _asked("scancel", *ids)
        time.sleep(1)
        ids = _queued(run)
    return len(found)


def _queued(run: str) -> list[str]:
    lines = _asked("squeue", "--me", "--noheader", "--format=%A %j").splitlines()
    return sorted({line.split()[0] for line in lines if run in line})


def _asked(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        said = done.stderr.strip() if done.returncode else ""
    except subprocess.TimeoutExpired:
        said = "no answer"
    # A job may be gone by the time it is cancelled.
    if said and command[0] == "squeue":
        raise InputError(f"squeue: {said}; jobs of an earlier run may still write, so nothing is begun")
    return done.stdout
