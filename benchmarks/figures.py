"""Draws the figures of docs/benchmarks.md in the style of the report."""

from __future__ import annotations

import pandas as pd

from lssc.report.style import COLOURS, MARKERS, NAMES, set_style  # isort: skip  (chooses matplotlib's backend)
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

PANELS = {
    "cpu_seconds": NAMES["cpu_seconds"],
    "peak_mb": "peak memory of the process (MB)",
    "accuracy": NAMES["accuracy"],
}


def _colours() -> list:
    return [sns.color_palette("colorblind")[place] for place in COLOURS]


def plot_methods(rows: pd.DataFrame) -> Figure:
    """Time, memory and accuracy of whole methods over n; bands span the least to the most of the runs."""
    set_style()
    figure, panels = plt.subplots(1, 3, figsize=(12, 3.6))
    for axes, (quantity, label) in zip(panels, PANELS.items(), strict=True):
        for place, method in enumerate(rows["peer"].unique()):
            part = rows[(rows["peer"] == method) & (rows["quantity"] == quantity)].dropna(subset="median")
            look = {"color": _colours()[place], "marker": MARKERS[place], "markersize": 5.5, "linewidth": 1.7}
            axes.plot(part["n"], part["median"], label=method, **look)
            axes.fill_between(part["n"], part["least"], part["most"], color=look["color"], alpha=0.13, linewidth=0)
        _format_axes(axes, sorted(rows["n"].unique()), label, log=quantity != "accuracy")
    figure.tight_layout()
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="upper center", ncol=3, frameon=False, bbox_to_anchor=(0.5, 0.02))
    return figure


def _format_axes(axes: plt.Axes, ticks: list[int], label: str, *, log: bool) -> None:
    axes.set_xscale("log")
    axes.set_xticks(ticks, [_short(n) for n in ticks])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set(xlabel=NAMES["n"], ylabel=label)
    if log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(LogLocator(subs=(1,) if high > 200 * low else (1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(top=1.0)


def _short(n: int) -> str:
    return f"{n / 1e6:g} M" if n >= 1e6 else f"{n / 1e3:g} k"


def plot_coders(lasso: pd.DataFrame, stages: pd.DataFrame, names: tuple[str, ...]) -> Figure:
    """Microseconds a point of every lasso solver, and the stages of FSC-uniform and of its peer."""
    set_style()
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), width_ratios=(3, 2))
    _coder_dots(left, lasso[lasso["quantity"] == "cpu_seconds"].dropna(subset="least"))
    _stage_bars(right, stages, names)
    figure.tight_layout()
    return figure


def _coder_dots(axes: plt.Axes, times: pd.DataFrame) -> None:
    times = times.assign(height=times["least"] / times["n"] * 1e6)
    heights = times.pivot_table(index="peer", columns="case", values="height", sort=False)
    cases, peers = list(heights.columns), list(heights.index)
    for place, peer in enumerate(peers):
        where = [i + 0.17 * (place - (len(peers) - 1) / 2) for i in range(len(cases))]
        axes.plot(where, heights.loc[peer], MARKERS[place], markersize=7, label=peer, color=_colours()[place])
        beside = heights.iloc[max(0, place - 1) : place + 2].to_numpy().T
        for x, y, others in zip(where, heights.loc[peer], beside, strict=True):
            text = f"{y:,.0f}" if y >= 10 else f"{y:.2g}"
            # If the mark beside it is a little higher, the number goes below its own.
            off = (0, -15 if any(y < other < 3 * y for other in others) else 6)
            axes.annotate(text, (x, y), off, textcoords="offset points", ha="center", fontsize="small")
    sizes = times.drop_duplicates("case").set_index("case").loc[cases, "size"]
    axes.set_xticks(range(len(cases)), [_in_lines(size) for size in sizes])
    axes.set_xlim(-0.5, len(cases) - 0.4)
    axes.set_yscale("log")
    axes.margins(y=0.14)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set(ylabel="CPU microseconds a point")
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper center", ncol=3, frameon=False, bbox_to_anchor=(0.5, -0.22))


def _in_lines(size: str) -> str:
    """Data, m and lambda, each in its line."""
    data, *others = size.split(", ")
    return "\n".join([data.partition(" ")[0], *(part for part in others if part[:2] in ("m=", "λ="))])


def _stage_bars(axes: plt.Axes, stages: pd.DataFrame, names: tuple[str, ...]) -> None:
    table = stages.pivot_table(index="quantity", columns="peer", values="median", sort=False)
    labels = {"others": "SPAMS, scipy,\nscikit-learn", "ours": "FSC-uniform"}
    for row, peer in enumerate(labels):
        start = 0.0
        for place, stage in enumerate(names):
            seconds = table.loc[stage, peer]
            axes.barh(row, seconds, 0.55, left=start, color=_colours()[place], label=None if row else stage)
            start += seconds
        axes.text(start, row, f" {start:.3g} s", va="center")
    axes.set_yticks(range(len(labels)), labels.values())
    axes.set(xlabel=NAMES["cpu_seconds"], title=stages["size"].iloc[0])
    axes.set_xlim(right=1.25 * table.loc["cpu_seconds"].max())
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper center", ncol=4, frameon=False, bbox_to_anchor=(0.35, -0.17))
