"""The section of docs/benchmarks.md on lam="auto", n_landmarks="auto" and n_clusters=None."""

from __future__ import annotations

import textwrap
from typing import Any

import pandas as pd

TEXT = """
Clustering accuracy with `lam="auto"` and `n_landmarks="auto"`, medians of three trials (FSC, RefinedFSC) or one trial
(ESC, SSC) that had no part in the choice of the rules; trials of images draw from the same collection as those that
had. "Tuned" is the best weight of a sweep on other trials, as a multiple of the rule's: 0.5 to 8 for FSC and
RefinedFSC, 0.3 to 3 for ESC, 0.5 to 2 for SSC, 0.7 to 2 for all images. If the best is at an end, up to two values
follow there, unless a run takes ten CPU seconds; "end" marks a best that is at an end even so. All images are the same
points in every trial, for the sweep too: only landmarks differ. The sweeps are in results/benchmarks/automatic.csv;
those that chose the constants of the rules are in results/benchmarks/automatic_selection.csv. They ran before
estimators drew landmarks as the pipeline does: `benchmarks/selection.py` repeats them with the same points and weights
and other landmarks. "Twice m" has twice as many landmarks, at most half of the points; "time" is its CPU time over that
of the rule. K is estimated by `n_clusters=None`. RefinedFSC has numbers as defaults; "auto" means FSC's rules there.
"""
HEAD = ("points", "n", "m", "λ", "best multiple", "tuned", "rule", "lost", "twice m", "time", "K estimated", "K right")


def automatic_tables(results: Any, part: str) -> str:
    """A table for each method: one row per dataset."""
    rows = results.of(part)
    blocks = [textwrap.fill(TEXT.strip().replace("\n", " "), 98, break_long_words=False)]
    for method, mine in rows.groupby("peer", sort=False):
        lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
        lines += [_line(name, one) for name, one in mine.groupby("case", sort=False)]
        blocks.append("\n".join([_summary(method, mine), "", *lines]))
    return "\n\n".join(blocks)


def _summary(method: str, rows: pd.DataFrame) -> str:
    """The largest loss against the tuned weight, and how often K is right, in a sentence."""
    median = rows.pivot_table(index="case", columns="quantity", values="median", sort=False)
    if "tuned" not in median:
        return f"{method}: not measured."
    lost = median["tuned"] - median["rule"]
    counted = rows[rows["quantity"] == "clusters"]
    right = int(rows[rows["quantity"] == "right"]["median"].sum())
    text = (
        f"{method}: the rule for λ loses at most {lost.max():.3f} ({lost.idxmax()}), {lost.mean():.3f} on average. "
        f"K is right in {right} of {int(counted['repeats'].sum())} trials."
    )
    return textwrap.fill(text, 98)


def _line(name: str, rows: pd.DataFrame) -> str:
    median = rows.set_index("quantity")["median"]
    if "tuned" not in median:
        return f"| {name} | {rows['note'].iloc[0]} |" + " |" * (len(HEAD) - 2)
    clusters = rows[rows["quantity"] == "clusters"].iloc[0]
    spread = {f"{clusters[stat]:.0f}": None for stat in ("least", "median", "most")}
    cells = [name, f"{rows['n'].iloc[0]:,}", f"{median['n_landmarks']:,.0f}", f"{median['lam']:.3g}"]
    cells.append(_best(rows[rows["quantity"] == "best multiple"].iloc[0]))
    cells += [_accuracy(median["tuned"]), _accuracy(median["rule"])]
    cells.append(f"{median['tuned'] - median['rule']:.3f}")
    more = "twice" in median
    cells += [_accuracy(median["twice"]), f"x {median['twice_seconds'] / median['seconds']:.1f}"] if more else ["", ""]
    right = rows[rows["quantity"] == "right"].iloc[0]
    return f"| {' | '.join([*cells, ', '.join(spread), right['note']])} |"


def _best(row: pd.Series) -> str:
    """The best multiple, and whether it is at an end of the sweep."""
    return f"{row['median']:g} {row['note']}".strip()


def _accuracy(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
