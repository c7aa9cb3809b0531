"""FSC as users call it: what `fit` adds to its parts, and accuracy, time and memory beside other clusterers.

`python benchmarks/estimators.py one_estimator DATA PEER` measures one of them in a process of its own.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

import numpy as np

from digits import MISSING, digits
from lssc.metrics import scores
from lssc.parts.peers import FEW
from lssc.parts.registry import find
from lssc.parts.seeding import rng_for
from lssc.pipeline.timing import timed
from lssc.types import Clusters
from measure import N_CLUSTERS, Clock, Row, in_own_process, in_turn, points, row, sized
from peers import LAM, fsc_uniform

M = sized(300, 30)
# n of the overhead, with the repeats of each.
OVERHEAD = sized({15_000: 25, 60_000: 9}, {300: 2})
SYNTHETIC = sized((3_600, 15_000), (300,))
# Wall seconds after which a clusterer is stopped, and after which it is not run again.
MAX_SECONDS, ENOUGH_SECONDS = 300.0, 10.0
MAX_RUNS = sized(5, 1)


def fsc(X: np.ndarray, K: int, m: int, lam: float, seed: int) -> np.ndarray:
    from lssc import FSC

    return FSC(K, n_landmarks=m, lam=lam, random_state=seed).fit_predict(X)


def spectral(X: np.ndarray, K: int, m: int, lam: float, seed: int) -> np.ndarray:
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(K, affinity="nearest_neighbors", random_state=seed).fit_predict(X)


def kmeans(X: np.ndarray, K: int, m: int, lam: float, seed: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(K, n_init=10, random_state=seed).fit_predict(X)


def umap_hdbscan(X: np.ndarray, K: int, m: int, lam: float, seed: int) -> np.ndarray:
    return umap_clusters(X, K, seed).labels


def umap_clusters(X: np.ndarray, K: int, seed: int) -> Clusters:
    part = find("method", "umap_hdbscan")
    return part(X, n_clusters=K, rng=rng_for(seed, "method", part.name))


PEERS: dict[str, Callable[..., np.ndarray]] = {
    "FSC": fsc,
    "SpectralClustering (scikit-learn)": spectral,
    "KMeans (scikit-learn)": kmeans,
    "UMAP + HDBSCAN": umap_hdbscan,
}


def estimators() -> Iterator[Row]:
    # This process stays small: the peak memory that a process reports is not below that of the one that started it.
    yield from in_own_process("estimators.py", "overhead")
    for data in (*map(str, SYNTHETIC), "digits"):
        if data == "digits" and not in_own_process("estimators.py", "has_digits")[0]:
            yield row("digits", "FSC", "cpu_seconds", np.nan, n=0, size="MNIST scattering features", note=MISSING)
            return
        for peer in PEERS:
            rows = in_own_process("estimators.py", "one_estimator", data, peer, timeout=MAX_SECONDS)
            print(f"  {peer}, {data}: {'stopped' if rows is None else 'done'}", file=sys.stderr)
            n = int(data) if data.isdigit() else 8000
            yield from rows or [row(data, peer, "cpu_seconds", np.nan, n=n, note=f"stopped after {MAX_SECONDS:g} s")]


def has_digits() -> Iterator[bool]:
    yield digits() is not None


def overhead() -> Iterator[Row]:
    """`FSC.fit`, which also checks the points and scales them, and the sum of its parts on the scaled points."""
    from lssc import FSC

    for n, repeats in OVERHEAD.items():
        X, _ = points(n)
        model = FSC(N_CLUSTERS, n_landmarks=M, lam=LAM, random_state=0)
        functions = {
            "sum of its parts": lambda X=X: fsc_uniform(X, M, 0, Clock()),
            "FSC.fit": lambda X=X, model=model: model.fit(X),
        }
        for name, seconds in in_turn(functions, repeats).items():
            yield row(f"overhead{n}", name, "cpu_seconds", seconds, n=n, size=f"D=16, n={n:,}, m={M}, λ={LAM:g}")


def one_estimator(data: str, peer: str) -> Iterator[Row]:
    """Runs with different random choices; memory is that of the process after the first."""
    X, truth, setting, size = load_points(data)
    # Compiles what a call on all points needs: the search for neighbours of many points, too.
    PEERS[peer](X[:: max(1, len(X) // (FEW + 500))], **setting, seed=0)
    wall, cpu, accuracies, peak = [], [], [], 0.0
    while len(wall) < MAX_RUNS and sum(wall) < ENOUGH_SECONDS:
        start = time.perf_counter()
        predicted, spent = timed(PEERS[peer], X, **setting, seed=len(wall))
        wall.append(time.perf_counter() - start)
        cpu.append(spent["cpu_seconds"])
        peak = peak or spent["peak_mb"]
        accuracies.append(scores(truth, predicted)["accuracy"])
    note = _umap_note(X, setting["K"]) if peer == "UMAP + HDBSCAN" else ""
    quantities = {"accuracy": accuracies, "cpu_seconds": cpu, "seconds": wall, "peak_mb": peak}
    for quantity, values in quantities.items():
        yield row(data, peer, quantity, values, n=len(X), size=size, note=note)


def _umap_note(X: np.ndarray, K: int) -> str:
    """What HDBSCAN found in the first run; its noise joins the nearest cluster."""
    info = umap_clusters(X, K, seed=0).info
    noise = f"{info['n_noise'] / len(X):.0%} of the points noise at first"
    return f"umap-learn {metadata.version('umap-learn')}; {info['n_found']} clusters, {noise}"


def load_points(data: str) -> tuple[np.ndarray, np.ndarray, dict[str, Any], str]:
    """Points at unit norm, their classes, the parameters of the methods, and the case in words."""
    if data == "digits":
        X, truth = digits()
        K, m, lam, name = len(np.unique(truth)), sized(500, 30), 5.0, "MNIST scattering features"
    else:
        X, truth = points(int(data))
        K, m, lam, name = N_CLUSTERS, M, LAM, "synthetic points"
    size = f"{name}, D={X.shape[1]}, n={len(X):,}, K={K}; FSC with m={m}, λ={lam:g}"
    return X, truth, {"K": K, "m": m, "lam": lam}, size


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    name, *arguments = sys.argv[1:]
    steps = {step.__name__: step for step in (overhead, has_digits, one_estimator)}
    print(json.dumps(list(steps[name](*arguments))))
