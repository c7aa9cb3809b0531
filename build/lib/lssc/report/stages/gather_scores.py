"""Collect the scores of an experiment into one table, and record the software, machine and config that made them."""

import argparse
import json
from pathlib import Path

from lssc.errors import exit_with_message
from lssc.pipeline.store.files import read_text, write_text
from lssc.report.provenance import provenance
from lssc.report.tables import as_csv, score_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--description", type=Path, required=True, help="the experiment's config and runs, as JSON")
    parser.add_argument("--sources", type=Path, nargs="*", default=[], help="JSON files on where images came from")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--provenance", type=Path, required=True)
    args = parser.parse_args()
    with exit_with_message(args.out):
        description = json.loads(read_text(args.description))
        sources = {path.parent.name: json.loads(read_text(path)) for path in args.sources}
        write_text(args.out, as_csv(list(score_rows(description["experiment"], description["runs"]))))
        write_text(args.provenance, json.dumps(provenance(description["config"], sources), indent=2) + "\n")


if __name__ == "__main__":
    main()
