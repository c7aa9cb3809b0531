"""Measures each part, keeps its rows in a CSV file of its own, and writes the page from all kept rows.

`python benchmarks/run.py --only lasso stages` measures these parts again and keeps the others.
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
    parser.add_argument("--only", nargs="+", metavar="PART", help="measure only these parts")
    parser.add_argument("--small", action="store_true", help="small sizes, seconds in all, into results/benchmarks")
    parser.add_argument("--mnist", type=Path, help="a data.h5 of the pipeline with features of digits")
    parser.add_argument("--run", type=Path, help="working folder of a finished run of landmarks and points")
    parser.add_argument("--images", type=Path, help="results of a finished run of benchmarks/images.yaml")
    parser.add_argument("--all-images", type=Path, help="results of a finished run of mnist_all and fashion_all")
    parser.add_argument("--into", type=Path, help="folder of the page (default: docs)")
    return parser.parse_args()


def measure(part: str, kept: Path) -> None:
    """Measure a part in a process of its own; its rows replace the kept ones."""
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
    """Machine and versions in one line."""
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
    if options.images:
        os.environ["BENCH_IMAGES"] = str(options.images.resolve())
    if options.all_images:
        os.environ["BENCH_ALL_IMAGES"] = str(options.all_images.resolve())
    # Imported late: their sizes depend on the environment variables set above.
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
