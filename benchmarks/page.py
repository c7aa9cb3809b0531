"""Writes docs/benchmarks.md and its figures from the kept measurements: a summary, bounds, and a table per part."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automatic_page import automatic_tables
from bounds import BOUNDS, STAGES, Results, faster_than_spams, worst_excess

TITLES = {
    "lasso": "Sparse codes by the lasso",
    "threads": "The lasso on two threads",
    "omp": "Orthogonal matching pursuit",
    "kmedoids": "K-medoids",
    "kmeans": "K-means",
    "farthest_first": "ESC's search for exemplars",
    "admm": "Modified ADMM",
    "stages": "FSC-uniform by stage",
    "methods": "Whole methods over n",
    "estimators": "Estimators beside other clusterers",
    "dask": "Points in files and on Dask",
    "jobs": "Jobs",
    "automatic": "Parameters that estimators choose",
    "overhead": "The workflow",
}
QUANTITIES = {
    "objective_excess": "largest excess over the best objective",
    "kkt": "largest KKT violation (over 1/λ)",
    "mean_residual": "mean residual",
    "cost": "cost",
    "inertia": "inertia",
    "same_exemplars": "share of equal exemplars",
    "accuracy": "accuracy",
    "job_cost": "CPU s of a job beside its algorithm",
    "coding": "coding, CPU s",
    "embedding": "embedding, CPU s",
    "K-means": "K-means, CPU s",
    "same_labels": "trials with the same labels",
    "peak_mb": "peak memory (MB)",
    "stage_cpu_seconds": "CPU s of all stages",
    "core_seconds_over_work": "cores x wall s / CPU s",
}


def write_page(folder: Path) -> list[str]:
    """Write FOLDER/benchmarks.md and figures from FOLDER/results/benchmarks; return the bounds that do not hold."""
    results, made = read_kept(folder / "results" / "benchmarks")
    (folder / "benchmarks.md").write_text(page(results, made))
    draw(results, folder / "figures")
    return [bound.what for bound in BOUNDS if bound.verdict(results) is False]


def read_kept(folder: Path) -> tuple[Results, dict[str, dict[str, Any]]]:
    """The rows of all parts, and the duration, machine and versions of each."""
    missing = dict.fromkeys(("least", "median", "most"), ("", "nan"))
    paths = [path for path in sorted(folder.glob("*.csv")) if path.stem in TITLES]
    tables = [pd.read_csv(path, keep_default_na=False, na_values=missing) for path in paths]
    return Results(pd.concat(tables, ignore_index=True)), json.loads((folder / "made.json").read_text())


def page(results: Results, made: dict[str, dict[str, Any]]) -> str:
    """The whole document; `made` holds the duration, machine and versions of every part."""
    parts = [part for part in TITLES if len(results.of(part))]
    sections = [f"## {TITLES[part]}\n\n{SECTIONS.get(part, cases)(results, part)}" for part in parts]
    return "\n\n".join(["# Benchmarks", takeaway(results), HOW, bounds_table(results), *sections, origin(made)]) + "\n"


# Characters in a line of Markdown text.
WIDTH = 98
HOW = """`make bench` measures everything and writes this page. `benchmarks/run.py --only PART` measures one
part again; `--run FOLDER` reads a finished run of the workflow. Times are CPU seconds on one
thread, without imports and compilation; peers run in turn in one process. Spread is the range of
the repeats divided by the least; ratios compare the least times. All numbers:
[results/benchmarks](results/benchmarks)."""


def takeaway(results: Results) -> str:
    """The main numbers in sentences; a sentence without numbers is left out."""
    sentences = [_coding_sentence(results), _method_sentence(results)]
    verdicts = [bound.verdict(results) for bound in BOUNDS]
    held, known = verdicts.count(True), len(verdicts) - verdicts.count(None)
    sentences.append(f"{held} of the {known} promised bounds that were measured hold.")
    return wrapped(" ".join(sentence for sentence in sentences if sentence))


def wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _coding_sentence(results: Results) -> str:
    names = {"m300": "as fast as SPAMS with 300 landmarks", "m1000": "with 1,000", "mnist": "on MNIST features"}
    ratios = [(name, faster_than_spams(case)(results)) for case, name in names.items()]
    phrases = [f"{ratio:.1f} times {name}" for name, ratio in ratios if not np.isnan(ratio)]
    if not phrases:
        return ""
    agree = f"all solvers' objectives agree to {worst_excess(results):.0e}"
    return f"Sparse coding by `lasso` is {_listed(phrases)}; {agree}."


def _method_sentence(results: Results) -> str:
    whole, ours = results.ratio("stages", "stages", "others", "ours"), results.of("methods", peer="FSC-uniform")
    if np.isnan(whole) or not len(ours):
        return ""
    last = ours[ours["n"] == ours["n"].max()].set_index("quantity")["median"]
    return (
        f"FSC-uniform is {whole:.1f} times as fast as the same method built from SPAMS, scipy and scikit-learn; "
        f"{ours['n'].max():,} points take {last['cpu_seconds']:.2g} s and {last['peak_mb'] / 1024:.2g} GB, "
        f"at accuracy {last['accuracy']:.3f}."
    )


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def bounds_table(results: Results) -> str:
    lines = ["| promise | bound | measured | |", "|---|---|---|---|"]
    for bound in BOUNDS:
        verdict = {True: "", False: "**not held**", None: "not measured"}[bound.verdict(results)]
        value = bound.value(results)
        shown = "" if np.isnan(value) else f"{value:.3g} {bound.unit}".strip()
        limit = f"{bound.sense} {bound.limit:g} {bound.unit}".strip()
        lines.append(f"| {bound.what} | {limit} | {shown} | {verdict} |")
    return "\n".join(lines)


def cases(results: Results, part: str) -> str:
    """A table for each case of a part: one row per peer, with its time relative to the first."""
    return "\n\n".join(_case(rows) for _, rows in results.of(part).groupby("case", sort=False))


def _case(rows: pd.DataFrame) -> str:
    timed = rows[rows["quantity"].isin(("cpu_seconds", "seconds"))]
    others = [q for q in QUANTITIES if q in set(rows["quantity"])]
    unit = "wall s" if "seconds" in set(timed["quantity"]) else "CPU s"
    compared, first = timed["peer"].nunique() > 1, timed["least"].iloc[0]
    several_n = ["n"] if timed["n"].nunique() > 1 else []
    head = ["", *several_n, unit, "median", "spread", "repeats", *["relative to the first"] * compared]
    head += [*(QUANTITIES[q] for q in others), ""]
    lines = [f"{rows['size'].iloc[0]}:", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for _, time in timed.iterrows():
        cells = [time["peer"], *(f"{time[n]:,}" for n in several_n), *_times(time)]
        cells += [_number(time["least"] / first)] * compared
        mine = rows[(rows["peer"] == time["peer"]) & (rows["n"] == time["n"])].set_index("quantity")["least"]
        lines.append(f"| {' | '.join([*cells, *(_number(mine.get(q, np.nan)) for q in others), time['note']])} |")
    return "\n".join(lines)


def _times(time: pd.Series) -> list[str]:
    repeats = int(time["repeats"])
    if np.isnan(time["least"]):
        return [""] * 4
    spread = f"{time['most'] / time['least'] - 1:.0%}" if repeats > 1 else ""
    return [_number(time["least"]), _number(time["median"]), spread, str(repeats)]


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def stage_table(results: Results, part: str) -> str:
    """Median seconds and shares of every stage, of our method and of the one built from other libraries."""
    rows = results.of(part)
    table = rows.pivot_table(index="quantity", columns="peer", values="median", sort=False)
    whole = table.loc["cpu_seconds"]
    lines = [
        "| | FSC-uniform, CPU s | share | from SPAMS, scipy, scikit-learn, CPU s | share | ratio |",
        "|---" * 6 + "|",
    ]
    for stage in (*STAGES, "cpu_seconds"):
        ours, others = table.loc[stage, "ours"], table.loc[stage, "others"]
        shares = (f"{ours / whole['ours']:.0%}", f"{others / whole['others']:.0%}")
        ratio = f"{others / ours:.1f}" if stage != "selection" else ""
        name = "all" if stage == "cpu_seconds" else stage
        lines.append(f"| {name} | {_number(ours)} | {shares[0]} | {_number(others)} | {shares[1]} | {ratio} |")
    time = rows[rows["quantity"] == "cpu_seconds"].set_index("peer")
    spread = _listed([f"{_times(time.loc[peer])[2] or '0%'} ({peer})" for peer in ("ours", "others")])
    setting = f"{rows['size'].iloc[0]}; medians of {rows['repeats'].max()} repeats, spread of all stages {spread}:"
    figure = "\n\n![Coders and stages](figures/benchmarks_coders.png)" if len(results.of("lasso")) else ""
    return f"{setting}\n\n" + "\n".join(lines) + figure


def method_table(results: Results, part: str) -> str:
    """Time, accuracy and memory of every method at every n."""
    rows = results.of(part)
    sizes = sorted(rows["n"].unique())
    lines = [f"| | {' | '.join(f'n = {n:,}' for n in sizes)} |", "|---" * (len(sizes) + 1) + "|"]
    for method in rows["peer"].unique():
        cells = [_method_cell(rows[(rows["peer"] == method) & (rows["n"] == n)]) for n in sizes]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    exponent = results.exponent(part, "FSC-uniform", STAGES[1:], 15_000)
    grown = "" if np.isnan(exponent) else f" FSC-uniform's time after selection grows as n^{exponent:.3f}."
    text = (
        "CPU seconds, clustering accuracy and peak memory of a separate process, points and imported libraries "
        "included. All methods run on the same points (D=16, 5 subspaces of 6 dimensions, unit norm). Medians of "
        f"up to {rows['repeats'].max()} runs with different random choices.{grown}"
    )
    return (
        wrapped(text)
        + "\n\n"
        + "\n".join(lines)
        + "\n\n![Time, memory and accuracy over n](figures/benchmarks_methods.png)"
    )


def _method_cell(rows: pd.DataFrame) -> str:
    by_quantity = rows.set_index("quantity")
    if "accuracy" not in by_quantity.index:
        return by_quantity["note"].iloc[0] if len(by_quantity) else "–"
    median = by_quantity["median"]
    accuracy = f"{median['accuracy']:.3f}".removeprefix("0")
    return f"{_number(median['cpu_seconds'])} s, {accuracy}, {_number(median['peak_mb'])} MB"


def estimator_tables(results: Results, part: str) -> str:
    """What `fit` adds to its parts, and one table per collection of points."""
    rows = results.of(part)
    overhead = rows["case"].str.startswith("overhead")
    text = (
        "`FSC.fit` checks and scales the points, runs the parts and checks their results. Other clusterers run in a "
        "process of their own on one thread, with the true number of clusters where they take one; UMAP has 30 "
        "neighbours and no minimal distance, HDBSCAN clusters of n / 50 points at least. "
        "Memory is the peak of the process, points and imported libraries included."
    )
    compared = [_comparison(case) for _, case in rows[~overhead].groupby("case", sort=False)]
    fits = [_case(case) for _, case in rows[overhead].groupby("case", sort=False)]
    return "\n\n".join([wrapped(text), *fits, *compared])


def _comparison(rows: pd.DataFrame) -> str:
    """One row per clusterer: medians of its runs."""
    lines = [
        f"{rows['size'].iloc[0]}:",
        "",
        "| | accuracy | CPU s | wall s | peak memory (MB) | runs | |",
        "|---" * 7 + "|",
    ]
    for peer, mine in rows.groupby("peer", sort=False):
        median = mine.set_index("quantity")["median"]
        values = (_number(median.get(q, np.nan)) for q in ("accuracy", "cpu_seconds", "seconds", "peak_mb"))
        lines.append(f"| {' | '.join([peer, *values, str(mine['repeats'].max()), mine['note'].iloc[0]])} |")
    return "\n".join(lines)


SECTIONS = {
    "estimators": estimator_tables,
    "stages": stage_table,
    "methods": method_table,
    "automatic": automatic_tables,
}


def origin(made: dict[str, dict[str, Any]]) -> str:
    """Machine, versions and duration of the parts; parts with equal ones share an entry."""
    groups: dict[str, list[str]] = {}
    for part, how in made.items():
        groups.setdefault(how["with"], []).append(f"{part} ({how['seconds']:.0f} s)")
    lines = [wrapped(f"{', '.join(parts)}: {how}") for how, parts in groups.items()]
    lines = ["- " + line.replace("\n", "\n  ") for line in lines]
    total = sum(how["seconds"] for how in made.values())
    return f"## Machine, versions, duration\n\n{total / 60:.0f} minutes in total, by part:\n\n" + "\n".join(lines)


def draw(results: Results, folder: Path) -> None:
    """Draw the figures of the measured parts."""
    from figures import plot_coders, plot_methods
    from lssc.report.style import save

    if len(results.of("methods")):
        save(plot_methods(results.of("methods")), folder / "benchmarks_methods.png")
    if len(results.of("stages")) and len(results.of("lasso")):
        save(plot_coders(results.of("lasso"), results.of("stages"), STAGES), folder / "benchmarks_coders.png")
