"""Figures as the paper draws them: mean over trials against m or n, with a band of one standard deviation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from lssc.report.style import NAMES, as_text, colour, label_with_trials, marker, set_style

TIMES = ("seconds", "cpu_seconds")
# How many bands drawn before one more band may cross, on average over the x axis.
CROSSED_BANDS = 1.0


def curve_rows(scores: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The rows that a figure shows. Methods without an m of their own get one row for every m on the axis."""
    scores = scores[scores["method"].isin(spec["methods"])]
    if spec["x"] != "m":
        return scores
    full = scores["full_data"]
    repeated = [scores[full].assign(m=m) for m in spec["ms"]]
    return pd.concat([scores[~full], *repeated], ignore_index=True)


def summary(rows: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Mean and standard deviation over trials, by method and place on the x axis."""
    groups = rows.groupby(["method", "label", spec["x"]], sort=False)[spec["y"]]
    return groups.agg(mean="mean", std="std", trials="count").reset_index()


def plot_curves(scores: pd.DataFrame, spec: Mapping[str, Any]) -> Figure:
    """One panel of the paper's Fig. 1. Methods that use all points are dashed.

    `spec["order"]` maps every method of config to its label; the place in it decides on colour and marker.
    """
    set_style()
    rows = curve_rows(scores, spec)
    table, most_trials = summary(rows, spec), rows["trial"].nunique()
    full = set(scores.loc[scores["full_data"], "method"])
    banded = distinct_bands(table, spec)
    figure, axes = plt.subplots(figsize=(5.6, 3.8))
    for place, (method, label) in enumerate(spec["order"].items()):
        part = table[table["method"] == method].sort_values(spec["x"])
        if len(part):
            look = {"label": label_with_trials(label, int(part["trials"].max()), most_trials), "color": colour(place)}
            # Dashes of neighbours are out of step, so that equal lines both show.
            look |= {"linestyle": (3 * (place % 2), (3, 3))} if method in full else {}
            flat = method in full and spec["x"] == "m" and len(part) > 1
            look["marker"] = None if flat else marker(place)
            _draw(axes, part, spec, band=method in banded, **look)
    _label_axes(axes, spec, sorted(rows[spec["x"]].unique()), most_trials)
    return figure


def distinct_bands(table: pd.DataFrame, spec: Mapping[str, Any]) -> set[str]:
    """The methods whose bands are drawn: in order, those that cross few of the bands drawn before."""
    drawn: dict[str, pd.DataFrame] = {}
    for method in spec["order"]:
        part = table[table["method"] == method].set_index(spec["x"])
        std = part["std"].fillna(0)
        band = pd.DataFrame({"low": part["mean"] - std, "high": part["mean"] + std})
        pairs = (band.join(other, rsuffix="_other", how="inner") for other in drawn.values())
        crossed = sum(((p["low"] < p["high_other"]) & (p["low_other"] < p["high"])).mean() for p in pairs)
        if len(part) and crossed <= CROSSED_BANDS:
            drawn[method] = band
    return set(drawn)


def _draw(axes: plt.Axes, part: pd.DataFrame, spec: Mapping[str, Any], *, band: bool, color: Any, **look: Any) -> None:
    x, mean, std = part[spec["x"]].astype(float), part["mean"], part["std"].fillna(0)
    axes.plot(x, mean, color=color, markersize=5.5, linewidth=1.7, zorder=3, **look)
    if not band:
        return
    # A log axis cannot show values of zero and below.
    low = np.maximum(mean - std, mean / 10) if spec["y"] in TIMES else mean - std
    axes.fill_between(x, low, mean + std, color=color, alpha=0.13, linewidth=0)
    for edge in (low, mean + std):
        axes.plot(x, edge, color=color, alpha=0.45, linewidth=0.6)


def _label_axes(axes: plt.Axes, spec: Mapping[str, Any], ticks: list[int], trials: int) -> None:
    axes.set(xlabel=NAMES[spec["x"]], ylabel=NAMES[spec["y"]])
    axes.set_title(as_text(f"{spec['title']}, mean over {trials} trials, bands ± std"), fontsize="medium")
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    if spec["y"] in TIMES:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(LogLocator(subs=(1,) if high > 200 * low else (1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(top=1.0)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
