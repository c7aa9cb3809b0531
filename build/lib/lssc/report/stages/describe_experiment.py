"""Describe an experiment for the stages that follow: its config, its runs with their score files, its outline."""

import argparse
import json
from pathlib import Path

from lssc.errors import exit_with_message
from lssc.pipeline.store.files import write_text
from lssc.pipeline.study.load import load
from lssc.pipeline.study.recipes import fragment
from lssc.report.outline import outline, runs_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=json.loads, required=True, help="JSON: a config with the experiment")
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    with exit_with_message(args.out):
        study, id = load(args.config), args.experiment
        parts = {"config": json.loads(fragment(study, id)), "runs": runs_of(study, id), "outline": outline(study, id)}
        write_text(args.out, json.dumps({"experiment": id, **parts}, indent=1) + "\n")


if __name__ == "__main__":
    main()
