"""Judge every claim of the paper by the tables of a study."""

import argparse
import csv
import io
import json
import sys
from pathlib import Path

from lssc.errors import telling
from lssc.paper.claims import judged
from lssc.pipeline.store.files import read_text, write_text
from lssc.report.tables import as_csv


def read(paths: list[Path]) -> dict[str, list[dict[str, str]]]:
    """Experiment -> rows of its table, which lies in a folder of its name."""
    return {path.parent.name: list(csv.DictReader(io.StringIO(read_text(path), newline=""))) for path in paths}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, nargs="*", default=[])
    parser.add_argument("--agreement", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True, help="claims, verdicts and findings as JSON")
    parser.add_argument("--table", type=Path, required=True, help="the findings alone as CSV")
    args = parser.parse_args()
    with telling(args.out):
        claims = judged(read(args.scores), read(args.agreement))
        rows = [{"claim": claim["id"], "verdict": claim["verdict"], **f} for claim in claims for f in claim["findings"]]
        write_text(args.out, json.dumps(claims, indent=1, allow_nan=False) + "\n")
        write_text(args.table, as_csv(rows) if rows else "claim,verdict\n")
    counts = {verdict: sum(c["verdict"] == verdict for c in claims) for verdict in {c["verdict"] for c in claims}}
    # The log tells the outcome.
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())), file=sys.stderr)


if __name__ == "__main__":
    main()
