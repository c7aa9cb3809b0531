"""A limit on the CPU seconds of a part. The system ends a process that reaches it: compiled code heeds nothing else."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator


def reaches_limit(work: Callable[[], None]) -> bool:
    """Do the work in a child process. True if a `cpu_limit` ended it; any other failure ends this process, too."""
    # Forked: what is imported is shared. Nothing has started threads yet.
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join()
    if child.exitcode in (0, -signal.SIGXCPU):
        return child.exitcode != 0
    sys.exit(child.exitcode if child.exitcode > 0 else 128 - child.exitcode)


@contextlib.contextmanager
def cpu_limit(seconds: float | None) -> Iterator[None]:
    """End this process if the block takes more CPU seconds; the system counts whole seconds. None: no limit."""
    if seconds is None:
        yield
        return
    if seconds <= 0:
        signal.raise_signal(signal.SIGXCPU)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + seconds), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
