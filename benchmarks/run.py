"""Run every benchmark, one after the other, and write docs/benchmarks.md: what was measured, where, and the bound."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from cases import CASES
from lssc.provenance import provenance

HERE = Path(__file__).parent
HEAD = """# Benchmarks

Made by `make bench`, which measures again and rewrites this page. Work is on one thread, CPU seconds are
the least of several repeats (modified ADMM runs once), ratios have both sides in one process; the workflow's overhead
is one run on two cores. A bound is what the project promises.

| what | measured | bound | |
|---|---|---|---|
"""


def measure(*command: str) -> dict:
    print("benchmark:", " ".join(command), file=sys.stderr)
    done = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def row(result: dict) -> str:
    unit = f" {result['unit']}" if result["unit"] else ""
    held = "" if result["value"] <= result["limit"] else " **exceeded**"
    return f"| {result['what']} | {result['value']:.3g}{unit} | {result['limit']:g}{unit}{held} | {result['detail']} |"


def main() -> None:
    results = [measure(str(HERE / "cases.py"), case) for case in CASES]
    results.append(measure(str(HERE / "overhead.py")))
    made = provenance({})
    machine = made["machine"]
    foot = f"\nMachine: {machine['processor']}, {machine['cores']} cores. " + ", ".join(
        f"{name} {version}" for name, version in {"Python": made["python"], **made["packages"]}.items()
    )
    (HERE.parent / "docs" / "benchmarks.md").write_text(HEAD + "\n".join(map(row, results)) + "\n" + foot + ".\n")
    sys.exit(any(result["value"] > result["limit"] for result in results))


if __name__ == "__main__":
    main()
