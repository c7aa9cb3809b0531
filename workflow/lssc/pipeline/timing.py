"""Wall seconds, CPU seconds and peak memory of an algorithm, without imports, warm-up and file access."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


def timed(function: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[T, dict[str, float]]:
    """Call the function. Returns its value and `seconds`, `cpu_seconds` and `peak_mb` (of the process)."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = function(*args, **kwargs)
    spent = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return value, {**spent, "peak_mb": peak_kib / 1024}


def timed_blocks(blocks: Iterable[T], spent: dict[str, float]) -> Iterator[T]:
    """Yield the blocks; add the time to make them, but not the time to use them, to `spent`."""
    waiting = iter(blocks)
    while True:
        block, took = timed(next, waiting, None)
        for unit in ("seconds", "cpu_seconds"):
            spent[unit] += took[unit]
        spent["peak_mb"] = took["peak_mb"]
        if block is None:
            return
        yield block
