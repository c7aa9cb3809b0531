"""Limits on the CPU seconds and the memory of a part, kept by the system: compiled code heeds nothing else.

Under limits, a part that cannot work with its points is recorded like one that was stopped: other methods go on.
"""

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

from numpy.linalg import LinAlgError

from lssc.errors import InputError, exit_with_message

# Keys of an experiment that limit what a method may take for a trial, and their units.
LIMITS = {"time_limit": "CPU s", "memory_limit": "MB"}
# Exit codes of a child process that was refused memory, and whose part cannot work with its input.
OUT_OF_MEMORY, REFUSED = 77, 78
# Exit code of a child process -> why it made nothing.
STOPPED = {0: None, -signal.SIGXCPU: "time_limit", OUT_OF_MEMORY: "memory_limit", REFUSED: "refused"}
MB = 10**6


def limit_reached(work: Callable[[], None], out: Path, megabytes: int | None = None) -> str | None:
    """Make `out` in a child process. Why it was not made: `time_limit`, `memory_limit`, `refused`, or None.

    `cpu_limit` sets the first; `megabytes` is what the process may reserve, from its start on; `refusing` reports the
    third. Any other failure of the child ends this process, too.
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
def refusing(limited: bool) -> Iterator[None]:
    """If limited, end this process when a part says that it cannot work with its input; the log has its reason."""
    try:
        yield
    except (InputError, LinAlgError) as error:
        if not limited:
            raise
        print(f"refused: {error}", file=sys.stderr, flush=True)
        sys.exit(REFUSED)


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
