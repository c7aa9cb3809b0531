"""Write the report of a run: one HTML file that needs no other."""

import argparse
import json
from pathlib import Path

from lssc.errors import exit_with_message
from lssc.pipeline.store.files import read_text, write_text
from lssc.report.page import page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=Path, required=True, help="claims with their verdicts, as JSON")
    parser.add_argument("--findings", type=Path, required=True, help="the findings as CSV; the report links to it")
    parser.add_argument("--experiments", type=Path, nargs="+", required=True, help="folders of the experiments run")
    parser.add_argument("--earlier", type=Path, nargs="*", default=[], help="folders of experiments of earlier runs")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    with exit_with_message(args.out):
        claims = json.loads(read_text(args.claims))
        files = [args.claims, args.findings]
        write_text(args.out, page(args.out, claims, files, args.experiments, args.earlier))


if __name__ == "__main__":
    main()
