"""The figure of a parameter sweep: accuracy against each method's first parameter, one panel per method."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from lssc.report.style import NAMES, as_text, colour, set_style

# Columns of swept parameters get this prefix: a parameter may have the name of another column.
PREFIX = "set_"
DATASET, SCALE_ROWS = f"{PREFIX}dataset", f"{PREFIX}scale_rows"


def plot_sweep(scores: pd.DataFrame, best: pd.DataFrame, datasets: Mapping[str, str]) -> Figure:
    """One panel per method, at the best of its other parameters.

    `datasets` maps every swept dataset to its name in the legend; its order decides on the colours.
    """
    set_style()
    settings = pd.DataFrame(scores["setting"].map(json.loads).tolist(), index=scores.index)
    rows = pd.concat([scores, settings.add_prefix(PREFIX)], axis=1)
    methods = list(dict.fromkeys(rows["method"]))
    n_columns = min(3, len(methods))
    n_rows = -(-len(methods) // n_columns)
    figure, panels = plt.subplots(n_rows, n_columns, figsize=(3.7 * n_columns, 3.1 * n_rows), squeeze=False)
    colours = {id: colour(place) for place, id in enumerate(datasets)}
    for axes, method in zip(panels.flat, methods, strict=False):
        _plot_method(axes, rows[rows["method"] == method], best[best["method"] == method].iloc[0], colours)
    for axes in panels.flat[len(methods) :]:
        axes.set_visible(False)
    figure.tight_layout()
    names = {label: colours[id] for id, label in datasets.items()}
    if DATASET not in rows and (rows.groupby("method")["dataset"].nunique() > 1).any():
        # One setting for several datasets: every curve is their mean.
        names = {f"mean of {len(datasets)} datasets": colours[rows["dataset"].iloc[0]]}
    handles = _legend(names, scaled_or_not=SCALE_ROWS in rows, at_edge=best["at_edge"].astype(bool).any())
    columns = min(len(handles), 2 * n_columns - 1)
    figure.legend(handles=handles, loc="upper center", ncol=columns, frameon=False, bbox_to_anchor=(0.5, 0.01))
    return figure


def _plot_method(axes: plt.Axes, rows: pd.DataFrame, best: pd.Series, colours: Mapping[str, Any]) -> None:
    swept = [c for c in rows if c.startswith(PREFIX) and rows[c].notna().all()]
    lines = [c for c in swept if c in (DATASET, SCALE_ROWS)]
    # With no other parameter for the x axis, one of those that distinguish lines goes there.
    x, *others = [c for c in swept if c not in lines] or [lines.pop()]
    means = rows.groupby(swept, sort=False)["accuracy"].mean().reset_index()
    ticks = {value: _position(value, i) for i, value in enumerate(means[x].unique())}
    for key, part in means.groupby(lines, sort=False) if lines else [((), means)]:
        curve = part.groupby(x, sort=False)["accuracy"].max()
        if x == DATASET:
            # Names of datasets are too long for ticks; the legend has their colours.
            for id, accuracy in curve.items():
                axes.plot(ticks[id], accuracy, marker="o", markersize=7, color=colours[id])
        else:
            setting = dict(zip(lines, key, strict=True))
            dataset = setting.get(DATASET, rows["dataset"].iloc[0])
            look = {"color": colours[dataset], "linestyle": _dashes(setting.get(SCALE_ROWS, True)), "linewidth": 1.3}
            axes.plot([ticks[v] for v in curve.index], curve.values, marker="o", markersize=3.5, **look)
    fill = "white" if best["at_edge"] else "black"
    chosen = ticks[json.loads(best["setting"])[x.removeprefix(PREFIX)]]
    axes.plot(chosen, best["accuracy"], "*", color="black", markerfacecolor=fill, markersize=13, zorder=5)
    _label_axes(axes, x, others, ticks)
    axes.set_title(as_text(rows["label"].iloc[0]))


def _label_axes(axes: plt.Axes, x: str, others: list[str], ticks: Mapping[Any, float]) -> None:
    if min(ticks.values()) > 0:
        axes.set_xscale("log")
    names = [f"{v:g}" if _is_number(v) else "" if x == DATASET else str(v) for v in ticks]
    axes.set_xticks(list(ticks.values()), names)
    axes.xaxis.set_minor_formatter(NullFormatter())
    # A parameter may be addressed by its part: coder.lam.
    words = [NAMES.get(key.rpartition(".")[2], key) for key in (column.removeprefix(PREFIX) for column in (x, *others))]
    best_of = f" (best {', '.join(words[1:])} at each)" if others else ""
    axes.set(xlabel=f"{words[0]}{best_of}", ylabel=NAMES["accuracy"])


def _position(value: Any, index: int) -> float:
    """The place of a value on the x axis: numbers at themselves, names one after the other."""
    return float(value) if _is_number(value) else float(index)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _dashes(scaled: bool) -> str:
    return "-" if scaled else ":"


def _legend(colours: Mapping[str, Any], *, scaled_or_not: bool, at_edge: bool) -> list[Line2D]:
    """Colour by dataset, dashes by scaling of the embedding's rows, a star for the best setting."""
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
