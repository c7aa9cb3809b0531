"""Figures as the paper draws them: mean over trials, with a band of one standard deviation."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from lssc.pipeline.store.files import read_text, sealing

NAMES = {
    "m": "number of landmarks $m$",
    "n": "number of points $n$",
    "accuracy": "clustering accuracy",
    "nmi": "normalised mutual information",
    "ari": "adjusted Rand index",
    "seconds": "runtime (seconds, one thread)",
    "cpu_seconds": "runtime (CPU seconds, one thread)",
    "lam": "$\\lambda$",
    "alpha": "$\\alpha$",
    "k": "$k$",
    "t": "$t$",
}
TIMES = ("seconds", "cpu_seconds")
# Name, colour and the ink that is read on it: from dark to light, so that neighbours differ without colours, too.
STAGES = {
    "select": ("landmarks", "#1b3a5c", "white"),
    "code": ("coding", "#0072b2", "white"),
    "embed": ("embedding", "#e69f00", "black"),
    "cluster": ("K-means", "#f5e6b3", "black"),
}
# Pixels per inch, along a side (images can have no more than 65,536) and in all: from 89 million on, readers refuse.
DPI, LARGEST, MOST = 200, 60_000, 64_000_000
# A sign without width.
HIDDEN = "\u200b"
# Bands that one more band may cross, on average over the x axis, and still be told from them.
CROSSED_BANDS = 1.0
MARKERS = "osD^vPX*<>"
# Places in seaborn's colour-blind-safe palette, strongest first; its yellow is lost on white.
COLOURS = (0, 1, 2, 3, 4, 5, 9, 7, 6)
# Deterministic files: the date and the version of the drawing library would differ from run to run.
METADATA = {"pdf": {"CreationDate": None}, "png": {"Software": None}}


def set_style() -> None:
    sns.set_theme(context="paper", style="whitegrid", palette="colorblind", font_scale=1.15)
    plt.rcParams.update({"pdf.fonttype": 42, "savefig.bbox": "tight", "grid.alpha": 0.5})


def as_text(text: str) -> str:
    """Text of config, to be drawn as it is: $ begins no formula, and _ at its start hides it from no legend."""
    return f"{HIDDEN if text.startswith('_') else ''}{text}".replace("$", r"\$")


def read_scores(path: Path) -> pd.DataFrame:
    """A score table; names are text, also those that look like numbers or, as "NA" does, like nothing."""
    names = dict.fromkeys(("experiment", "dataset", "method", "label", "setting"), str)
    return pd.read_csv(io.StringIO(read_text(path)), converters=names)


def save(figure: Figure, *paths: Path) -> None:
    width, height = figure.get_size_inches()
    dpi = min(DPI, LARGEST / max(width, height), (MOST / (width * height)) ** 0.5)
    for path in paths:
        kind = path.suffix[1:]
        with sealing(path) as temporary:
            figure.savefig(temporary, format=kind, metadata=METADATA[kind], dpi=dpi)
    plt.close(figure)


def curves(scores: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The rows a figure draws: methods that use all points have no m, and get one row for every m shown."""
    scores = scores[scores["method"].isin(spec["methods"])]
    if spec["x"] != "m":
        return scores
    full = scores["full_data"]
    repeated = [scores[full].assign(m=m) for m in spec["ms"]]
    return pd.concat([scores[~full], *repeated], ignore_index=True)


