"""Claims the folders of a run: one run at a time, and only after all jobs of earlier runs have ended."""

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
from typing import Any

from lssc.errors import InputError, set_aside
from lssc.pipeline.store.files import is_altered, is_seal, is_temporary, sealed
from lssc.pipeline.store.heads import is_artifact, is_intact
from lssc.pipeline.store.locks import (
    FOLDERS_VARIABLE,
    RUN_VARIABLE,
    Owner,
    is_locked,
    lock,
    read_owner,
    write_owner,
)

# Seconds that killed processes, cancelled jobs and Slurm's commands may take. Slurm gives a cancelled job 30.
END_SECONDS = 120
# Seconds after which a message about waiting is repeated.
REPEAT_SECONDS = 60
# Bytes; a disk with less free space counts as full.
MIN_FREE_BYTES = 2_000_000
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
Report = Callable[[str], object]


@contextlib.contextmanager
def claim_folders(folders: Sequence[Path], *, remote: bool, warn: Report) -> Iterator[str]:
    """Own the folders until the end of the context or of the process; yields the id of the run.

    `remote` says that jobs go to a cluster. InputError if another run owns a folder, or if it cannot be written to.
    """
    run = Owner(uuid.uuid4().hex[:12], socket.gethostname(), os.getpid(), time.strftime(TIME_FORMAT), remote)
    with contextlib.ExitStack() as stack:
        for folder in folders:
            with _writable(folder):
                stack.callback(os.close, _lock_alone(folder, warn))
        for earlier, folder in {owner: folder for folder in folders if (owner := read_owner(folder))}.items():
            with _naming_remedy(folder):
                _end_leftovers(earlier, warn)
        for folder in folders:
            with _writable(folder):
                write_owner(folder, run)
                _wait_for_jobs(folder, warn)
                set_damaged_aside(folder, warn)
        os.environ.update({RUN_VARIABLE: run.id, FOLDERS_VARIABLE: os.pathsep.join(map(str, folders))})
        try:
            yield run.id
        finally:
            # An interrupted executor may leave jobs in the queue.
            if remote:
                with contextlib.suppress(InputError):
                    _cancel_jobs(run.id)


def set_damaged_aside(folder: Path, warn: Report) -> None:
    """Rename files that changed since they were written, so that they are made again, and delete half-written ones.

    Nobody writes while a run starts.
    """
    for path in _files(folder):
        if is_temporary(path):
            path.unlink()
        elif damaged := _damaged(path):
            set_aside(damaged)
            warn(f"{damaged}: cut short, altered or of another version; moved aside and made again where it is needed")


def report_full_disk(folders: Sequence[Path], report: Report) -> None:
    """Report a full disk: a job that failed for it may have had no space to say so."""
    for folder in filter(Path.is_dir, folders):
        free = shutil.disk_usage(folder).free
        if free < MIN_FREE_BYTES:
            report(f"{folder}: no space left on its disk ({free:,} bytes); make room and run the same command again")


def _files(folder: Path) -> Iterator[Path]:
    """Files of this folder's runs; not those in folders of other runs inside it, nor what links lead to."""
    for place, subfolders, names in os.walk(folder):
        subfolders[:] = [name for name in subfolders if not Path(place, name, ".run").exists()]
        yield from (path for name in names if (path := Path(place, name)).is_file() and not path.is_symlink())


def _damaged(path: Path) -> Path | None:
    """The artifact, or the file of a seal, if it is damaged; the folder may hold files of others, too."""
    if path.suffix == ".h5":
        return path if is_artifact(path) and not is_intact(path) else None
    if is_seal(path) and sealed(path).is_file() and is_altered(sealed(path), path):
        return sealed(path)
    return None


