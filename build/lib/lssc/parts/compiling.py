"""Compile all kernels ahead of the first job: `python -m lssc.parts.compiling`."""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor

from lssc.parts.registry import FOLDERS, find, names


def warm_up(kind: str, name: str) -> None:
    find(kind, name).warm_up()


def main() -> None:
    start = time.perf_counter()
    with ProcessPoolExecutor() as pool:
        jobs = [pool.submit(warm_up, kind, name) for kind in FOLDERS for name in names(kind)]
        for job in jobs:
            job.result()
    print(f"compiled code is ready ({time.perf_counter() - start:.0f} s)")


if __name__ == "__main__":
    main()
