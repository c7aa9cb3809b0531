"""What a report says about an experiment before it is run: sizes, figures, methods with their parameters, sweeps.

An outline is plain data. It lies in the experiment's own folder, so that a report needs no config.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from lssc.parts.registry import find
from lssc.pipeline.limits import LIMITS
from lssc.pipeline.study.model import Experiment, Method, Study
from lssc.pipeline.study.results import PICTURES, RANKS, STEP_TIMES, figure_specs, results_of
from lssc.pipeline.study.steps import KINDS

# The file in an experiment's folder that holds its outline.
DESCRIPTION = "experiment.json"
QUANTITIES = {
    "accuracy": "clustering accuracy",
    "nmi": "normalised mutual information",
    "ari": "adjusted Rand index",
    "eigengap": "eigengap after the K-th value",
    "share_uncoded": "share of points without a code",
    "agreement": "agreement between trials (ARI)",
    "seconds": "runtime (seconds, one thread)",
    "cpu_seconds": "runtime (CPU seconds, one thread)",
}
AXES = {"m": "number of landmarks m", "n": "number of points n"}
PICTURE_CAPTIONS = {
    "landmarks": "the landmarks that each method chose, one class after the other",
    "clusters": "random members of each cluster; those of another class are framed",
    "confusion": "true classes against the clusters that the points were put into",
    "embedding": "a view of the embedding in two dimensions, coloured by true class",
}


def outline(study: Study, id: str) -> dict[str, Any]:
    """The outline of an experiment. Files are named as seen from the experiment's folder."""
    experiment = study.experiments[id]
    folder = Path(study.paths.experiment("").format(experiment=id))
    files = [Path(path).relative_to(folder).as_posix() for path in results_of(study, id)]
    used = {part.kind for method in experiment.methods for part in method.parts}
    return {
        "id": id,
        "title": experiment.title,
        "seed": study.seed,
        "trials": _trials(experiment),
        "size": _size(study, experiment),
        "figures": _figures(study, experiment),
        "pictures": _pictures(experiment) if experiment.pictures else [],
        "leaderboard": _leaderboard(study, experiment) if experiment.is_leaderboard else None,
        "step_times": [] if experiment.is_sweep or experiment.is_leaderboard else [_step_times(experiment)],
        "sweep": _sweep(study, experiment) if experiment.is_sweep else None,
        "kinds": [kind for kind in KINDS if kind in used],
        "methods": [] if experiment.is_sweep else [_method(study, experiment, m) for m in experiment.methods],
        "files": files,
        "tables": [name for name in files if "/" not in name and name.endswith((".csv", ".json"))],
    }


def _size(study: Study, experiment: Experiment) -> str:
    if experiment.is_leaderboard:
        return f"{len(experiment.methods)} methods on {len(experiment.grids)} datasets, {_trials(experiment)}"
    if experiment.has_datasets:
        return f"{join(study.datasets[grid.dataset].label for grid in experiment.grids)}, {_trials(experiment)}"
    n, m = (join(f"{value:,}" for value in values) for values in (experiment.ns, experiment.ms))
    return f"{study.datasets[experiment.dataset].label}, n = {n}, m = {m}, {_trials(experiment)}"


def _trials(experiment: Experiment) -> str:
    text = f"{experiment.trials} trial{'s' * (experiment.trials > 1)}"
    labels = {method.label: experiment.trials_of(method.id) for method in experiment.methods}
    others = [f"{label} {trials}" for label, trials in labels.items() if trials != experiment.trials]
    return f"{text} ({join(others)})" if others else text


def _figures(study: Study, experiment: Experiment) -> list[dict[str, Any]]:
    """The figures that config asks for, with captions; a leaderboard shows its own beside its tables."""
    images = []
    if experiment.is_leaderboard:
        return images
    for name, spec in figure_specs(study, experiment.id).items():
        if name != STEP_TIMES:
            methods = [method for method in experiment.methods if method.id in spec.get("methods", [method.id])]
            what = f"{QUANTITIES[spec['y']]} against the {AXES[spec['x']]}"
            dashed = "; dashed: methods that use all points" if any(m.ignores_m for m in methods) else ""
            bands = "bands, where they can be told apart, of one standard deviation"
            caption = f"{what}, mean over {_trials(experiment)}, {bands}{dashed}"
            alt = f"{what}: a line for each of {join(method.label for method in methods)}"
            images.append(_image(experiment, name, f"figures/{name}", caption, alt, ("csv", "pdf", "png")))
    return images


