"""Draw one figure of an experiment, and write the numbers it shows beside it."""

import argparse
import json
from pathlib import Path

import pandas as pd

from lssc.artifacts import write_text
from lssc.plotting import curves, plot_curves, save, summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--figure", type=json.loads, required=True, help="JSON, as Snakemake prints it")
    for name in ("pdf", "png", "table"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    args = parser.parse_args()
    scores = pd.read_csv(args.scores)
    save(plot_curves(scores, args.figure), args.pdf, args.png)
    table = summary(curves(scores, args.figure), args.figure)
    write_text(args.table, table.to_csv(index=False, float_format="%.6g"))


if __name__ == "__main__":
    main()
