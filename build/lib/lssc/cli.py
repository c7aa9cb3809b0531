"""The command `lssc`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lssc.errors import ConfigError, DamagedArtifact, InputError


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="lssc", description="Large-scale sparse subspace clustering.")
    commands = parser.add_subparsers(dest="command", required=True)
    labels = commands.add_parser("labels", help="write the labels of a finished run as CSV files")
    labels.add_argument("experiment", help="an experiment of the last run, such as landmarks")
    labels.add_argument("methods", nargs="*", help="its methods; all if none is named")
    labels.add_argument("--results", type=Path, default=Path("results"), help="the results folder (default: results)")
    labels.add_argument("--out", type=Path, help="folder of the CSV files (default: labels in the experiment's folder)")
    args = parser.parse_args(arguments)
    try:
        # Reading artifacts needs the pipeline's packages, which `lssc --help` does not.
        from lssc.report.labels import write_labels

        for path in write_labels(args.results, args.experiment, args.methods, args.out):
            print(path)
    except ModuleNotFoundError as error:
        sys.exit(f"lssc {args.command} needs the package {error.name!r}; install it with: pip install 'lssc[pipeline]'")
    except (ConfigError, DamagedArtifact, InputError, OSError) as error:
        sys.exit(f"lssc {args.command}: {error}")


if __name__ == "__main__":
    main()
