"""The report of a study: one HTML page of its verdicts, figures, parameters and provenance that needs nothing else.

Everything shown comes from config and from the files that the workflow made; the page's template escapes all of it.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lssc import __version__
from lssc.parts.registry import find
from lssc.pipeline.store.files import read_text
from lssc.pipeline.study.model import Experiment, Method, Study
from lssc.pipeline.study.recipes import figures_recipe
from lssc.pipeline.study.results import PICTURES, results_of
from lssc.pipeline.study.results import STEP_TIMES as STAGES
from lssc.report.inlining import inlined
from lssc.report.units import format_number

TEMPLATE = Path(__file__).parent / "page.html"
# In the order of display; the sign tells them apart where colours do not.
VERDICTS = {"holds": "✔", "holds in part": "◐", "does not hold": "✘", "undecided": "?", "not run": "–"}
SHOWN = {
    "accuracy": "clustering accuracy",
    "nmi": "normalised mutual information",
    "ari": "adjusted Rand index",
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


def page(study: Study, claims: Sequence[Mapping[str, Any]]) -> str:
    """The whole page; relative links in it start from the folder of `study.paths.report`."""
    from jinja2 import Environment, StrictUndefined

    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template.filters.update(link=lambda path: link(path, study.paths.report))
    experiments = [_experiment(study, study.experiments[id]) for id in study.run]
    images = [Path(figure["png"]) for e in experiments for figure in e["images"]]
    made = made_by({e["id"]: e["made"] for e in experiments})
    return template.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        version=__version__,
        results=study.results,
        seed=study.seed,
        judged=[claim for claim in claims if claim["verdict"] != "not run"],
        not_run=[claim for claim in claims if claim["verdict"] == "not run"],
        verdicts=VERDICTS,
        format_number=format_number,
        counts=count_verdicts(claims),
        claim_files=[study.paths.claims, study.paths.findings],
        experiments=experiments,
        made=made,
        facts=list(dict.fromkeys(key for group in made for key in group["facts"])),
        sources={id: source["source"] for e in experiments for id, source in e["made"].get("images", {}).items()},
        inlined={str(path): inlined(path) for path in images},
    )


def count_verdicts(claims: Sequence[Mapping[str, Any]]) -> dict[str, Counter]:
    """Whose claims -> how many have each verdict. A reading of the paper is not one of its claims."""
    counts: dict[str, Counter] = {}
    for claim in claims:
        if not claim["reading"]:
            whose = "of one's own" if claim.get("own") else "of the paper"
            counts.setdefault(whose, Counter())[claim["verdict"]] += 1
    return counts


def link(path: str, page: str) -> str:
    """Where a file lies as seen from the page."""
    return quote(Path(os.path.relpath(path, Path(page).parent)).as_posix())


def made_by(provenances: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Software and machine, with the experiments they made: one entry if all were made by the same."""
    groups: list[dict[str, Any]] = []
    for experiment, provenance in provenances.items():
        facts = _facts(provenance)
        same = next((group for group in groups if group["facts"] == facts), None)
        if same is None:
            groups.append(same := {"facts": facts, "experiments": []})
        same["experiments"].append(experiment)
    return groups


def _facts(provenance: Mapping[str, Any]) -> dict[str, str]:
    machine = provenance.get("machine", {})
    told = {
        "commit": provenance.get("commit"),
        "lssc": provenance.get("library"),
        "system": machine.get("system"),
        "processor": machine.get("processor"),
        "cores": machine.get("cores"),
        "Python": provenance.get("python"),
        **provenance.get("packages", {}),
    }
    return {key: "not known" if value is None else str(value) for key, value in told.items()}


def _experiment(study: Study, experiment: Experiment) -> dict[str, Any]:
    id = experiment.id
    figures, stages = _figures(study, experiment), _stages(study, experiment)
    sweep = _sweep(study, experiment) if experiment.is_sweep else None
    pictures = _pictures(study, experiment) if experiment.pictures else []
    tables = [path for path in results_of(study, id) if Path(path).parent.name == id and Path(path).suffix != ".png"]
    return {
        "id": id,
        "title": experiment.title,
        "trials": _trials(experiment),
        "size": _size(study, experiment),
        "figures": figures,
        "pictures": pictures,
        "stages": stages,
        "sweep": sweep,
        "methods": [] if sweep else [_method(study, experiment, method) for method in experiment.methods],
        "images": [*figures, *pictures, *stages, *([sweep] if sweep else [])],
        "tables": tables,
        "made": _json(study, id, "provenance.json"),
    }


def _size(study: Study, experiment: Experiment) -> str:
    n, m = (_list(f"{value:,}" for value in values) for values in (experiment.ns, experiment.ms))
    return f"{study.datasets[experiment.dataset].label}, n = {n}, m = {m}, {_trials(experiment)}"


