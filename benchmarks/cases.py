"""Speed and memory, each case in a process of its own: `python benchmarks/cases.py CASE` prints one JSON object.

Everything runs on one thread. Ratios compare both sides in the same process, repeated in turn, best of each.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import lssc.stages  # noqa: F401  isort: skip  (pins the threads before numpy starts)
import numpy as np

from lssc.coders.lasso import code_lasso
from lssc.datasets.synthetic import synthetic
from lssc.kmeans import cluster
from lssc.kmeans import warm_up as warm_up_kmeans
from lssc.registry import find
from lssc.scaling import unit_rows
from lssc.seeding import rng_for
from lssc.timing import timed

LAM, M, REPEATS = 10.0, 300, 5


def row(what: str, value: float, limit: float, unit: str, detail: str = "") -> dict:
    return {"what": what, "value": value, "limit": limit, "unit": unit, "detail": detail}


def points(n: int) -> np.ndarray:
    return unit_rows(synthetic(n, n_clusters=5, rng=rng_for(0, "benchmark", n)).X)


def cpu(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def best_of(functions: dict[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """The least CPU seconds of each, taken in turn so that a slow moment of the machine hits all alike."""
    rounds = [{name: cpu(function) for name, function in functions.items()} for _ in range(repeats)]
    return {name: min(times[name] for times in rounds) for name in functions}


def warm_up() -> None:
    for kind, name in (("coder", "lasso"), ("embedder", "landmark_svd")):
        find(kind, name).warm_up()
    warm_up_kmeans()


def fsc_against_spams() -> dict:
    """All of FSC-uniform against the bare SPAMS call on the same points and landmarks."""
    import spams

    warm_up()
    X = points(15_000)
    select, embed = find("selector", "uniform"), find("embedder", "landmark_svd")
    atoms = np.asfortranarray(X[select(X, M, rng=rng_for(1)).indices].T)
    columns = np.asfortranarray(X.T)

    def bare() -> None:
        spams.lasso(columns, D=atoms, lambda1=1 / LAM, mode=2, numThreads=1)

    def whole() -> None:
        landmarks = select(X, M, rng=rng_for(1))
        codes = code_lasso(X, landmarks.indices, lam=LAM)
        cluster(embed(codes.matrix, n_clusters=5, rng=rng_for(2)).vectors, 5, rng=rng_for(3))

    times = best_of({"bare": bare, "whole": whole})
    ratio = times["whole"] / times["bare"]
    detail = f"{times['whole']:.3f} s against {times['bare']:.3f} s"
    return row("FSC-uniform over the bare SPAMS call, n=15,000, m=300", ratio, 1.5, "times", detail)


def omp_coding() -> dict:
    X = points(15_000)
    code = find("coder", "omp")
    seconds = best_of({"omp": lambda: code(X, np.arange(len(X)), k=6)}, repeats=2)["omp"]
    return row("SSC-OMP coding, n=15,000, k=6", seconds, 30, "CPU s")


def modified_admm_memory() -> dict:
    X = points(15_000)
    code = find("coder", "admm_modified")
    code.warm_up()
    codes, spent = timed(code, X, np.arange(len(X)), alpha=10.0)
    peak = spent["peak_mb"] / 1024
    detail = f"{spent['cpu_seconds']:.0f} CPU s for {codes.info['n_iter']} iterations"
    return row("Modified ADMM peak memory, n=15,000", peak, 4, "GiB", detail)


def fsc_growth() -> dict:
    """Slope of log time over log n for coding and embedding."""
    warm_up()
    embed = find("embedder", "landmark_svd")
    sizes = (15_000, 30_000, 60_000, 120_000, 240_000)
    seconds = []
    for n in sizes:
        X, landmarks = points(n), np.sort(rng_for(4, n).choice(n, M, replace=False))
        work = {"both": lambda X=X, L=landmarks: embed(code_lasso(X, L, lam=LAM).matrix, n_clusters=5, rng=rng_for(2))}
        seconds.append(best_of(work, repeats=3)["both"])
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    detail = ", ".join(f"{n:,}: {s:.2f} s" for n, s in zip(sizes, seconds, strict=True))
    return row("FSC-uniform coding and embedding, exponent of n", slope, 1.05, "", detail)


def kmedoids_against_alternation() -> dict:
    """The compiled search against the alternation on the full matrix of distances, from the same points."""
    fast, full = find("selector", "kmedoids"), find("selector", "kmedoids_full")
    fast.warm_up()
    full.warm_up()
    X = points(6_000)
    times = best_of({"fast": lambda: fast(X, M, rng=rng_for(1)), "full": lambda: full(X, M, rng=rng_for(1))})
    cost = fast(X, M, rng=rng_for(1)).info["cost"] / full(X, M, rng=rng_for(1)).info["cost"]
    detail = f"{times['fast']:.3f} s against {times['full']:.3f} s, at {cost:.3f} of the cost"
    what = "K-medoids over alternation on all distances, n=6,000, m=300"
    return row(what, times["fast"] / times["full"], 0.2, "times", detail)


def kmedoids_growth() -> dict:
    """Slope of log time over log n if all points take part."""
    select = find("selector", "kmedoids")
    select.warm_up()
    sizes = (6_000, 12_000, 25_000, 50_000, 100_000, 200_000)
    seconds = []
    for n in sizes:
        X = points(n)
        work = {"select": lambda X=X: select(X, M, max_points=len(X), rng=rng_for(1))}
        seconds.append(best_of(work, repeats=3)["select"])
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    detail = ", ".join(f"{n:,}: {s:.2f} s" for n, s in zip(sizes, seconds, strict=True))
    return row("K-medoids of all points, m=300, exponent of n", slope, 1.1, "", detail)


CASES = {
    f.__name__: f
    for f in (
        fsc_against_spams,
        omp_coding,
        modified_admm_memory,
        fsc_growth,
        kmedoids_against_alternation,
        kmedoids_growth,
    )
}

if __name__ == "__main__":
    print(json.dumps(CASES[sys.argv[1]]()))