def _leaderboard(study: Study, experiment: Experiment) -> dict[str, Any]:
    """The figure of ranks, and each dataset with its figure, whose numbers are its table."""
    ends, methods = ("csv", "pdf", "png"), f"a row for each of {join(method.label for method in experiment.methods)}"
    caption = "rank of each method by mean accuracy, on each dataset and on average"
    datasets = []
    for grid in experiment.grids:
        about = f"n = {grid.ns[0]:,}, K = {study.datasets[grid.dataset].n_clusters}, m = {grid.ms[0]:,}"
        counts = "" if grid.ranked else "; does not count in the ranks"
        text = (
            f"accuracy against CPU seconds on {grid.title}; no method is both faster and more accurate than the front"
        )
        image = _image(experiment, grid.title, f"figures/on_{grid.dataset}", text, text, ends)
        datasets.append({"title": grid.title, "about": about + counts, "image": image})
    limits = " or ".join(f"{limit:,} {LIMITS[key]}" for key, limit in experiment.limits.items())
    ranks = _image(experiment, RANKS, f"figures/{RANKS}", caption, f"{caption}: {methods}", ends)
    return {"ranks": ranks, "datasets": datasets, "limits": limits}


def _step_times(experiment: Experiment) -> dict[str, Any]:
    caption = "share of each step in a method's CPU seconds, at the largest n and m; totals at the right"
    alt = f"runtimes by step: a bar for each of {join(method.label for method in experiment.methods)}"
    return _image(experiment, experiment.id, f"figures/{STEP_TIMES}", caption, alt, ("csv", "pdf", "png"))


def _pictures(experiment: Experiment) -> list[dict[str, Any]]:
    captions = {name: f"{PICTURE_CAPTIONS[name]} (first trial, m = {experiment.pictures['m']:,})" for name in PICTURES}
    return [_image(experiment, name, f"pictures/{name}", text, text, ("pdf", "png")) for name, text in captions.items()]


def _image(experiment: Experiment, name: str, file: str, caption: str, alt: str, ends: Iterable[str]) -> dict[str, Any]:
    files = {end: f"{file}.{end}" for end in ends}
    return {"name": name, "caption": caption, "alt": f"{experiment.title}: {alt}", **files}


def _sweep(study: Study, experiment: Experiment) -> dict[str, Any]:
    """The swept values of each method, and the figure."""
    labels = {method.id: method.label for method in experiment.methods}
    grids = study.config["experiments"][experiment.id]["sweep"]
    rows = [
        {
            "id": id,
            "label": labels[id],
            "grid": [[key, join(map(format_value, values))] for key, values in grid.items()],
        }
        for id, grid in grids.items()
    ]
    caption = "mean accuracy of each method over its parameters; a star at the best, white at the edge of the grid"
    alt = f"parameter sweeps: a panel for each of {join(labels.values())}"
    image = _image(experiment, "sweep", "sweep", caption, alt, ("csv", "pdf", "png"))
    return {**image, "held": list(experiment.held), "rows": rows}


def _method(study: Study, experiment: Experiment, method: Method) -> dict[str, Any]:
    usual = {part.kind: part.params for part in study.methods[method.id].parts}
    parts = {}
    for part in method.parts:
        defaults = find(part.kind, part.name).defaults
        params = [
            [key, format_value(value), _set_by(value, usual[part.kind][key], defaults[key])]
            for key, value in part.params.items()
        ]
        parts[part.kind] = {"name": part.name, "params": params}
    dataset = "all" if experiment.is_leaderboard else study.datasets[experiment.dataset_of(method)].label
    trials = experiment.trials_of(method.id)
    return {"id": method.id, "label": method.label, "dataset": dataset, "trials": trials, "parts": parts}


def _set_by(value: Any, usual: Any, default: Any) -> str:
    """Who set a parameter: the experiment's overrides, the method, or nobody."""
    if value != usual:
        return "experiment"
    return "default" if value == default else "method"


def format_value(value: Any) -> str:
    """A parameter's value as YAML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def join(words: Iterable[str]) -> str:
    return ", ".join(words)


def runs_of(study: Study, id: str) -> list[dict[str, Any]]:
    """The runs of an experiment, in the order of its score table, with the files of their scores."""
    experiment, runs = study.experiments[id], []
    for run in experiment.runs():
        method: Mapping[str, Any] = {"method": run.method.id, "label": run.method.label}
        setting = {"setting": dict(run.method.setting)} if experiment.is_sweep else {}
        sizes = {"dataset": run.dataset, "n": run.n, "m": run.m, "block": str(run.block)}
        scores = study.paths.scores.format(**run.wildcards)
        runs.append({"scores": scores, **sizes, **method, "full_data": run.method.ignores_m, **setting})
    return runs


def complete_folders(experiments: Path, but: Collection[str]) -> list[str]:
    """The experiments in a results folder, but for some, whose folders hold all files that a report shows."""
    names = (folder.name for folder in sorted(experiments.glob("*")) if folder.name not in but)
    return [name for name in names if _is_complete(experiments / name)]


def _is_complete(folder: Path) -> bool:
    try:
        files = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["outline"]["files"]
        return all((folder / name).is_file() for name in files)
    except (OSError, ValueError, LookupError, TypeError):
        return False
