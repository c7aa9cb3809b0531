"""CPU seconds by stage of a run of the workflow, and the overhead beside them.

`python benchmarks/overhead.py FOLDER` reads the last run in a working folder, which must have started without results,
and prints rows as JSON.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path

from lssc.pipeline.store.artifacts import reading
from measure import row

STAGES = {
    "data": "drawing points",
    "landmarks": "landmarks",
    "codes": "coding",
    "embedding": "embedding",
    "labels": "K-means",
    "scores": "scoring",
}


def last_run(folder: Path) -> tuple[float, int]:
    """Wall seconds and cores, from Snakemake's log."""
    log = max((folder / ".snakemake/log").glob("*.snakemake.log"))
    start = datetime.strptime(log.name.removesuffix(".snakemake.log"), "%Y-%m-%dT%H%M%S.%f")
    cores = int(re.search(r"Provided cores: (\d+)", log.read_text())[1])
    return log.stat().st_mtime - start.timestamp(), cores


def stage_seconds(folder: Path) -> Counter[str]:
    """CPU seconds by stage, each artifact counted once."""
    total: Counter[str] = Counter()
    for path in folder.glob("results/synthetic*/**/*.h5"):
        with reading(path) as file:
            total[path.stem] += sum(file.facts(trial).get("cpu_seconds", 0.0) for trial in file.trials)
    return total


def main() -> None:
    folder = Path(sys.argv[1])
    wall, cores = last_run(folder)
    seconds = stage_seconds(folder)
    experiments = sorted(path.name for path in folder.glob("results/experiments/*"))
    size, work, peer = " and ".join(experiments), sum(seconds.values()), f"{cores} cores"
    rows = [
        row("run", peer, "seconds", wall, n=0, size=size),
        row("run", peer, "stage_cpu_seconds", work, n=0, size=size),
        row("run", peer, "core_seconds_over_work", wall * cores / work, n=0, size=size),
    ]
    for stage, name in STAGES.items():
        note = f"{seconds[stage] / work:.1%} of all"
        rows.append(row("stages", name, "cpu_seconds", seconds[stage], n=0, size=size, note=note))
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
