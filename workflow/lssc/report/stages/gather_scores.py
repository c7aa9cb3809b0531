"""Collect the scores of an experiment into one table, with a record of what made it."""

import argparse
import json
from pathlib import Path

from lssc.errors import telling
from lssc.pipeline.store.files import read_text, write_text
from lssc.pipeline.study.load import load
from lssc.report.provenance import provenance
from lssc.report.tables import as_csv, score_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=json.loads, required=True, help="the config as JSON, as Snakemake prints it")
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--sources", type=Path, nargs="*", default=[], help="where image collections came from")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--provenance", type=Path, required=True)
    args = parser.parse_args()
    with telling(args.out):
        sources = {path.parent.name: json.loads(read_text(path)) for path in args.sources}
        write_text(args.out, as_csv(list(score_rows(load(args.config), args.experiment))))
        write_text(args.provenance, json.dumps(provenance(args.config, sources), indent=2) + "\n")


if __name__ == "__main__":
    main()
