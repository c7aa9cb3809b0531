"""Choose the best setting of each method in a sweep, and draw the accuracy of all settings."""

import argparse
import json
from pathlib import Path

import pandas as pd

from lssc.errors import exit_with_message
from lssc.pipeline.store.files import write_text
from lssc.report.style import read_scores, save
from lssc.report.sweep_figure import plot_sweep
from lssc.report.sweeps import best_settings, sweep_table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument(
        "--held",
        type=json.loads,
        required=True,
        help="JSON: method -> parameters not to choose",
    )
    parser.add_argument("--datasets", type=json.loads, required=True, help="JSON: dataset -> its name in the legend")
    for name in ("table", "best", "pdf", "png"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    args = parser.parse_args()
    with exit_with_message(args.table):
        scores = read_scores(args.scores)
        rows = scores.to_dict("records")
        best = pd.DataFrame(best_settings(rows, args.held))
        for path, table in ((args.table, pd.DataFrame(sweep_table(rows))), (args.best, best)):
            write_text(path, table.to_csv(index=False, float_format="%.6g"))
        save(plot_sweep(scores, best, args.datasets), args.pdf, args.png)


if __name__ == "__main__":
    main()
