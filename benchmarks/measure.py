"""Measures time and memory: functions in turn in one process, or one function in a process of its own.

A measurement is one row: part, case, peer, quantity, and the least, median and most of its repeats. `BENCH=small` in
the environment selects sizes that take seconds instead of minutes.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import lssc.pipeline.stages  # noqa: F401  isort: skip  (pins BLAS threads before numpy is imported)
import numpy as np

from lssc.data.datasets.synthetic import synthetic
from lssc.linalg.scaling import unit_rows
from lssc.parts.seeding import rng_for
from lssc.pipeline.timing import timed

T = TypeVar("T")
Row = dict[str, Any]
COLUMNS = ("part", "case", "size", "peer", "n", "quantity", "least", "median", "most", "repeats", "note")
SMALL = os.environ.get("BENCH") == "small"
N_CLUSTERS = 5
# CPU seconds after which a function is repeated no more than three times.
ENOUGH_SECONDS = 10.0


def sized(full: T, small: T) -> T:
    return small if SMALL else full


def points(n: int) -> tuple[np.ndarray, np.ndarray]:
    """n points at unit norm and their labels; the subspaces are the same for every n."""
    drawn = synthetic(n, n_clusters=N_CLUSTERS, rng=rng_for(0, "benchmark"))
    return unit_rows(drawn.X), drawn.labels


def row(case: str, peer: str, quantity: str, values: Sequence[float] | float, *, n: int, **more: str) -> Row:
    """One measurement; `more` may hold `size`, the case in words, and `note`, a remark on this peer."""
    values = [float(value) for value in np.atleast_1d(values)]
    stats = {"least": min(values), "median": statistics.median(values), "most": max(values), "repeats": len(values)}
    return {"case": case, "size": "", "peer": peer, "n": n, "quantity": quantity, **stats, "note": "", **more}


def in_turn(
    functions: dict[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """Seconds of each function. Functions run in turn, so a slow phase of the machine affects all alike.

    The first round is not timed. A slow function is repeated less often, but at least three times.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            if len(seconds[name]) >= 3 and sum(seconds[name]) > ENOUGH_SECONDS:
                continue
            start = clock()
            function()
            if repeat > 0:
                seconds[name].append(clock() - start)
    return seconds


class Clock:
    """CPU seconds by stage: `clock("coding", function, ...)` calls the function and returns its value."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, stage: str, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        value, spent = timed(function, *args, **kwargs)
        self.seconds[stage] = spent["cpu_seconds"]
        return value


def in_own_process(script: str, *arguments: str, timeout: float | None = None) -> Any:
    """The last line that a script of this folder prints, parsed as JSON; None after `timeout` seconds."""
    command = [sys.executable, str(Path(__file__).parent / script), *arguments]
    limited = timeout is not None
    # A session of its own: the workers that it starts are ended with it.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=limited) as process:
        try:
            printed, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if limited and process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return json.loads(printed.splitlines()[-1])
