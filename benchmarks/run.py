"""Measure, part by part, keep every part's rows as a CSV of its own, and write the page from all that are kept.

`python benchmarks/run.py --only lasso stages` measures these parts again and leaves the others as they are.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from pathlib import Path

from lssc.report.provenance import provenance

REPO = Path(__file__).parents[1]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="PART", help="measure these parts alone")
    parser.add_argument("--small", action="store_true", help="sizes of seconds, into results/benchmarks")
    parser.add_argument("--mnist", type=Path, help="a data.h5 of the pipeline with features of digits")
    parser.add_argument("--run", type=Path, help="a folder in which a run of both synthetic experiments ended")
    parser.add_argument("--into", type=Path, help="the folder of the page, instead of docs")
    return parser.parse_args()


def measure(part: str, kept: Path) -> None:
    """Measure a part in a process of its own; its rows replace the ones kept."""
    from measure import COLUMNS, in_own_process

    print(f"benchmark: {part}", file=sys.stderr)
    start = time.perf_counter()
    rows = in_own_process("cases.py", part)
    seconds = time.perf_counter() - start
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / f"{part}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({"part": part, **row} for row in rows)
    notes = kept / "made.json"
    made = json.loads(notes.read_text()) if notes.exists() else {}
    made[part] = {"seconds": round(seconds, 1), "with": origin()}
    notes.write_text(json.dumps(made, indent=2) + "\n")


def origin() -> str:
    """The machine and the versions, in a line."""
    made = provenance({}, {})
    versions = {"lssc": made["commit"], "Python": made["python"], **made["packages"]}
    machine = f"{made['machine']['processor']}, {made['machine']['cores']} cores"
    return f"{machine}; " + ", ".join(f"{name} {version}" for name, version in versions.items())


def main() -> None:
    options = arguments()
    if options.small:
        os.environ["BENCH"] = "small"
    if options.mnist:
        os.environ["BENCH_MNIST"] = str(options.mnist.resolve())
    if options.run:
        os.environ["BENCH_RUN"] = str(options.run.resolve())
    # Only now: sizes follow from the environment.
    from cases import PARTS
    from page import write_page

    unknown = set(options.only or ()) - set(PARTS)
    if unknown:
        sys.exit(f"unknown part {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    folder = options.into or (REPO / "results" / "benchmarks" if options.small else REPO / "docs")
    for part in options.only or [part for part in PARTS if part != "overhead" or options.run]:
        measure(part, folder / "results" / "benchmarks")
    broken = write_page(folder)
    print(f"{folder / 'benchmarks.md'}: {len(broken)} bounds do not hold", *broken, sep="\n  ", file=sys.stderr)
    sys.exit(bool(broken) and not options.small)


if __name__ == "__main__":
    main()
