"""The tidy score table: one row per method and trial."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lssc.pipeline.store.artifacts import is_number, reading
from lssc.pipeline.study.recipes import Study

UNITS = ("seconds", "cpu_seconds")
STAGES = ("select", "code", "embed", "cluster")
COLUMNS = (
    *("accuracy", "nmi", "ari", *UNITS),
    *(f"{stage}_{unit}" for unit in UNITS for stage in STAGES),
    *(f"{stage}_peak_mb" for stage in STAGES),
    *("peak_mb", "converged"),
)


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
                    "full_data": run.method.uses_all_points,
                    **setting,
                    **{key: _rounded(key, values[key]) for key in COLUMNS},
                }


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
