"""Seconds of the algorithm alone: imports, warm-up and file access stay outside."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def timed(function: Callable[..., T], *args: Any, **kwargs: Any) -> tuple[T, dict[str, float]]:
    """The function's value, and what it spent: wall seconds, CPU seconds and the process's peak memory."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = function(*args, **kwargs)
    spent = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return value, {**spent, "peak_mb": peak_kib / 1024}