def _lock_alone(folder: Path, warn: Report) -> int:
    """Lock `.run`; InputError if another run holds it or, on a file system without locks, is alive on this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    owner = read_owner(folder)
    who = f", process {owner.pid} on {owner.host} since {owner.since}" if owner else ""
    refusal = InputError(f"{folder}: another run is under way there{who}; wait for it or end it")
    try:
        handle = lock(folder / ".run", fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise refusal from None
    if owner and not is_locked(handle):
        if _is_running(owner):
            raise refusal
        if owner.host != socket.gethostname():
            warn(f"{folder}: its file system has no locks; make sure that no run is under way there on {owner.host}")
    return handle


def _is_running(owner: Owner) -> bool:
    """Whether the run's process is alive on this machine: its number, and a start no later than the run's."""
    import psutil

    if owner.host != socket.gethostname() or owner.pid == os.getpid():
        return False
    with contextlib.suppress(psutil.Error, ValueError):
        return psutil.Process(owner.pid).create_time() <= time.mktime(time.strptime(owner.since, TIME_FORMAT)) + 1
    return False


@contextlib.contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to: {error.strerror}") from None


def _wait_for_jobs(folder: Path, warn: Report) -> None:
    """Wait until no job holds `.jobs`: jobs on other machines cannot be killed from here."""
    reported = -math.inf
    while True:
        try:
            return os.close(lock(folder / ".jobs", fcntl.LOCK_EX | fcntl.LOCK_NB))
        except BlockingIOError:
            if time.monotonic() - reported >= REPEAT_SECONDS:
                warn(f"{folder}: waiting for jobs that an earlier run left behind")
                reported = time.monotonic()
            time.sleep(0.2)


@contextlib.contextmanager
def _naming_remedy(folder: Path) -> Iterator[None]:
    """Add to an error what a user can do about it."""
    try:
        yield
    except InputError as error:
        message = f"{error}; jobs of an earlier run may still write, so no job is started"
        raise InputError(f"{message}. Once they are over: rm {folder / '.run'}") from None


def _end_leftovers(earlier: Owner, warn: Report) -> None:
    """End the jobs that an earlier run left behind on this machine and in the queue of its cluster."""
    n_processes = end_processes(earlier.id)
    n_jobs = _cancel_jobs(earlier.id) if earlier.remote else 0
    counts = [f"{n_processes} processes"] * bool(n_processes) + [f"{n_jobs} jobs on the cluster"] * bool(n_jobs)
    if counts:
        warn(f"ended {' and '.join(counts)} that the run of {earlier.since} had left behind")


def end_processes(run: str) -> int:
    """Kill the processes of a run's jobs on this machine and wait for their end; returns how many there were."""
    import psutil

    processes = [process for process in psutil.process_iter() if process.pid != os.getpid() and _is_of(process, run)]
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    deadline = time.monotonic() + END_SECONDS
    while any(map(_is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return len(processes)


def _is_alive(process: Any) -> bool:
    """Whether a process is alive; in a container a dead one may stay a zombie, as nobody waits for it."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _is_of(process: Any, run: str) -> bool:
    import psutil

    try:
        return process.environ().get(RUN_VARIABLE) == run
    except (psutil.Error, OSError):
        return False


def _cancel_jobs(run: str) -> int:
    """Cancel the Slurm jobs with the run's id in their name and wait for their end; returns how many there were."""
    if not shutil.which("squeue"):
        return 0
    first = ids = _queued(run)
    deadline = time.monotonic() + END_SECONDS
    while ids:
        if time.monotonic() > deadline:
            raise InputError(f"jobs {' '.join(ids)} of an earlier run do not end")
        # A job may be gone by the time it is cancelled: that scancel fails means nothing.
        _output_of("scancel", *ids)
        time.sleep(1)
        ids = _queued(run)
    return len(first)


def _queued(run: str) -> list[str]:
    return sorted({id for id, _, name in slurm_queue() if run in name})


def slurm_queue(*options: str) -> list[tuple[str, str, str]]:
    """Id, state and name of the user's Slurm jobs; InputError if Slurm does not answer."""
    output, error = _output_of("squeue", "--me", "--noheader", "--format=%A %T %j", *options)
    if error:
        raise InputError(f"squeue: {error.removeprefix('squeue: ')}")
    return [tuple(line.split(maxsplit=2)) for line in output.splitlines() if len(line.split()) >= 3]


def _output_of(*command: str) -> tuple[str, str]:
    """What a command prints, and the last line of its error if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=END_SECONDS)
    except subprocess.TimeoutExpired:
        return "", "no answer"
    error = (done.stderr.strip().splitlines() or ["failed"])[-1] if done.returncode else ""
    return done.stdout, error
