"""FSC on points in a file: in memory, out of memory and on Dask, beside clusterers of scikit-learn; wall seconds.

`python benchmarks/clusters.py` prints the rows of the part `dask`. Each run has a process of its own. Points are in a
Zarr array in single precision, on a disk that is warm: the file has just been written.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measure import N_CLUSTERS, Row, in_own_process, row, sized  # isort: skip  (pins BLAS threads)
import numpy as np

from lssc.linalg.scaling import unit_rows
from lssc.metrics import scores
from lssc.parts.seeding import rng_for

SIZES = sized((100_000, 1_000_000, 10_000_000), (2_000, 4_000))
# Points of the run that holds neither points nor codes in memory; only where BENCH_HUGE names them.
HUGE = int(os.environ.get("BENCH_HUGE", "0"))
M, DIM, SUBSPACE_DIM, NOISE = sized(300, 30), 16, 6, 0.1
ROWS_PER_CHUNK = sized(2**16, 500)
# Seconds after which a run is stopped.
MAX_SECONDS = sized(120.0, 60.0)
STOPPED = f"stopped after {MAX_SECONDS:g} s"
# Seconds between two looks at the memory of all processes of a run.
MEMORY_SECONDS = 0.2


def main() -> list[Row]:
    rows: list[Row] = []
    for n in (*SIZES, *([HUGE] if HUGE else [])):
        with tempfile.TemporaryDirectory() as folder:
            in_own_process("clusters.py", "write", folder, str(n))
            for way in ["FSC, codes in files"] if n == HUGE else WAYS:
                found = in_own_process("clusters.py", way, folder, str(n), timeout=None if n == HUGE else MAX_SECONDS)
                print(f"  {way}, n={n:,}: {'stopped' if found is None else 'done'}", file=sys.stderr, flush=True)
                rows += found or [row(f"n{n}", way, "seconds", np.nan, n=n, size=_size(n), note=STOPPED)]
    return rows


def _size(n: int) -> str:
    return f"n={n:,}, D={DIM}, m={M}, λ=10, two cores"


def write(folder: str, n: str) -> list[Row]:
    """Points of the paper's model, block by block in random order of the subspaces, and their labels."""
    import zarr

    rng = rng_for(0, "clusters")
    basis, _ = np.linalg.qr(rng.standard_normal((DIM, DIM)))
    H = np.stack([basis[:, rng.choice(DIM, SUBSPACE_DIM, replace=False)] for _ in range(N_CLUSTERS)])
    sizes = {"shape": (int(n), DIM), "chunks": (ROWS_PER_CHUNK, DIM), "dtype": "float32"}
    X, labels = zarr.open(f"{folder}/x.zarr", mode="w", **sizes), np.empty(int(n), dtype=np.int8)
    for start in range(0, int(n), ROWS_PER_CHUNK):
        k = rng.integers(N_CLUSTERS, size=min(ROWS_PER_CHUNK, int(n) - start))
        z = rng.standard_normal((len(k), SUBSPACE_DIM))
        block = (H[k] @ z[:, :, None])[:, :, 0] + NOISE * rng.standard_normal((len(k), DIM))
        X[start : start + len(k)], labels[start : start + len(k)] = unit_rows(block), k
    np.save(f"{folder}/labels.npy", labels)
    return []


def _fsc(**more: Any) -> Any:
    from lssc import FSC

    return FSC(N_CLUSTERS, n_landmarks=M, lam=10.0, keep_codes=False, random_state=0, **more)


def _stored(folder: str) -> Any:
    import zarr

    return zarr.open(f"{folder}/x.zarr", mode="r")


def _in_memory(folder: str, threads: int) -> Callable[[], np.ndarray]:
    X = _stored(folder)[:]
    return lambda: _fsc(n_jobs=threads).fit(X).labels_


def _in_files(folder: str) -> Callable[[], np.ndarray]:
    return lambda: _fsc(n_jobs=2, spill=f"{folder}/spilled").fit(_stored(folder)).labels_


def _on_dask(folder: str, workers: int) -> Callable[[], np.ndarray]:
    import dask.array as da
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1")
    Client(cluster)
    _fsc().set_params(n_landmarks=30).fit(da.from_zarr(f"{folder}/x.zarr")[:1000])
    return lambda: _fsc().fit(da.from_zarr(f"{folder}/x.zarr")).labels_.compute()


def _sklearn(folder: str, kind: str) -> Callable[[], np.ndarray]:
    import sklearn.cluster

    X, model = _stored(folder)[:], getattr(sklearn.cluster, kind)(N_CLUSTERS, n_init=10, random_state=0)
    return lambda: model.fit(X).labels_


def _dask_ml(folder: str) -> Callable[[], np.ndarray]:
    command = [os.environ["BENCH_DASK_ML"], str(Path(__file__).parent / "dask_ml_peer.py"), folder, str(N_CLUSTERS)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    peer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)
    assert peer.stdout
    if peer.stdout.readline() != "ready\n":
        sys.exit("dask-ml does not start")

    def labels() -> np.ndarray:
        peer.communicate("begin\n")
        return np.load(f"{folder}/dask_ml.npy")

    return labels


# What is measured -> the function that gives labels, when all is imported and started.
WAYS: dict[str, Callable[[str], Callable[[], np.ndarray]]] = {
    "FSC, 1 thread": lambda folder: _in_memory(folder, 1),
    "FSC, 2 threads": lambda folder: _in_memory(folder, 2),
    "FSC, codes in files": _in_files,
    "FSC, 1 Dask worker": lambda folder: _on_dask(folder, 1),
    "FSC, 2 Dask workers": lambda folder: _on_dask(folder, 2),
    "scikit-learn, KMeans": lambda folder: _sklearn(folder, "KMeans"),
    "scikit-learn, MiniBatchKMeans": lambda folder: _sklearn(folder, "MiniBatchKMeans"),
    # Its packages are not ours: BENCH_DASK_ML names the Python of an environment that has them.
    **({"dask-ml, SpectralClustering": _dask_ml} if "BENCH_DASK_ML" in os.environ else {}),
}


def measured(way: str, folder: str, n: str) -> Iterator[Row]:
    """One run after imports, compilation and the start of workers; memory is that of all its processes."""
    _fsc().fit(np.random.default_rng(0).standard_normal((1000, DIM)))
    cluster, (peak, ended) = WAYS[way](folder), _watch_memory()
    start = time.perf_counter()
    labels = cluster()
    seconds = time.perf_counter() - start
    ended.set()
    accuracy = scores(np.load(f"{folder}/labels.npy"), labels)["accuracy"]
    for quantity, value in {"seconds": seconds, "accuracy": accuracy, "peak_mb": peak[0] / 2**20}.items():
        yield row(f"n{n}", way, quantity, value, n=int(n), size=_size(int(n)))


def _watch_memory() -> tuple[list[float], threading.Event]:
    """The largest sum of the memory of this process and its children, until the event."""
    import psutil

    peak, ended, own = [0.0], threading.Event(), psutil.Process()

    def watch() -> None:
        over = False
        while not over:
            over, total = ended.wait(MEMORY_SECONDS), 0.0
            for process in (own, *own.children(recursive=True)):
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            peak[0] = max(peak[0], total)

    threading.Thread(target=watch, daemon=True).start()
    return peak, ended


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments:
        print(json.dumps(main()))
    elif arguments[0] == "write":
        print(json.dumps(write(*arguments[1:])))
    else:
        print(json.dumps(list(measured(*arguments))))
    # Workers that are still up would keep the interpreter.
    sys.stdout.flush()
    os._exit(0)
