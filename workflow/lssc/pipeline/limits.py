"""Limits on the CPU seconds and the memory of a part, kept by the system: compiled code heeds nothing else."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lssc.errors import exit_with_message

# Keys of an experiment that limit what a method may take for a trial, and their units.
LIMITS = {"time_limit": "CPU s", "memory_limit": "MB"}
# Exit code of a child process that was refused memory.
OUT_OF_MEMORY = 77
# Exit code of a child process -> the limit that stopped it.
STOPPED = {0: None, -signal.SIGXCPU: "time_limit", OUT_OF_MEMORY: "memory_limit"}
MB = 10**6


def limit_reached(work: Callable[[], None], out: Path, megabytes: int | None = None) -> str | None:
    """Make `out` in a child process. The key of the limit that stopped it, `time_limit` or `memory_limit`, or None.

    `cpu_limit` sets the first; `megabytes` is what the process may reserve, from its start on. Any other failure of the
    child ends this process, too.
    """
    # Forked: what is imported is shared. Nothing has started threads yet.
    child = multiprocessing.get_context("fork").Process(target=_work_within, args=(work, out, megabytes))
    child.start()
    try:
        child.join()
    except BaseException:
        # Ctrl-C: compiled code would go on.
        child.kill()
        raise
    if child.exitcode in STOPPED:
        return STOPPED[child.exitcode]
    sys.exit(child.exitcode if child.exitcode > 0 else 128 - child.exitcode)


def _work_within(work: Callable[[], None], out: Path, megabytes: int | None) -> None:
    _lower(resource.RLIMIT_CORE, 0)
    if megabytes:
        _lower(resource.RLIMIT_DATA, megabytes * MB)
    with exit_with_message(out):
        try:
            work()
        except MemoryError:
            if megabytes:
                sys.exit(OUT_OF_MEMORY)
            raise


@contextlib.contextmanager
def cpu_limit(seconds: float | None) -> Iterator[None]:
    """End this process if the block takes more CPU seconds; the system counts whole seconds. None: no limit."""
    if seconds is None:
        yield
        return
    if seconds <= 0:
        signal.raise_signal(signal.SIGXCPU)
    _lower(resource.RLIMIT_CPU, math.ceil(time.process_time() + seconds))
    try:
        yield
    finally:
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def _lower(kind: int, limit: int) -> None:
    """Set a limit that this process can lift again."""
    _, most = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
