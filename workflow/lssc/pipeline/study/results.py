"""The result files of a study's experiments, and which runs they are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lssc.pipeline.study.model import Experiment, Run, Study

PICTURES = ("landmarks", "clusters", "confusion", "embedding")
# Runtime by step, drawn for every experiment that is no sweep.
STEP_TIMES = "stages"
# Figures of a leaderboard: mean ranks, and accuracy against time.
RANKS, LEADERBOARD = "ranks", "leaderboard"


def results_of(study: Study, experiment: str) -> list[str]:
    """The files that a reader wants of an experiment."""
    planned = study.experiments[experiment]
    sweep = ["best.csv", "sweep.csv", "sweep.pdf", "sweep.png"] if planned.is_sweep else []
    compared = ["agreement.csv"] if planned.compare else []
    tables = in_folder(study, experiment, ["scores.csv", "provenance.json", *sweep, *compared])
    return tables + figures_of(study, experiment) + pictures_of(study, experiment)


def figures_of(study: Study, experiment: str) -> list[str]:
    """Every figure as PDF and PNG, with the numbers it shows."""
    names = [f"figures/{id}.{end}" for id in figure_specs(study, experiment) for end in ("pdf", "png", "csv")]
    return in_folder(study, experiment, names)


def pictures_of(study: Study, experiment: str) -> list[str]:
    """Every picture as PDF and PNG."""
    if not study.experiments[experiment].pictures:
        return []
    return in_folder(study, experiment, [f"pictures/{id}.{end}" for id in PICTURES for end in ("pdf", "png")])


def in_folder(study: Study, experiment: str, names: Iterable[str]) -> list[str]:
    """Files of these names in the experiment's folder."""
    return [study.paths.experiment(name).format(experiment=experiment) for name in names]


def figure_specs(study: Study, experiment: str) -> dict[str, Mapping[str, Any]]:
    """The figures of config that show any of the experiment's methods, and the runtimes by step.

    Those of a leaderboard are the ranks, and accuracy against time on each dataset.
    """
    planned = study.experiments[experiment]
    if planned.is_leaderboard:
        return _leaderboard_specs(planned)
    ids = {method.id for method in planned.methods}
    own = {id: entry for id, entry in planned.figures.items() if ids & set(entry.get("methods", ids))}
    return own if planned.is_sweep else {**own, STEP_TIMES: {"y": STEP_TIMES}}


def _leaderboard_specs(planned: Experiment) -> dict[str, Mapping[str, Any]]:
    common = {"parameters": {method.id: method.parameters for method in planned.methods}}
    ranked = {grid.dataset: grid.title for grid in planned.grids if grid.ranked}
    specs = {f"on_{grid.dataset}": {"y": LEADERBOARD, "dataset": grid.dataset, **common} for grid in planned.grids}
    titles = {f"on_{grid.dataset}": {"title": f"{grid.title}, n = {grid.ns[0]:,}"} for grid in planned.grids}
    return {RANKS: {"y": RANKS, "datasets": ranked, **common}, **{id: specs[id] | titles[id] for id in specs}}


def pictured_runs(study: Study, experiment: str) -> list[Run]:
    """The first trial of each method that pictures show."""
    planned = study.experiments[experiment]
    shown = planned.pictures
    return [
        run
        for run in planned.runs()
        if run.method.id in shown["methods"]
        and (run.method.ignores_m or run.m == shown["m"])
        and 0 in run.block.trials
        and run.n == planned.ns[0]
    ]


def compared_runs(study: Study, experiment: str) -> list[tuple[Run, Run]]:
    """Pairs of runs on the same trials, of the two methods whose embeddings are compared."""
    planned, pairs = study.experiments[experiment], {}
    for run in planned.runs():
        if run.method.id in planned.compare:
            pairs.setdefault((run.n, run.m, run.block), {})[run.method.id] = run
    return [tuple(pair[id] for id in planned.compare) for pair in pairs.values()]


def pictured_files(study: Study, experiment: str) -> list[str]:
    """The artifacts that pictures are drawn from, method by method."""
    runs = pictured_runs(study, experiment)
    return [run.artifacts(study.paths)[name] for run in runs for name in ("data", "landmarks", "embedding", "result")]


def compared_files(study: Study, experiment: str) -> list[str]:
    """Embedding and labels of one method, then of the other, pair by pair."""
    runs = [run for pair in compared_runs(study, experiment) for run in pair]
    return [run.artifacts(study.paths)[name] for run in runs for name in ("embedding", "result")]


def judged(study: Study) -> list[str]:
    """The experiments to run that claims are judged by."""
    planned = ((id, study.experiments[id]) for id in study.run)
    return [id for id, experiment in planned if not (experiment.is_sweep or experiment.is_leaderboard)]


def comparing(study: Study) -> list[str]:
    """The experiments to run that compare embeddings."""
    return [id for id in study.run if study.experiments[id].compare]


def folders_of(study: Study, experiments: Iterable[str]) -> list[Path]:
    """The folders that these experiments write to; the data folder only if they use images or tables."""
    uses_store = any(study.collections_of(id) or study.tables_of(id) for id in experiments)
    store = [study.store] if uses_store else []
    return [Path(folder) for folder in [study.results, *store]]
