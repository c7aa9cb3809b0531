"""Figures of a leaderboard: mean ranks with critical differences, and accuracy against time on one dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from lssc.report.leaderboard import Ranks
from lssc.report.leaderboard_cells import stop_text
from lssc.report.style import NAMES, as_text, colour, marker, set_style

GREY = "#8a8f96"
# Inches of a row of methods, and a figure's least height.
ROW, LEAST_HEIGHT = 0.24, 3.6
# Seconds below which the clock of CPU time has no digits; shorter runs are drawn there.
LEAST_SECONDS = 0.001


def plot_board(table: pd.DataFrame, spec: Mapping[str, Any]) -> Figure:
    """Accuracy against CPU seconds. The legend lists the methods from best to worst; the front is drawn as a line."""
    set_style()
    table = table.assign(cpu_seconds=table["cpu_seconds"].clip(lower=LEAST_SECONDS))
    done, stopped = table[table["stopped"].isna()], table[table["stopped"].notna()]
    figure, axes = plt.subplots(figsize=(6.2, max(LEAST_HEIGHT, 0.9 + 0.215 * len(table))))
    front = done[done["front"]].sort_values("cpu_seconds")
    axes.step(front["cpu_seconds"], front["accuracy"], where="post", color=GREY, linewidth=1.2, zorder=1)
    for row in done.itertuples():
        _draw_method(axes, row, spec)
    for row in stopped.itertuples():
        label = as_text(f"{row.label} ({stop_text(row.stopped)})")
        axes.plot([], [], linestyle="", label=label, **_look(row.method, spec) | {"alpha": 0.35})
    _time_axis(axes)
    axes.set(xlabel=NAMES["cpu_seconds"], ylabel=NAMES["accuracy"])
    axes.set_title(as_text(f"{spec['title']}, mean over {int(table['trials'].max())} trials"), fontsize="medium")
    axes.legend(
        loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, title="best first; ○ on the front",
        fontsize="small", title_fontsize="small", labelspacing=0.35,
    )  # fmt: skip
    return figure


def _draw_method(axes: plt.Axes, row: Any, spec: Mapping[str, Any]) -> None:
    look = _look(row.method, spec)
    std = 0 if np.isnan(row.accuracy_std) else row.accuracy_std
    axes.errorbar(row.cpu_seconds, row.accuracy, yerr=std, color=look["color"], linewidth=0.8, alpha=0.5, zorder=2)
    if row.front:
        axes.plot(row.cpu_seconds, row.accuracy, "o", markersize=13, color="none", markeredgecolor="black", zorder=4)
    text = f"{'○ ' if row.front else ''}{row.label}  {row.accuracy:.3f}"
    axes.plot(row.cpu_seconds, row.accuracy, linestyle="", label=as_text(text), zorder=3, **look)


def _look(method: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Colour and marker follow the order of the methods in config: the same in all figures of a leaderboard."""
    place = list(spec["parameters"]).index(method)
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.6}
    # Stars look smaller than other markers of their size.
    size = 11 if marker(place) == "*" else 8
    return {"color": colour(place), "marker": marker(place), "markersize": size, **edge}


def _time_axis(axes: plt.Axes) -> None:
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1,) if high > 200 * low else (1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def plot_ranks(ranked: Ranks, spec: Mapping[str, Any]) -> Figure:
    """Mean rank of each method, best at the top; bars at the right join methods that cannot be told apart."""
    set_style()
    count = len(ranked.mean)
    figure, axes = plt.subplots(figsize=(6.6, max(2.4, 1.3 + ROW * count)))
    for place, (method, _) in enumerate(ranked.mean.index):
        each = ranked.table.iloc[place].to_numpy()
        axes.plot(each, np.full(len(each), place), "|", color=GREY, markersize=7, zorder=1)
        axes.plot(ranked.mean.iloc[place], place, linestyle="", zorder=3, **_look(method, spec))
    labels = [as_text(f"{label}  {mean:.1f}") for (_, label), mean in ranked.mean.items()]
    axes.set_yticks(range(count), labels)
    axes.set(xlim=(0.5, count + 0.5), ylim=(count - 0.4, -0.6), xlabel="rank on each dataset (|) and mean rank")
    axes.xaxis.set_major_locator(plt.MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    for column, (first, last) in enumerate(ranked.groups):
        x = count + 0.5 + (1 + column) * 0.018 * count
        axes.plot([x, x], [first - 0.3, last + 0.3], color="black", linewidth=2.2, clip_on=False, solid_capstyle="butt")
    axes.set_title(as_text(_ranks_title(ranked, spec)), fontsize="medium", loc="left")
    sns.despine(ax=axes, left=True)
    return figure


def _ranks_title(ranked: Ranks, spec: Mapping[str, Any]) -> str:
    n_datasets = ranked.table.shape[1]
    first = f"{spec['title']}: mean ranks over {n_datasets} dataset{'s' * (n_datasets > 1)}"
    test = "" if np.isnan(ranked.p_value) else f"Friedman p = {ranked.p_value:.2g}; "
    return f"{first}\n{test}bars join ranks closer than {ranked.difference:.1f} (Nemenyi, 5 %)"
