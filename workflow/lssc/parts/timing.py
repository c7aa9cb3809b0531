"""Seconds of the algorithm alone: imports, warm-up and file access stay outside."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def timed(function: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[T, dict[str, float]]:
    """The function's value, and what it spent: wall seconds, CPU seconds and the process's peak memory."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = function(*args, **kwargs)
    spent = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return value, {**spent, "peak_mb": peak_kib / 1024}


def timed_blocks(blocks: Iterable[T], spent: dict[str, float]) -> Iterator[T]:
    """The same blocks; what making them takes is added to `spent`, what is done with each in between is not."""
    waiting = iter(blocks)
    while True:
        block, took = timed(next, waiting, None)
        for unit in ("seconds", "cpu_seconds"):
            spent[unit] += took[unit]
        spent["peak_mb"] = took["peak_mb"]
        if block is None:
            return
        yield block
