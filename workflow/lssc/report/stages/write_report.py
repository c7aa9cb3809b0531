"""Write the report of a run: one HTML file that needs no other."""

import argparse
import json
from pathlib import Path

from lssc.errors import telling
from lssc.pipeline.store.files import read_text, write_text
from lssc.pipeline.study.load import load
from lssc.report.page import page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=json.loads, required=True, help="the config as JSON, as Snakemake prints it")
    parser.add_argument("--claims", type=Path, required=True, help="what became of the paper's claims")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    with telling(args.out):
        claims = json.loads(read_text(args.claims))
        write_text(args.out, page(load(args.config), claims))


if __name__ == "__main__":
    main()
