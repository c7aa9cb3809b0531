"""What a job costs beside its algorithm: the same trials by jobs that a server forks, and by jobs that start Python.

`python benchmarks/jobs.py` runs a small experiment both ways and prints rows as JSON. Each trial has a job of its own
for each stage. Cost is the CPU seconds of all processes but Snakemake's own, less those of the algorithms, by job.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from lssc.pipeline.server.client import OFF, VARIABLE
from lssc.pipeline.store.artifacts import reading
from measure import Row, row, sized

REPO = Path(__file__).parents[1]
N, M, TRIALS = sized(3_600, 200), sized(300, 20), sized(20, 2)
STAGES = {"codes": "coding", "embedding": "embedding", "labels": "K-means"}
EXPERIMENT = {
    "title": "jobs",
    "dataset": "synthetic",
    "stream": "jobs",
    "n": [N],
    "m": [M],
    "trials": TRIALS,
    "block": 1,
}
CONFIG = {"run": ["jobs"], "experiments": {"jobs": {**EXPERIMENT, "methods": ["fsc_uniform"]}}}
TARGET = "results/experiments/jobs/scores.csv"
WAYS = {"forked by the server": True, "started as a program": False}
# Snakemake; then the CPU seconds of itself and of all others. Processes that outlive the server become its own.
RUN = """
import contextlib, ctypes, json, os, resource, sys
from snakemake.cli import main

def cpu_seconds(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
report, *arguments = sys.argv[1:]
try:
    main(arguments)
except SystemExit as end:
    assert not end.code, end.code
with contextlib.suppress(ChildProcessError):
    while True:
        os.wait()
used = {"own": cpu_seconds(resource.RUSAGE_SELF), "others": cpu_seconds(resource.RUSAGE_CHILDREN)}
json.dump(used, open(report, "w"))
"""


def run(folder: Path, *, served: bool) -> dict[str, Any]:
    """Run the experiment: wall seconds, CPU seconds, and by stage the times, memory and labels of its trials."""
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    options = ["--directory", str(folder), "--configfile", str(folder / "config.yaml"), "--cores", "1", TARGET]
    command = [sys.executable, "-c", RUN, str(folder / "cpu.json")]
    start = time.perf_counter()
    # The folder of this script is not on the path of the jobs.
    environment = {**os.environ, "PYTHONSAFEPATH": "1", **({} if served else {VARIABLE: OFF})}
    done = subprocess.run(
        [*command, "--snakefile", str(REPO / "Snakefile"), *options],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = {"wall": time.perf_counter() - start, **json.loads((folder / "cpu.json").read_text())}
    found["algorithms"] = 0.0
    for path in sorted(folder.glob("results/synthetic*/**/*.h5")):
        with reading(path) as file:
            for trial in file.trials:
                facts = file.facts(trial)
                found["algorithms"] += facts.get("cpu_seconds", 0.0)
                found.setdefault(path.stem, []).append(facts)
                if path.stem == "labels":
                    found.setdefault("arrays", []).append(file.array(trial, "labels"))
    found["jobs"] = sum(len(found.get(stage, ())) for stage in ("data", "landmarks", *STAGES, "scores"))
    return found


def main() -> list[Row]:
    size, rows = f"n={N:,}, m={M}, {TRIALS} trials of FSC-uniform, one core", []
    with tempfile.TemporaryDirectory() as folder:
        # The first run is not measured: it compiles, and warms the disk.
        run(Path(folder) / "first", served=True)
        found = {name: run(Path(folder) / name, served=served) for name, served in WAYS.items()}
    labels = [found[name]["arrays"] for name in WAYS]
    for name, way in found.items():
        cost = (way["others"] - way["algorithms"]) / way["jobs"]
        same = np.mean([np.array_equal(one, other) for one, other in zip(labels[0], way["arrays"], strict=True)])
        medians = {title: np.median([facts["cpu_seconds"] for facts in way[stage]]) for stage, title in STAGES.items()}
        medians["peak_mb"] = np.median([facts["peak_mb"] for facts in way["codes"]])
        for quantity, value in {"seconds": way["wall"], "job_cost": cost, **medians, "same_labels": same}.items():
            rows.append(row("jobs", name, quantity, float(value), n=N, size=size, note=f"{way['jobs']} jobs"))
    return rows


if __name__ == "__main__":
    print(json.dumps(main()))
