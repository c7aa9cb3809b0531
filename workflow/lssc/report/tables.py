"""The tidy score table: one row per method and trial."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lssc.pipeline.store.artifacts import is_number, reading
from lssc.pipeline.store.files import read_text
from lssc.pipeline.study.model import Study
from lssc.pipeline.study.steps import STEPS

UNITS = ("seconds", "cpu_seconds")
STAGES = tuple(step.verb for step in STEPS)
COLUMNS = (
    *("accuracy", "nmi", "ari", *UNITS),
    *(f"{stage}_{unit}" for unit in UNITS for stage in STAGES),
    *(f"{stage}_peak_mb" for stage in STAGES),
    *("peak_mb", "converged", "n_uncoded"),
)
# The share of points without a code from which on a run warns.
MOST_UNCODED = 0.01


def score_rows(study: Study, experiment: str) -> Iterator[dict[str, Any]]:
    """Every score of an experiment, in the order of its runs."""
    wanted = study.experiments[experiment]
    for run in wanted.runs():
        with reading(Path(study.paths.scores.format(**run.wildcards))) as scores:
            for trial in run.block.trials:
                setting = {"setting": json.dumps(dict(run.method.setting))} if wanted.is_sweep else {}
                values = scores.facts(trial).get("scores")
                whole = isinstance(values, dict) and all(_is_score(key, values.get(key)) for key in COLUMNS)
                scores.require(whole, f"has no scores of trial {trial}")
                yield {
                    "experiment": experiment,
                    "dataset": run.dataset,
                    "n": run.n,
                    "m": run.m,
                    "trial": trial,
                    "method": run.method.id,
                    "label": run.method.label,
                    "full_data": run.method.ignores_m,
                    **setting,
                    **{key: _rounded(key, values[key]) for key in COLUMNS},
                }


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, as text."""
    return list(csv.DictReader(io.StringIO(read_text(path), newline="")))


def uncoded_shares(rows: Iterable[Mapping[str, str]]) -> dict[str, tuple[float, str]]:
    """Method label -> the largest share of points without a code, and the sizes or setting at which it occurs.

    Tables of earlier versions, which lack the column, give nothing.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        if row.get("n_uncoded"):
            where = f"n = {int(row['n']):,}, m = {int(row['m']):,}"
            where += f", {row['setting']}" if "setting" in row else ""
            counts.setdefault((row["label"], where), []).append(int(row["n_uncoded"]) / int(row["n"]))
    shares: dict[str, tuple[float, str]] = {}
    for (label, where), values in counts.items():
        shares[label] = max(shares.get(label, (-1.0, "")), (sum(values) / len(values), where), key=lambda s: s[0])
    return shares


def uncoded_warnings(tables: Iterable[Path]) -> list[str]:
    """One line for each score table in which a method leaves more than 1 % of the points without a code."""
    lines = []
    for path in tables:
        shares = {m: s for m, s in uncoded_shares(read_table(path)).items() if s[0] > MOST_UNCODED}
        if shares:
            label, (share, where) = max(shares.items(), key=lambda item: item[1][0])
            others = f" ({len(shares) - 1} more above {MOST_UNCODED:.0%})" if len(shares) > 1 else ""
            lines.append(
                f"{path}: {label} leaves {share:.1%} of the points without a code at {where}{others};"
                " a larger lam or more landmarks code them"
            )
    return lines


def as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _is_score(key: str, value: Any) -> bool:
    return isinstance(value, bool) if key == "converged" else is_number(value)


def _rounded(key: str, value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return round(value, 1) if key.endswith("peak_mb") else round(value, 6)
