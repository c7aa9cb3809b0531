"""What to say when workers run out of memory."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator

# Copies of a chunk that a worker's thread may hold at a time: as it was read, its parts, prepared, and room for others.
COPIES = 6


class LostWorkersWarning(UserWarning):
    """Workers died while they worked on the same task."""


@contextlib.contextmanager
def explaining_lost_workers() -> Iterator[None]:
    """Before Dask's error about workers that died, say in one line which chunks would fit."""
    # Asked for first: afterwards there may be no worker left.
    room = _room()
    try:
        yield
    except Exception as error:
        if type(error).__name__ == "KilledWorker":
            warnings.warn(f"workers died, most likely out of memory; {_remedy(room)}", LostWorkersWarning, stacklevel=2)
        raise


def _room() -> float:
    """Bytes of memory for each thread of a worker, at the worker that has the least; 0 if there is no cluster."""
    if "distributed" not in sys.modules:
        return 0.0
    try:
        client = sys.modules["distributed"].get_client()
    except ValueError:
        return 0.0
    workers = client.scheduler_info()["workers"].values()
    return min((w["memory_limit"] / max(1, w["nthreads"]) for w in workers if w["memory_limit"]), default=0.0)


def _remedy(room: float) -> str:
    megabytes = int(room / COPIES / 10**6)
    if not megabytes:
        return "use smaller chunks of rows, or more memory"
    return f"chunks of at most {megabytes} MB fit: X.rechunk({{0: 'auto', 1: -1}}, block_size_limit={megabytes}e6)"
