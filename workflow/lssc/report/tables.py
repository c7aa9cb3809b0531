"""The tidy score table: one row per method and trial."""

from __future__ import annotations

import csv
import io
import json
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lssc.pipeline.store.artifacts import reading
from lssc.pipeline.store.files import read_text
from lssc.pipeline.study.blocks import Block
from lssc.pipeline.study.steps import STEPS
from lssc.report.agreement import Labellings

UNITS = ("seconds", "cpu_seconds")
STAGES = tuple(step.verb for step in STEPS)
COLUMNS = (
    *("accuracy", "nmi", "ari", *UNITS),
    *(f"{stage}_{unit}" for unit in UNITS for stage in STAGES),
    *(f"{stage}_peak_mb" for stage in STAGES),
    *("peak_mb", "converged", "n_uncoded"),
)
# Columns of points whose true labels are not known, in place of accuracies.
WITHOUT_TRUTH = ("sizes", "eigengap", "share_uncoded", "agreement")
# The share of points without a code from which on a run warns.
MOST_UNCODED = 0.01


def score_rows(experiment: str, runs: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One row per run and trial, in the order of the runs, which are those of the experiment's description.

    If the true labels of some points are not known, all rows have the columns of `WITHOUT_TRUTH`. If some runs were
    stopped, all rows have the column `stopped`: the limit, `refused` or nothing.
    """
    rows, labellings = [], Labellings()
    for run in runs:
        with reading(Path(run["scores"])) as scores:
            for trial in Block.parse(run["block"]).trials:
                values = scores.facts(trial)["scores"]
                row = _row(experiment, run, trial, values)
                if scores.has(trial, "labels"):
                    row |= {"sizes": " ".join(map(str, values["sizes"])), "eigengap": _rounded("", values["eigengap"])}
                    row["share_uncoded"] = _rounded("", values["n_uncoded"] / run["n"])
                    labellings.add(row, scores.array(trial, "labels"), scores.array(trial, "origin"))
                rows.append(row)
    labellings.fill_in_agreement()
    more = [*(WITHOUT_TRUTH if any("sizes" in row for row in rows) else ())]
    more += ["stopped"] if any("stopped" in row for row in rows) else []
    yield from ({**row, **{key: row.get(key) for key in more}} for row in rows)


def _row(experiment: str, run: Mapping[str, Any], trial: int, values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "experiment": experiment,
        **{key: run[key] for key in ("dataset", "n", "m")},
        "trial": trial,
        **{key: run[key] for key in ("method", "label", "full_data")},
        **({"setting": json.dumps(run["setting"])} if "setting" in run else {}),
        # A run that was stopped has no scores.
        **{key: None if "stopped" in values else _rounded(key, values[key]) for key in COLUMNS},
        **{key: values[key] for key in ("stopped",) if key in values},
    }


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, as text."""
    return list(csv.DictReader(io.StringIO(read_text(path), newline="")))


@dataclass(frozen=True)
class Uncoded:
    """The largest share of points without a code of a method, and the sizes or setting at which it occurs."""

    label: str
    share: float
    where: str


def uncoded_shares(rows: Iterable[Mapping[str, str]]) -> dict[str, Uncoded]:
    """Method -> its points without a code. Tables of earlier versions, which lack the column, give nothing."""
    trials: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        if row.get("n_uncoded"):
            setting = f", {row['setting']}" if "setting" in row else ""
            where = f"n = {int(row['n']):,}, m = {int(row['m']):,}{setting}"
            key = (row["method"], row["label"], where, row.get("dataset", ""))
            trials.setdefault(key, []).append(int(row["n_uncoded"]) / int(row["n"]))
    largest: dict[str, Uncoded] = {}
    for (method, label, where, _), shares in trials.items():
        current = Uncoded(label, statistics.fmean(shares), where)
        if method not in largest or current.share > largest[method].share:
            largest[method] = current
    return largest


def uncoded_warnings(tables: Iterable[Path]) -> list[str]:
    """One line for each score table in which a method leaves more than 1 % of the points without a code."""
    lines = []
    for path in tables:
        many = [method for method in uncoded_shares(read_table(path)).values() if method.share > MOST_UNCODED]
        if many:
            worst = max(many, key=lambda method: method.share)
            others = f" ({len(many) - 1} more above {MOST_UNCODED:.0%})" if len(many) > 1 else ""
            what = f"{worst.label} leaves {worst.share:.1%} of the points without a code at {worst.where}{others}"
            lines.append(f"{path}: {what}; a larger lam or more landmarks code them")
    return lines


def as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rounded(key: str, value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return round(value, 1) if key.endswith("peak_mb") else round(value, 6)
