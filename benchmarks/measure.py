"""The one place that measures: functions in turn in one process, or one process for a single peak of memory.

A measurement is one row: of which part and case, by which peer, what was measured, and the least, median and most of
its repeats. `BENCH=small` in the environment takes sizes of seconds instead of minutes.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import lssc.pipeline.stages  # noqa: F401  isort: skip  (pins the threads before numpy starts)
import numpy as np

from lssc.data.datasets.synthetic import synthetic
from lssc.linalg.scaling import unit_rows
from lssc.parts.timing import timed
from lssc.pipeline.study.seeding import rng_for

T = TypeVar("T")
Row = dict[str, Any]
COLUMNS = ("part", "case", "size", "peer", "n", "quantity", "least", "median", "most", "repeats", "note")
SMALL = os.environ.get("BENCH") == "small"
N_CLUSTERS = 5
PATIENCE = 10.0


def sized(full: T, small: T) -> T:
    return small if SMALL else full


def points(n: int) -> tuple[np.ndarray, np.ndarray]:
    """n points at unit norm and their labels; the subspaces are the same for every n."""
    drawn = synthetic(n, n_clusters=N_CLUSTERS, rng=rng_for(0, "benchmark"))
    return unit_rows(drawn.X), drawn.labels


def row(case: str, peer: str, quantity: str, values: Sequence[float] | float, *, n: int, **more: str) -> Row:
    """`more` is the `size` of the case in words and a `note` about this peer."""
    values = [float(value) for value in np.atleast_1d(values)]
    stats = {"least": min(values), "median": statistics.median(values), "most": max(values), "repeats": len(values)}
    return {"case": case, "size": "", "peer": peer, "n": n, "quantity": quantity, **stats, "note": "", **more}


def in_turn(
    functions: dict[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """Seconds of each, taken in turn so that a slow moment of the machine hits all alike; one untimed round before.

    A slow one is repeated less often, three times at least.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            if len(seconds[name]) >= 3 and sum(seconds[name]) > PATIENCE:
                continue
            start = clock()
            function()
            if repeat > 0:
                seconds[name].append(clock() - start)
    return seconds


class Clock:
    """CPU seconds by stage: `clock("coding", function, ...)` calls the function and gives its value."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, stage: str, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        value, spent = timed(function, *args, **kwargs)
        self.seconds[stage] = spent["cpu_seconds"]
        return value


def in_own_process(script: str, *arguments: str, timeout: float | None = None) -> Any:
    """What a script of this folder prints last, as JSON; None if it takes more than `timeout` seconds."""
    command = [sys.executable, str(Path(__file__).parent / script), *arguments]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[-1])
