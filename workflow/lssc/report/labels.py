"""Labels of a finished run as CSV files, one per method, n and m, of a leaderboard also per dataset."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from lssc.errors import InputError
from lssc.parts.registry import suggest
from lssc.pipeline.store.artifacts import reading
from lssc.pipeline.store.files import read_text, write_text
from lssc.pipeline.study.load import load
from lssc.pipeline.study.model import Experiment, Run, Study
from lssc.pipeline.study.paths import LAST_CONFIG


def write_labels(results: Path, experiment: str, methods: Sequence[str], out: Path | None = None) -> list[Path]:
    """Write `trial,row,label` for every run of an experiment; of all its methods if none is named.

    `row` counts from zero: the row of the point in the collection it was drawn from, or in the trial's own points.
    """
    study = _study(results)
    planned = _known(experiment, study.experiments, "experiment")
    chosen = {_known(id, {method.id: method.id for method in planned.methods}, "method") for id in methods}
    out = out or results / "experiments" / experiment / "labels"
    tables: dict[Path, list[str]] = {}
    for run in planned.runs():
        if not chosen or run.method.id in chosen:
            dataset = run.dataset if planned.is_leaderboard else ""
            tables.setdefault(out / _file_name(run, dataset), ["trial,row,label"]).extend(_rows(study, run))
    for path, lines in tables.items():
        write_text(path, "\n".join(lines) + "\n")
    return list(tables)


def _study(results: Path) -> Study:
    """The study that was last run into a results folder, wherever the folder lies now."""
    config = results / LAST_CONFIG
    if not config.is_file():
        raise InputError(f"{results}: no {LAST_CONFIG} there; name the results folder of a run, such as results/demo")
    return load({**json.loads(read_text(config)), "results": str(results)})


def _known(name: str, table: dict[str, Experiment] | dict[str, str], what: str) -> Experiment | str:
    if name not in table:
        raise InputError(f"unknown {what} {name!r}; {suggest(name, table)}")
    return table[name]


def _file_name(run: Run, dataset: str) -> str:
    setting = "+".join(f"{key}={value}" for key, value in run.method.setting.items())
    return "-".join(filter(None, [run.method.id, dataset, f"n{run.n}", f"m{run.m}", setting])) + ".csv"


def _rows(study: Study, run: Run) -> Iterator[str]:
    files = run.artifacts(study.paths)
    missing = [file for file in (files["data"], files["result"]) if not Path(file).is_file()]
    if missing:
        raise InputError(f"{missing[0]}: not there; run the experiment first")
    with reading(Path(files["data"])) as data, reading(Path(files["result"])) as result:
        for trial in run.block.trials:
            if "stopped" in result.facts(trial):
                continue
            labels = result.array(trial, "labels")
            rows = data.array(trial, "origin") if data.has(trial, "origin") else np.arange(len(labels))
            yield from (f"{trial},{row},{label}" for row, label in zip(rows.tolist(), labels.tolist(), strict=True))
