"""Compiles kernels ahead of the first use: those of some estimators, or all."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor

from lssc.parts.registry import FOLDERS, find, names

# Parts that run code of pynndescent and UMAP, which Numba compiles in every process: its cache cannot keep it.
UNCACHED = {("method", "knn_spectral"), ("method", "umap_hdbscan")}


def warm_up(kind: str, name: str) -> None:
    from lssc.kernels.compiled import notice

    notice.is_wanted = False
    # Parts of an extra that is not installed have nothing to compile.
    with contextlib.suppress(ModuleNotFoundError):
        find(kind, name).warm_up()


def compile_parts(parts: Iterable[tuple[str, str]]) -> None:
    """Import and compile what these parts, (kind, name) each, need; prints the seconds."""
    start = time.perf_counter()
    with ProcessPoolExecutor() as pool:
        for job in [pool.submit(warm_up, kind, name) for kind, name in dict.fromkeys(parts)]:
            job.result()
    print(f"compiled code is ready ({time.perf_counter() - start:.0f} s)")


def every_part() -> list[tuple[str, str]]:
    """(kind, name) of every part whose machine code is kept."""
    parts = [(kind, name) for kind in FOLDERS for name in names(kind)]
    return [part for part in parts if part not in UNCACHED]


def main() -> None:
    compile_parts(every_part())


if __name__ == "__main__":
    main()
