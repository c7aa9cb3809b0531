"""What the workflow costs beside the work: a real run of `landmarks` with 4 trials, without SSC-ADMM.

`python benchmarks/overhead.py` runs it in a temporary folder on two cores and prints one JSON object.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from lssc.artifacts import reading

REPO = Path(__file__).parents[1]
CORES = 2
METHODS = ["fsc_uniform", "fsc_nonuniform", "esc", "ssc_omp", "ssc_admm_modified", "ssc_lasso"]


def run(folder: Path) -> float:
    config = {"run": ["landmarks"], "experiments": {"landmarks": {"trials": 4, "methods": METHODS}}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPO / "Snakefile"), "--directory", str(folder)]
    options = ["--configfile", str(folder / "config.yaml"), "--cores", str(CORES)]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    start = time.perf_counter()
    subprocess.run(command + options, check=True, env=environment, stdout=sys.stderr)
    return time.perf_counter() - start


def stage_seconds(folder: Path) -> float:
    """CPU seconds of every stage that ran, each artifact counted once."""
    total = 0.0
    for path in folder.glob("results/synthetic*/**/*.h5"):
        with reading(path) as file:
            total += sum(file.facts(trial).get("cpu_seconds", 0.0) for trial in file.trials)
    return total


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        wall = run(Path(name))
        work = stage_seconds(Path(name))
    spent, allowed = wall * CORES, 1.5 * work + 60
    detail = f"{wall:.0f} s on {CORES} cores for {work:.0f} CPU s of stages"
    what = "Workflow overhead: wall x cores over (1.5 x stages' CPU seconds + 60 s)"
    print(json.dumps({"what": what, "value": spent / allowed, "limit": 1, "unit": "times", "detail": detail}))


if __name__ == "__main__":
    main()
