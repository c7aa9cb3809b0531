"""Write the labels of a finished run as CSV files: trial, row and label."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", help="an experiment of the last run, such as landmarks")
    parser.add_argument("methods", nargs="*", help="its methods; all if none is named")
    parser.add_argument("--results", type=Path, default=Path("results"), help="the results folder (default: results)")
    parser.add_argument("--out", type=Path, help="folder of the CSV files (default: labels in the experiment's folder)")


def run(args: argparse.Namespace) -> None:
    # Reading artifacts needs the pipeline's packages, which `lssc --help` does not.
    from lssc.report.labels import write_labels

    for path in write_labels(args.results, args.experiment, args.methods, args.out):
        print(path)