def summary(rows: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Mean and standard deviation over trials, for each method and place on the x axis."""
    groups = rows.groupby(["method", "label", spec["x"]], sort=False)[spec["y"]]
    return groups.agg(mean="mean", std="std", trials="count").reset_index()


def plot_curves(scores: pd.DataFrame, spec: Mapping[str, Any]) -> Figure:
    """One panel of the paper's Fig. 1: every method against m or n; dashed where all points are used."""
    set_style()
    rows = curves(scores, spec)
    table, most = summary(rows, spec), rows["trial"].nunique()
    full = set(scores.loc[scores["full_data"], "method"])
    banded = distinct_bands(table, spec)
    figure, axes = plt.subplots(figsize=(5.6, 3.8))
    for place, (method, label) in enumerate(spec["order"].items()):
        part = table[table["method"] == method].sort_values(spec["x"])
        if len(part):
            count = int(part["trials"].max())
            told = _told(label, count, most)
            # Dashes of neighbours in the table are out of step, so that two equal lines both show.
            look = {"linestyle": (3 * (place % 2), (3, 3))} if method in full else {}
            flat = method in full and spec["x"] == "m"
            look["marker"] = None if flat else MARKERS[place % len(MARKERS)]
            _draw(axes, part, spec, band=method in banded, label=told, color=_colour(place), **look)
    _dress(axes, spec, sorted(rows[spec["x"]].unique()), most)
    return figure


def _told(label: str, trials: int, most: int) -> str:
    """A method's label, with its number of trials where that is not the one of the title."""
    told = label if trials == most else f"{label} ({trials} trial{'s' * (trials > 1)})"
    return as_text(told)


def _colour(place: int) -> Any:
    """The palette's colours in turn: as they are, then darker, then lighter."""
    colour = sns.color_palette("colorblind")[COLOURS[place % len(COLOURS)]]
    scale, white = ((1.0, 0.0), (0.6, 0.0), (0.6, 0.4))[place // len(COLOURS) % 3]
    return tuple(scale * part + white for part in colour)


def distinct_bands(table: pd.DataFrame, spec: Mapping[str, Any]) -> set[str]:
    """Methods whose bands are drawn: in the order of the methods table, those that cross few of the bands before."""
    drawn: dict[str, pd.DataFrame] = {}
    for method in spec["order"]:
        part = table[table["method"] == method].set_index(spec["x"])
        low, high = part["mean"] - part["std"].fillna(0), part["mean"] + part["std"].fillna(0)
        band = pd.DataFrame({"low": low, "high": high})
        shared = (band.join(other, rsuffix="_other", how="inner") for other in drawn.values())
        crossed = sum(((b["low"] < b["high_other"]) & (b["low_other"] < b["high"])).mean() for b in shared)
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


def _dress(axes: plt.Axes, spec: Mapping[str, Any], ticks: list[int], trials: int) -> None:
    axes.set(xlabel=NAMES[spec["x"]], ylabel=NAMES[spec["y"]])
    axes.set_title(as_text(f"{spec['title']}, mean over {trials} trials, bands ± std"), fontsize="medium")
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    if spec["y"] in TIMES:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(top=1.0)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)


def stage_times(scores: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Mean CPU seconds of each stage by method, at the largest n and m, in the order of the methods table."""
    largest = scores["full_data"] | (scores["m"] == scores.loc[~scores["full_data"], "m"].max())
    rows = scores[largest & (scores["n"] == scores["n"].max())]
    columns = {column: (column, "mean") for column in (*(f"{stage}_cpu_seconds" for stage in STAGES), "cpu_seconds")}
    groups = rows.groupby(["method", "label", "n", "m"], sort=False)
    table = groups.agg(trials=("trial", "count"), **columns).reset_index()
    place = {method: place for place, method in enumerate(spec["order"])}
    return table.sort_values("method", key=lambda methods: methods.map(place), ignore_index=True)


def plot_stages(scores: pd.DataFrame, spec: Mapping[str, Any]) -> Figure:
    """How each method's CPU seconds divide among the stages; totals, too far apart for one axis, are written out."""
    set_style()
    table = stage_times(scores, spec)
    figure, axes = plt.subplots(figsize=(6.4, 1.1 + 0.36 * len(table)))
    left = np.zeros(len(table))
    for stage, (name, colour, ink) in STAGES.items():
        share = 100 * (table[f"{stage}_cpu_seconds"] / table["cpu_seconds"]).fillna(0).to_numpy()
        bars = axes.barh(table.index, share, left=left, color=colour, label=name, edgecolor="white", linewidth=0.8)
        # What is too narrow for its number can be had from the table beside the figure.
        told = [f"{part:.0f}" if part >= 6 else "" for part in share]
        axes.bar_label(bars, told, label_type="center", color=ink, fontsize="small")
        left += share
    for place, seconds in enumerate(table["cpu_seconds"]):
        told = f"{seconds:.2g}" if seconds < 10 else f"{seconds:,.0f}"
        axes.text(101.5, place, f"{told} s", va="center", fontsize=plt.rcParams["ytick.labelsize"])
    _dress_stages(axes, f"{spec['title']}; {_largest(scores)}", table)
    return figure


def _largest(scores: pd.DataFrame) -> str:
    """Where an experiment's largest runs are; what is the same in all its runs goes without saying."""
    sizes = {"n": scores["n"], "m": scores.loc[~scores["full_data"], "m"]}
    varied = {name: values for name, values in sizes.items() if values.nunique() > 1} or sizes
    return ", ".join(f"{name} = {values.max():,}" for name, values in varied.items() if len(values))


def _dress_stages(axes: plt.Axes, title: str, table: pd.DataFrame) -> None:
    trials = int(table["trials"].max())
    axes.set_title(as_text(f"{title}, mean over {trials} trials"), fontsize="medium", pad=24)
    axes.set_yticks(
        table.index, [_told(label, n, trials) for label, n in zip(table["label"], table["trials"], strict=True)]
    )
    axes.set(xlim=(0, 100), xlabel="share of the CPU seconds (%), total at the right")
    axes.invert_yaxis()
    axes.grid(False)
    sns.despine(ax=axes, left=True, bottom=True)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=len(STAGES), frameon=False, borderaxespad=0.2)


def plot_sweep(scores: pd.DataFrame, best: pd.DataFrame, datasets: Mapping[str, str]) -> Figure:
    """Accuracy against each method's first parameter, one panel a method, at the best of its other parameters.

    `datasets` gives the name in the legend of every dataset swept over, in the order of their colours.
    """
    set_style()
    settings = pd.DataFrame(scores["setting"].map(json.loads).tolist(), index=scores.index)
    rows = pd.concat([scores, settings.add_prefix("set_")], axis=1)
    methods = list(dict.fromkeys(rows["method"]))
    n_columns = min(3, len(methods))
    n_rows = -(-len(methods) // n_columns)
    figure, panels = plt.subplots(n_rows, n_columns, figsize=(3.7 * n_columns, 3.1 * n_rows), squeeze=False)
    colours = {id: _colour(place) for place, id in enumerate(datasets)}
    for axes, method in zip(panels.flat, methods, strict=False):
        _plot_method_sweep(axes, rows[rows["method"] == method], best[best["method"] == method].iloc[0], colours)
    for axes in panels.flat[len(methods) :]:
        axes.set_visible(False)
    figure.tight_layout()
    legend = {label: colours[id] for id, label in datasets.items()}
    handles = _sweep_legend(legend, "set_scale_rows" in rows, at_edge=best["at_edge"].astype(bool).any())
    figure.legend(
        handles=handles,
        loc="upper center",
        ncol=min(len(handles), 2 * n_columns - 1),
        frameon=False,
        bbox_to_anchor=(0.5, 0.01),
    )
    return figure


def _plot_method_sweep(axes: plt.Axes, rows: pd.DataFrame, best: pd.Series, colours: Mapping[str, Any]) -> None:
    used = [c for c in rows if c.startswith("set_") and rows[c].notna().all()]
    lines = [c for c in used if c in ("set_dataset", "set_scale_rows")]
    # With nothing else to show along the axis, what would tell lines apart goes there.
    x, *others = [c for c in used if c not in lines] or [lines.pop()]
    means = rows.groupby(used, sort=False)["accuracy"].mean().reset_index()
    ticks = {value: _place(value, i) for i, value in enumerate(means[x].unique())}
    for key, part in means.groupby(lines, sort=False) if lines else [((), means)]:
        curve = part.groupby(x, sort=False)["accuracy"].max()
        setting = dict(zip(lines, key, strict=True))
        dataset = setting.get("set_dataset", rows["dataset"].iloc[0])
        look = {"color": colours[dataset], "linestyle": _dashes(setting.get("set_scale_rows", True)), "linewidth": 1.3}
        if x == "set_dataset":
            # Names of datasets are too long for ticks; the legend has their colours.
            for id, accuracy in curve.items():
                axes.plot(ticks[id], accuracy, marker="o", markersize=7, color=colours[id])
        else:
            axes.plot([ticks[v] for v in curve.index], curve.values, marker="o", markersize=3.5, **look)
    chosen = ticks[json.loads(best["setting"])[x[4:]]]
    fill = "white" if best["at_edge"] else "black"
    axes.plot(chosen, best["accuracy"], "*", color="black", markerfacecolor=fill, markersize=13, zorder=5)
    if min(ticks.values()) > 0:
        axes.set_xscale("log")
    names = [f"{v:g}" if _is_number(v) else "" if x == "set_dataset" else str(v) for v in ticks]
    axes.set_xticks(list(ticks.values()), names)
    axes.xaxis.set_minor_formatter(NullFormatter())
    best_of = f" (best {', '.join(NAMES.get(c[4:], c[4:]) for c in others)} at each)" if others else ""
    axes.set(xlabel=NAMES.get(x[4:], x[4:]) + best_of, ylabel=NAMES["accuracy"], title=as_text(rows["label"].iloc[0]))


def _place(value: Any, index: int) -> float:
    """Where a value stands on its axis: numbers at themselves, names one after the other."""
    return float(value) if _is_number(value) else float(index)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _dashes(scaled: bool) -> str:
    return "-" if scaled else ":"


def _sweep_legend(colours: Mapping[str, Any], scaled_or_not: bool, *, at_edge: bool) -> list[Any]:
    """Colour by dataset, dashes by scaling of the embedding's rows, a star for the best setting."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=as_text(label), color=colour, linewidth=1.3) for label, colour in colours.items()]
    if scaled_or_not:
        names = {True: "embedding rows scaled", False: "not scaled"}
        grey = {"color": "grey", "linewidth": 1.3}
        handles += [Line2D([], [], label=name, linestyle=_dashes(scaled), **grey) for scaled, name in names.items()]
    star = {"marker": "*", "color": "black", "linestyle": "", "markersize": 11}
    handles.append(Line2D([], [], label="best", **star))
    if at_edge:
        handles.append(Line2D([], [], label="best, at the edge of the grid", markerfacecolor="white", **star))
    return handles
