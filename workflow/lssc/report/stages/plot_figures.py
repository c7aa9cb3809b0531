"""Draw the figures of an experiment, and write the numbers of each beside it."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from lssc.errors import exit_with_message
from lssc.pipeline.store.files import write_text
from lssc.report.curves import curve_rows, plot_curves, summary
from lssc.report.leaderboard import board, ranks, ranks_table
from lssc.report.leaderboard_figures import plot_board, plot_ranks
from lssc.report.step_times import plot_step_times, step_times
from lssc.report.style import read_scores, save


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--figures", type=json.loads, required=True, help="JSON, as Snakemake prints it")
    parser.add_argument("--out", type=Path, nargs="+", required=True, help="a PDF, PNG and CSV file for each figure")
    args = parser.parse_args()
    with exit_with_message(args.out[0].parent):
        draw(read_scores(args.scores), args.figures, {path.name: path for path in args.out})


def draw(scores: pd.DataFrame, figures: Mapping[str, Any], out: Mapping[str, Path]) -> None:
    """Each figure as PDF, PNG and CSV, to the files of its name."""
    for name, spec in figures.items():
        figure, table = figure_with_table(scores, spec)
        save(figure, out[f"{name}.pdf"], out[f"{name}.png"])
        write_text(out[f"{name}.csv"], table.to_csv(index=False, float_format="%.6g"))


def figure_with_table(scores: pd.DataFrame, spec: Mapping[str, Any]) -> tuple[Figure, pd.DataFrame]:
    """A figure, and the numbers it shows."""
    match spec["y"]:
        case "stages":
            return plot_step_times(scores, spec), step_times(scores, spec)
        case "ranks":
            ranked = ranks(scores, spec)
            return plot_ranks(ranked, spec), ranks_table(ranked, spec)
        case "leaderboard":
            table = board(scores, spec)
            return plot_board(table, spec), table
    return plot_curves(scores, spec), summary(curve_rows(scores, spec), spec)


if __name__ == "__main__":
    main()
