"""Runtime by step, drawn for every experiment that is not a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from lssc.report.style import as_text, label_with_trials, set_style

# Name, colour and colour of the numbers in the bar. Dark to light, so that neighbours differ in grey, too.
STEPS = {
    "select": ("landmarks", "#1b3a5c", "white"),
    "code": ("coding", "#0072b2", "white"),
    "embed": ("embedding", "#e69f00", "black"),
    "cluster": ("K-means", "#f5e6b3", "black"),
    "refine": ("refining", "#009e73", "white"),
    "apply": ("whole method", "#8c8c8c", "black"),
}
# Per cent of a bar below which there is no room for a number.
NARROWEST = 6
SUFFIX = "_cpu_seconds"


def steps_in(scores: pd.DataFrame) -> list[str]:
    """The steps of a score table in which any method spent time; all of them if no time was spent."""
    steps = [column.removesuffix(SUFFIX) for column in scores if column.endswith(SUFFIX)]
    return [step for step in steps if scores[f"{step}{SUFFIX}"].any()] or steps


def step_times(scores: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Mean CPU seconds of each step by method, at the largest n and m, in the order of the methods table."""
    largest = scores["full_data"] | (scores["m"] == scores.loc[~scores["full_data"], "m"].max())
    rows = scores[largest & (scores["n"] == scores["n"].max())]
    columns = [*(f"{step}{SUFFIX}" for step in steps_in(scores)), "cpu_seconds"]
    groups = rows.groupby(["method", "label", "n", "m"], sort=False)
    table = groups.agg(trials=("trial", "count"), **{c: (c, "mean") for c in columns}).reset_index()
    place = {method: place for place, method in enumerate(spec["order"])}
    return table.sort_values("method", key=lambda methods: methods.map(place), ignore_index=True)


def plot_step_times(scores: pd.DataFrame, spec: Mapping[str, Any]) -> Figure:
    """Shares of each step in a method's CPU seconds. Totals are written out: they differ too much for one axis."""
    set_style()
    table = step_times(scores, spec)
    figure, axes = plt.subplots(figsize=(6.4, 1.1 + 0.36 * len(table)))
    left = np.zeros(len(table))
    for step in steps_in(scores):
        name, colour, ink = STEPS.get(step, (step, "#cccccc", "black"))
        share = 100 * (table[f"{step}{SUFFIX}"] / table["cpu_seconds"]).fillna(0).to_numpy()
        bars = axes.barh(table.index, share, left=left, color=colour, label=name, edgecolor="white", linewidth=0.8)
        numbers = [f"{part:.0f}" if part >= NARROWEST else "" for part in share]
        axes.bar_label(bars, numbers, label_type="center", color=ink, fontsize="small")
        left += share
    for place, seconds in enumerate(table["cpu_seconds"]):
        total = f"{seconds:.2g}" if seconds < 10 else f"{seconds:,.0f}"
        axes.text(101.5, place, f"{total} s", va="center", fontsize=plt.rcParams["ytick.labelsize"])
    _label_axes(axes, f"{spec['title']}; {_largest_sizes(scores)}", table)
    return figure


def _largest_sizes(scores: pd.DataFrame) -> str:
    """The sizes of the largest runs; only the one that varies, if one does."""
    sizes = {"n": scores["n"], "m": scores.loc[~scores["full_data"], "m"]}
    varied = {name: values for name, values in sizes.items() if values.nunique() > 1} or sizes
    return ", ".join(f"{name} = {values.max():,}" for name, values in varied.items() if len(values))


def _label_axes(axes: plt.Axes, title: str, table: pd.DataFrame) -> None:
    trials = int(table["trials"].max())
    axes.set_title(as_text(f"{title}, mean over {trials} trials"), fontsize="medium", pad=24)
    labels = [label_with_trials(label, n, trials) for label, n in zip(table["label"], table["trials"], strict=True)]
    axes.set_yticks(table.index, labels)
    axes.set(xlim=(0, 100), xlabel="share of the CPU seconds (%), total at the right")
    axes.invert_yaxis()
    axes.grid(False)
    sns.despine(ax=axes, left=True, bottom=True)
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=len(axes.containers), frameon=False, borderaxespad=0.2
    )
