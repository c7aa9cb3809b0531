"""What the workflow costs beside the work: a real run of the methods of both synthetic experiments on two cores.

`python benchmarks/overhead.py` runs it in a temporary folder and prints rows as JSON. SSC-ADMM, whose minutes would
hide any overhead, is left out.
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
from measure import row, sized

REPO = Path(__file__).parents[1]
CORES = 2
METHODS = ["fsc_uniform", "fsc_nonuniform", "esc", "ssc_omp", "ssc_admm_modified", "fsc_fasterpam", "ssc_lasso"]
GRIDS = sized(
    {"landmarks": {"trials": 5}, "points": {"trials": 5, "n": [3000, 6000]}},
    {"landmarks": {"trials": 2, "n": [300], "m": [30]}, "points": {"trials": 2, "n": [300, 600], "m": [30]}},
)


def run(folder: Path) -> float:
    """Wall seconds of the whole run."""
    experiments = {name: {**grid, "methods": METHODS} for name, grid in GRIDS.items()}
    (folder / "config.yaml").write_text(yaml.safe_dump({"run": list(experiments), "experiments": experiments}))
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
    size = "; ".join(f"{name} with {', '.join(f'{k}={v}' for k, v in grid.items())}" for name, grid in GRIDS.items())
    found = {"seconds": wall, "stage_cpu_seconds": work, "core_seconds_over_work": wall * CORES / work}
    print(json.dumps([row("run", f"{CORES} cores", key, value, n=0, size=size) for key, value in found.items()]))


if __name__ == "__main__":
    main()
