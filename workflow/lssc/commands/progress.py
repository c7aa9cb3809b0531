"""A progress bar on a terminal, and one line per step elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

WIDTH = 24
# Seconds between two drawings.
INTERVAL = 0.2
# What each kind of part does, as a step of the bar.
STEPS = {
    "selector": "choosing landmarks",
    "coder": "coding points",
    "embedder": "embedding",
    "clusterer": "K-means",
    "refiner": "refining",
    "method": "clustering",
}


class ProgressBar:
    """`[#####     ] 2 of 4: coding points 40 %, 12 s`, drawn by a thread until closed."""

    def __init__(self, n_steps: int, stream: IO[str] | None = None) -> None:
        self._stream = stream or sys.stderr
        self._n_steps, self._step, self._name, self._share = n_steps, 0, "", 0.0
        self._names: list[str] = []
        self._start, self._done = time.monotonic(), threading.Event()
        self._drawn = self._stream.isatty()
        if self._drawn:
            threading.Thread(target=self._draw, daemon=True).start()

    def begin(self, name: str) -> None:
        """A step begins; one that was begun before runs once more, as the embedding does if K is estimated."""
        repeated = name in self._names
        self._names += [] if repeated else [name]
        self._step, self._name, self._share = self._names.index(name) + 1, name, 0.0
        if not self._drawn and not repeated:
            print(f"{self._step} of {self._n_steps}: {name}", file=self._stream, flush=True)

    def update(self, share: float) -> None:
        """The share of the step that is done."""
        self._share = max(self._share, min(share, 1.0))

    def close(self) -> None:
        self._done.set()
        if self._drawn:
            print("\r\x1b[2K", end="", file=self._stream, flush=True)

    def line(self) -> str:
        """The bar as it is drawn now."""
        done = (max(self._step - 1, 0) + self._share) / self._n_steps
        bar = ("#" * round(WIDTH * done)).ljust(WIDTH)
        share = f" {self._share:.0%}" if self._share else ""
        return f"[{bar}] {self._step} of {self._n_steps}: {self._name}{share}, {time.monotonic() - self._start:.0f} s"

    def _draw(self) -> None:
        while not self._done.wait(INTERVAL):
            print(f"\r\x1b[2K{self.line()}", end="", file=self._stream, flush=True)


@contextmanager
def showing_steps(model: Any, bar: ProgressBar) -> Iterator[None]:
    """Show each step of an estimator while it is fitted."""
    run = model._run

    def shown(kind: str, *args: Any, **kwargs: Any) -> Any:
        bar.begin(STEPS.get(kind, kind))
        return run(kind, *args, **kwargs)

    model._run = shown
    try:
        yield
    finally:
        del model._run
        bar.close()
