"""How a run takes hold of its folders: alone, after everything that an earlier run left behind has ended."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lssc.errors import InputError, set_aside
from lssc.pipeline.store.files import is_altered, is_seal, is_temporary, sealed
from lssc.pipeline.store.heads import is_artifact, is_intact
from lssc.pipeline.store.locks import FOLDERS, RUN, Owner, enter_owner, is_locked, lock, owner_of

# Seconds that what is told to end may take for it; Slurm itself gives a job 30 between the first signal and the last.
PATIENCE = 120
# A disk with less room than this is as good as full.
ROOM = 2_000_000
SINCE = "%Y-%m-%d %H:%M:%S"
# Seconds after which it is told again what is waited for.
SILENCE = 60
Tell = Callable[[str], object]


@contextlib.contextmanager
def claimed(folders: Sequence[Path], *, remote: bool, tell: Tell) -> Iterator[str]:
    """Own the folders, for the life of this process at most; the id of the run.

    InputError if one is another run's or cannot be written to. `remote` says that jobs go to a cluster.
    """
    run = Owner(uuid.uuid4().hex[:12], socket.gethostname(), os.getpid(), time.strftime(SINCE), remote)
    with contextlib.ExitStack() as stack:
        for folder in folders:
            with _writable(folder):
                stack.callback(os.close, _lock_alone(folder, tell))
        for earlier, folder in {owner: folder for folder in folders if (owner := owner_of(folder))}.items():
            with _way_out(folder):
                _end(earlier, tell)
        for folder in folders:
            with _writable(folder):
                enter_owner(folder, run)
                _wait_for_jobs(folder, tell)
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
    """Move what is no longer as it was written out of the way, so that it is made again where it is needed.

    What killed jobs left half-written goes: nobody writes while a run begins.
    """
    for path in _files(folder):
        if is_temporary(path):
            path.unlink()
        elif damaged := _damaged(path):
            set_aside(damaged)
            tell(f"{damaged}: cut short, altered or of another version; moved aside and made again where it is needed")


def tell_full_disk(folders: Sequence[Path], tell: Tell) -> None:
    """Say so if a disk has no room left: what failed for it may have had none to say why."""
    for folder in filter(Path.is_dir, folders):
        free = shutil.disk_usage(folder).free
        if free < ROOM:
            tell(f"{folder}: no space left on its disk ({free:,} bytes); make room and run the same command again")


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        # Another run's.
        folders[:] = [name for name in folders if not Path(place, name, ".run").exists()]
        # What a link leads to lies elsewhere.
        yield from (path for name in names if (path := Path(place, name)).is_file() and not path.is_symlink())


def _damaged(path: Path) -> Path | None:
    """The artifact, or the file that belongs to a seal, if it is damaged; the folder may hold files of others, too."""
    if path.suffix == ".h5":
        return path if is_artifact(path) and not is_intact(path) else None
    if is_seal(path) and sealed(path).is_file() and is_altered(sealed(path), path):
        return sealed(path)
    return None


def _lock_alone(folder: Path, tell: Tell) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    owner = owner_of(folder)
    who = f", process {owner.pid} on {owner.host} since {owner.since}" if owner else ""
    refusal = InputError(f"{folder}: another run is under way there{who}; wait for it or end it")
    try:
        handle = lock(folder / ".run", fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise refusal from None
    if owner and not is_locked(handle):
        if _lives(owner):
            raise refusal
        if owner.host != socket.gethostname():
            tell(f"{folder}: its file system knows no locks; no run may be under way there on {owner.host}")
    return handle


def _lives(owner: Owner) -> bool:
    """Whether the process of a run still is on this machine, by its number and because it began before the run did."""
    import psutil

    if owner.host != socket.gethostname() or owner.pid == os.getpid():
        return False
    with contextlib.suppress(psutil.Error, ValueError):
        return psutil.Process(owner.pid).create_time() <= time.mktime(time.strptime(owner.since, SINCE)) + 1
    return False


@contextlib.contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to: {error.strerror}") from None


def _wait_for_jobs(folder: Path, tell: Tell) -> None:
    """Until the lock that jobs share is free; those that could not be ended may be on another machine."""
    told = -math.inf
    while True:
        try:
            return os.close(lock(folder / ".jobs", fcntl.LOCK_EX | fcntl.LOCK_NB))
        except BlockingIOError:
            if time.monotonic() - told >= SILENCE:
                tell(f"{folder}: waiting for jobs that an earlier run left behind")
                told = time.monotonic()
            time.sleep(0.2)


@contextlib.contextmanager
def _way_out(folder: Path) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        told = f"{error}; jobs of an earlier run may still write, so nothing is begun"
        raise InputError(f"{told}. Once they are over: rm {folder / '.run'}") from None


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
    deadline = time.monotonic() + PATIENCE
    while any(map(_goes_on, found)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return len(found)


def _goes_on(process: object) -> bool:
    """In a container nobody may take note of a dead process, and it stays as a zombie."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


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
            raise InputError(f"jobs {' '.join(ids)} of an earlier run do not end")
        _asked("scancel", *ids)
        time.sleep(1)
        ids = _queued(run)
    return len(found)


def _queued(run: str) -> list[str]:
    return sorted({id for id, _, name in queue() if run in name})


def queue(*options: str) -> list[tuple[str, str, str]]:
    """Id, state and name of the user's Slurm jobs; InputError if Slurm does not answer."""
    lines = _asked("squeue", "--me", "--noheader", "--format=%A %T %j", *options).splitlines()
    return [tuple(line.split(maxsplit=2)) for line in lines if len(line.split()) >= 3]


def _asked(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE)
        printed = done.stdout
        said = (done.stderr.strip().splitlines() or ["failed"])[-1] if done.returncode else ""
    except subprocess.TimeoutExpired:
        printed, said = "", "no answer"
    # A job may be gone by the time it is cancelled.
    if said and command[0] == "squeue":
        raise InputError(f"squeue: {said.removeprefix('squeue: ')}")
    return printed