def _trials(experiment: Experiment) -> str:
    told = f"{experiment.trials} trial{'s' * (experiment.trials > 1)}"
    labels = {method.label: experiment.trials_of(method.id) for method in experiment.methods}
    others = [f"{label} {trials}" for label, trials in labels.items() if trials != experiment.trials]
    return f"{told} ({_list(others)})" if others else told


def _figures(study: Study, experiment: Experiment) -> list[dict[str, str]]:
    """The figures of config, with what they show."""
    shown = json.loads(figures_recipe(study, experiment.id))
    shown.pop(STAGES, None)
    found = []
    for name, spec in shown.items():
        methods = [method for method in experiment.methods if method.id in spec["methods"]]
        what = f"{SHOWN[spec['y']]} against the {AXES[spec['x']]}"
        dashed = "; dashed: methods that use all points" if any(m.ignores_m for m in methods) else ""
        caption = f"{what}, mean and standard deviation over {_trials(experiment)}{dashed}"
        alt = f"{what}: a line for each of {_list(method.label for method in methods)}"
        found.append(_image(study, experiment, f"figures/{name}", caption, alt, ends=("csv", "pdf", "png")))
    return found


def _stages(study: Study, experiment: Experiment) -> list[dict[str, str]]:
    if experiment.is_sweep:
        return []
    caption = "how the CPU seconds of each method divide among its stages, at the largest n and m; totals at the right"
    alt = f"runtimes by stage: a bar for each of {_list(method.label for method in experiment.methods)}"
    image = _image(study, experiment, f"figures/{STAGES}", caption, alt, ends=("csv", "pdf", "png"))
    return [{**image, "name": experiment.id}]


def _pictures(study: Study, experiment: Experiment) -> list[dict[str, str]]:
    where = f"first trial, m = {experiment.pictures['m']:,}"
    found = []
    for name in PICTURES:
        caption = f"{PICTURE_CAPTIONS[name]} ({where})"
        found.append(_image(study, experiment, f"pictures/{name}", caption, caption, ends=("pdf", "png")))
    return found


def _image(
    study: Study, experiment: Experiment, name: str, caption: str, alt: str, *, ends: Iterable[str]
) -> dict[str, str]:
    files = {end: study.paths.experiment(f"{name}.{end}").format(experiment=experiment.id) for end in ends}
    return {"name": Path(name).name, "caption": caption, "alt": f"{experiment.title}: {alt}", **files}


def _sweep(study: Study, experiment: Experiment) -> dict[str, Any]:
    """What was swept, what was chosen, and the picture of it."""
    labels = {method.id: method.label for method in experiment.methods}
    grids = study.config["experiments"][experiment.id]["sweep"]
    swept = {id: [(key, _list(map(_value, values))) for key, values in grid.items()] for id, grid in grids.items()}
    best = {row["method"]: row for row in _csv(study, experiment.id, "best.csv")}
    for row in best.values():
        # Tables of earlier versions have no such column.
        edges = row.get("at_edge", "").split()
        marks = dict.fromkeys(edges, " (edge of the grid)")
        row["chosen"] = [(key, _value(value) + marks.get(key, "")) for key, value in json.loads(row["setting"]).items()]
    caption = "mean accuracy of each method over its parameters; a star at the best, white at the edge of the grid"
    alt = f"parameter sweeps: a panel for each of {_list(labels.values())}"
    image = _image(study, experiment, "sweep", caption, alt, ends=("csv", "pdf", "png"))
    rows = [{"label": labels[id], "swept": swept[id], "best": best.get(id)} for id in grids]
    return {**image, "held": experiment.held, "rows": rows}


def _method(study: Study, experiment: Experiment, method: Method) -> dict[str, Any]:
    usual = {part.kind: part.params for part in study.methods[method.id].parts}
    parts = []
    for part in method.parts:
        defaults = find(part.kind, part.name).defaults
        params = [
            (key, _value(value), _standing(value, usual[part.kind][key], defaults[key]))
            for key, value in part.params.items()
        ]
        parts.append({"name": part.name, "params": params})
    dataset = study.datasets[experiment.dataset_of(method)].label
    return {"label": method.label, "dataset": dataset, "trials": experiment.trials_of(method.id), "parts": parts}


def _standing(value: Any, usual: Any, default: Any) -> str:
    """Whose word a parameter's value is."""
    if value != usual:
        return "experiment"
    return "default" if value == default else "method"


def _value(value: Any) -> str:
    """A parameter's value as YAML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _list(words: Iterable[str]) -> str:
    return ", ".join(words)


def _json(study: Study, experiment: str, name: str) -> dict[str, Any]:
    return json.loads(_text(study, experiment, name))


def _csv(study: Study, experiment: str, name: str) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(_text(study, experiment, name), newline="")))


def _text(study: Study, experiment: str, name: str) -> str:
    return read_text(Path(study.paths.experiment(name).format(experiment=experiment)))
