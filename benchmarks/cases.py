"""The parts of the benchmark: `python benchmarks/cases.py PART` measures one and prints its rows as JSON.

CPU seconds on one thread, without imports and compilation, unless a row says otherwise.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from digits import MISSING, digits
from estimators import estimators
from lssc.kernels.farthest_first import find_exemplars
from lssc.metrics import scores
from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.registry import find
from lssc.parts.seeding import rng_for
from lssc.pipeline.timing import timed
from measure import N_CLUSTERS, Clock, Row, in_own_process, in_turn, points, row, sized
from peers import (
    LAM,
    METHODS,
    Peer,
    farthest_first_plainly,
    fsc_of_others,
    fsc_uniform,
    lasso_peers,
    lasso_quality,
    medoid_cost,
    omp_one_by_one,
    sklearn_kmeans,
)

M = sized(300, 30)
REPEATS = sized(7, 2)
# Codes of many landmarks, as ESC has on digits.
DENSE_LAM = 50.0
SAMPLE = sized(1000, 100)
# Wall seconds after which a whole method is stopped; it is not run for larger n.
MAX_SECONDS = 120.0
MAX_RUNS = sized(15, 3)
SIZES = sized((3_000, 15_000, 60_000, 250_000, 1_000_000), (300, 600, 1_200))


def lasso() -> Iterator[Row]:
    """The coder against every other solver of the lasso, in 16 dimensions and on features of digits."""
    X, _ = points(sized(15_000, 500))
    for case, m in {"m300": M, "m1000": sized(1000, 60)}.items():
        yield from _lasso_case(case, X, m, LAM)
        yield from _lasso_case(f"{case}_dense", X, m, DENSE_LAM)
    if (found := digits()) is None:
        yield row("mnist", "lasso", "cpu_seconds", np.nan, n=0, size="MNIST scattering features", note=MISSING)
    else:
        for case, lam in {"mnist": 5.0, "mnist_dense": DENSE_LAM}.items():
            yield from _lasso_case(case, found[0], sized(500, 60), lam, "MNIST scattering features, ")


def _lasso_case(case: str, X: np.ndarray, m: int, lam: float, name: str = "") -> Iterator[Row]:
    n, D = X.shape
    size = f"{name}D={D}, n={n:,}, m={m:,}, λ={lam:g}"
    landmarks = np.sort(rng_for(1, n).choice(n, m, replace=False))
    peers = lasso_peers(X, landmarks, lam, np.arange(0, n, max(1, n // SAMPLE)))
    seconds = in_turn({name: peer.solve for name, peer in peers.items()}, REPEATS)
    for name, peer in peers.items():
        share = n / len(peer.points)
        note = f"on {len(peer.points):,} of the points, times {share:g}" if share > 1 else ""
        yield row(case, name, "cpu_seconds", np.array(seconds[name]) * share, n=n, size=size, note=note)
    for name, (excess, kkt) in _lasso_qualities(X, X[landmarks], peers, lam).items():
        yield row(case, name, "objective_excess", excess, n=n, size=size)
        yield row(case, name, "kkt", kkt, n=n, size=size)


def _lasso_qualities(
    X: np.ndarray, atoms: np.ndarray, peers: dict[str, Peer], lam: float
) -> dict[str, tuple[float, float]]:
    """Of each peer: the largest relative excess over the best objective, and the largest KKT violation."""
    objectives, violations = np.full((len(peers), len(X)), np.inf), []
    for i, peer in enumerate(peers.values()):
        objectives[i, peer.points], worst = lasso_quality(X[peer.points], atoms, peer.solve(), lam)
        violations.append(worst)
    excess = objectives / objectives.min(axis=0) - 1
    excess = [float(e[np.isfinite(e)].max()) for e in excess]
    return dict(zip(peers, zip(excess, violations, strict=True), strict=True))


def threads() -> Iterator[Row]:
    """Wall-clock seconds of the coder on one and two threads; needs a quiet machine."""
    n = sized(150_000, 2_000)
    X, _ = points(n)
    landmarks = np.arange(0, n, n // M)[:M]
    names = {1: "lasso, 1 thread", 2: "lasso, 2 threads"}
    functions = {name: lambda t=t: code_lasso(X, landmarks, lam=LAM, threads=t) for t, name in names.items()}
    for name, values in in_turn(functions, REPEATS, clock=time.perf_counter).items():
        yield row("threads", name, "seconds", values, n=n, size=f"D=16, n={n:,}, m={M}, λ={LAM:g}")


def omp() -> Iterator[Row]:
    """The coder against scikit-learn's OMP; no point is coded by itself."""
    n, k = sized(3_000, 300), 6
    X, _ = points(n)
    code, everyone, sample = find("coder", "omp"), np.arange(n), np.arange(0, n, max(1, n // SAMPLE))
    code.warm_up()
    theirs = "scikit-learn, orthogonal_mp"
    functions = {"omp": lambda: code(X, everyone, k=k).matrix, theirs: lambda: omp_one_by_one(X, sample, k)}
    seconds = in_turn(functions, sized(5, 2))
    codes = {"omp": functions["omp"]().toarray()[sample], theirs: functions[theirs]()}
    share = n / len(sample)
    note = f"one call a point with its own atom set to zero; on {len(sample):,} of the points, times {share:g}"
    for name in functions:
        scale, remark = (1, "") if name == "omp" else (share, note)
        left = np.linalg.norm(X[sample] - codes[name] @ X, axis=1)
        size = f"n={n:,}, k={k}"
        yield row("n3000", name, "cpu_seconds", np.array(seconds[name]) * scale, n=n, size=size, note=remark)
        yield row("n3000", name, "mean_residual", left.mean(), n=n, size=size)
    n = sized(15_000, 500)
    X, _ = points(n)
    seconds = in_turn({"omp": lambda: code(X, np.arange(n), k=k)}, 2)["omp"]
    yield row("n15000", "omp", "cpu_seconds", seconds, n=n, size=f"n={n:,}, k={k}")


def kmedoids() -> Iterator[Row]:
    """Landmarks by K-medoids: ours, scikit-learn-extra's alternation and FasterPAM; the growth of ours with n."""
    n = sized(6_000, 300)
    X, _ = points(n)
    names = {"kmedoids": "kmedoids", "kmedoids_full": "scikit-learn-extra, alternation", "fasterpam": "FasterPAM"}
    selectors = {label: find("selector", name) for name, label in names.items()}
    for select in selectors.values():
        select.warm_up()
    functions = {name: lambda s=s: s(X, M, rng=rng_for(1)).indices for name, s in selectors.items()}
    seconds = in_turn(functions, sized(3, 1))
    for name, function in functions.items():
        yield row("n6000", name, "cpu_seconds", seconds[name], n=n, size=f"n={n:,}, m={M}")
        yield row("n6000", name, "cost", medoid_cost(X, function()), n=n, size=f"n={n:,}, m={M}")
    select = selectors["kmedoids"]
    for n in sized((6_000, 25_000, 100_000, 200_000), (200, 400, 800)):
        X, _ = points(n)
        values = in_turn({"all": lambda X=X: select(X, M, max_points=len(X), rng=rng_for(1))}, sized(3, 1))["all"]
        yield row("growth", "kmedoids", "cpu_seconds", values, n=n, size=f"all points take part, m={M}")


def kmeans() -> Iterator[Row]:
    """K-means of FSC's coordinates, ten starts: ours and scikit-learn's."""
    n = sized(15_000, 600)
    X, _ = points(n)
    codes = code_lasso(X, np.sort(rng_for(1, n).choice(n, M, replace=False)), lam=LAM).matrix
    vectors = find("embedder", "landmark_svd")(codes, n_clusters=N_CLUSTERS, rng=rng_for(2)).vectors
    size = f"n={n:,} coordinates of FSC-uniform, K={N_CLUSTERS}, 10 starts"
    functions = {
        "lssc.kmeans": lambda: cluster_kmeans(vectors, n_clusters=N_CLUSTERS, rng=rng_for(3)).info["inertia"],
        "scikit-learn, KMeans": lambda: sklearn_kmeans(vectors, 3).inertia_,
    }
    for name, values in in_turn(functions, REPEATS).items():
        yield row("kmeans", name, "cpu_seconds", values, n=n, size=size)
        yield row("kmeans", name, "inertia", functions[name](), n=n, size=size)


def farthest_first() -> Iterator[Row]:
    """ESC's search for exemplars against the search by its definition, from the same first point."""
    n, m = sized(3_000, 200), sized(100, 10)
    X, _ = points(n)
    find("selector", "farthest_first").warm_up()
    first = int(rng_for(5).integers(n))
    functions = {
        "farthest_first": lambda: find_exemplars(X, m, lam=LAM, first=first)[0],
        "all points at every step": lambda: farthest_first_plainly(X, m, LAM, first),
    }
    seconds, expected = in_turn(functions, sized(3, 1)), functions["all points at every step"]()
    for name, function in functions.items():
        size = f"n={n:,}, m={m}, λ={LAM:g}"
        yield row("search", name, "cpu_seconds", seconds[name], n=n, size=size)
        yield row("search", name, "same_exemplars", np.isin(function(), expected).mean(), n=n, size=size)


def admm() -> Iterator[Row]:
    """The modified ADMM: seconds to its stopping rule, and memory after a few iterations."""
    code = find("coder", "admm_modified")
    code.warm_up()
    for case, n, params in (
        ("time", sized(3_000, 200), {}),
        ("memory", sized(15_000, 400), {"max_iter": 3}),
    ):
        X, _ = points(n)
        codes, spent = timed(code, X, np.arange(n), alpha=10.0, **params)
        size, note = f"n={n:,}, α=10", f"{codes.info['n_iter']} iterations"
        yield row(case, "admm_modified", "cpu_seconds", spent["cpu_seconds"], n=n, size=size, note=note)
        yield row(case, "admm_modified", "peak_mb", spent["peak_mb"], n=n, size=size)


def stages() -> Iterator[Row]:
    """Seconds by stage of FSC-uniform, and of the same method built from other libraries."""
    n = sized(15_000, 600)
    X, _ = points(n)
    runs: dict[str, list[dict[str, float]]] = {"ours": [], "others": []}
    for repeat in range(2 * REPEATS + 1):
        for name, method in (("ours", fsc_uniform), ("others", fsc_of_others)):
            clock = Clock()
            method(X, M, 0, clock)
            # The first round imports and compiles.
            runs[name] += [clock.seconds] * (repeat > 0)
    for name, rounds in runs.items():
        size = f"n={n:,}, m={M}, λ={LAM:g}"
        for stage in rounds[0]:
            yield row("stages", name, stage, [seconds[stage] for seconds in rounds], n=n, size=size)
        yield row("stages", name, "cpu_seconds", [sum(seconds.values()) for seconds in rounds], n=n, size=size)


def methods() -> Iterator[Row]:
    """Time, accuracy and memory of whole methods over n, each run in a process of its own."""
    for method in METHODS:
        for n in SIZES:
            rows = in_own_process("cases.py", "one_method", method, str(n), timeout=MAX_SECONDS)
            print(f"  {method}, n={n:,}: {'stopped' if rows is None else 'done'}", file=sys.stderr)
            if rows is None:
                yield row("whole", method, "cpu_seconds", np.nan, n=n, note=f"stopped after {MAX_SECONDS:g} s")
                break
            yield from rows


def one_method(method: str, n: str) -> Iterator[Row]:
    """Runs with different random choices, three or more unless slow; memory is that of the first run."""
    X, labels = points(int(n))
    small, _ = points(100)
    METHODS[method](small, 10, 0, Clock())
    rounds, accuracies, peak = [], [], 0.0
    used = 0.0
    while (len(rounds) < 3 and used < MAX_SECONDS / 4) or (len(rounds) < MAX_RUNS and used < 3):
        clock = Clock()
        predicted, spent = timed(METHODS[method], X, M, len(rounds), clock)
        peak = peak or spent["peak_mb"]
        used += spent["cpu_seconds"]
        rounds.append(clock.seconds)
        accuracies.append(scores(labels, predicted)["accuracy"])
    for stage in rounds[0]:
        yield row("whole", method, stage, [seconds[stage] for seconds in rounds], n=len(X))
    yield row("whole", method, "cpu_seconds", [sum(seconds.values()) for seconds in rounds], n=len(X))
    yield row("whole", method, "accuracy", accuracies, n=len(X))
    yield row("whole", method, "peak_mb", peak, n=len(X))


def overhead() -> Iterator[Row]:
    """CPU seconds by stage of a finished run of the workflow, in the folder that --run names."""
    yield from in_own_process("overhead.py", os.environ["BENCH_RUN"])


def dask() -> Iterator[Row]:
    """FSC in memory, in files and on Dask workers, beside scikit-learn's clusterers, by the wall clock."""
    yield from in_own_process("clusters.py")


def jobs() -> Iterator[Row]:
    """What jobs of the workflow cost beside their algorithms, with and without the server of the run."""
    yield from in_own_process("jobs.py")


def automatic() -> Iterator[Row]:
    """Parameters that estimators choose, beside tuned ones."""
    yield from in_own_process("automatic.py")


# Name -> function; each part runs in a process of its own.
PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    part.__name__: part
    for part in (
        *(lasso, threads, omp, kmedoids, kmeans, farthest_first, admm),
        *(stages, methods, estimators, dask, jobs, automatic),
        overhead,
    )
}

if __name__ == "__main__":
    # Peers warn about convergence; the quality of their results is measured instead.
    warnings.simplefilter("ignore")
    name, *arguments = sys.argv[1:]
    print(json.dumps(list({**PARTS, "one_method": one_method}[name](*arguments))))
