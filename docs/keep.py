"""Copy tables and figures of a finished run into docs: `python docs/keep.py results`, then `make docs`.

Tables and provenance go to docs/results, figures as PNG to docs/figures. Sweeps keep means, not single trials.
"""

import json
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent
# Largest file that goes into git, in bytes; `make lint` enforces the same limit.
MAX_BYTES = 1_000_000


def keep(results: Path) -> None:
    for experiment in sorted((results / "experiments").iterdir()):
        tables, figures = DOCS / "results" / experiment.name, DOCS / "figures" / experiment.name
        for stale in (tables, figures):
            shutil.rmtree(stale, ignore_errors=True)
        sweep = (experiment / "sweep.csv").exists()
        copy(tables, [experiment / name for name in ("provenance.json", "agreement.csv")])
        if sweep:
            copy(tables, [experiment / name for name in ("sweep.csv", "best.csv")])
            shutil.copyfile(experiment / "sweep.png", figures.with_suffix(".png"))
        else:
            copy(tables, [experiment / "scores.csv", *experiment.glob("figures/*.csv")])
            copy(figures, [*experiment.glob("figures/*.png"), *experiment.glob("pictures/*.png")])
    # A run that judges no claim, such as the leaderboard's, leaves the paper's verdicts as they are.
    if any(claim["verdict"] != "not run" for claim in json.loads((results / "claims.json").read_text())):
        copy(DOCS / "results", [results / name for name in ("claims.json", "claims.csv")])


def copy(folder: Path, files: list[Path]) -> None:
    """Copy the files that exist and are small enough for git."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        if file.exists() and file.stat().st_size <= MAX_BYTES:
            shutil.copyfile(file, folder / file.name)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
