"""Config in, checked and typed experiments out: what to run, with which parts, and where the results go."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lssc.blocks import Block, blocks
from lssc.paths import Paths
from lssc.registry import find, param_problems, suggest
from lssc.registry import names as registry_names

SCHEMA = Path(__file__).parent.parent / "schemas" / "config.schema.yaml"
KINDS = ("selector", "coder", "embedder")


class ConfigError(Exception):
    """Everything wrong with a config, one line each: key, value, what would be right."""

    def __init__(self, problems: list[str]) -> None:
        # Keys may hold anything, line breaks too.
        plain = ("".join(c if c.isprintable() else "?" for c in problem) for problem in problems)
        super().__init__("\n".join(f"config: {problem}" for problem in plain))


@dataclass(frozen=True)
class Part:
    """A selector, coder, embedder or dataset generator with its parameters."""

    kind: str
    name: str
    params: Mapping[str, Any]

    @classmethod
    def of(cls, kind: str, entry: str | Mapping[str, Any]) -> Part:
        entry = {"name": entry} if isinstance(entry, str) else dict(entry)
        name = entry.pop("name")
        part = find(kind, name)
        given = {k: float(v) if _is_float(part.hints.get(k), v) else v for k, v in entry.items()}
        return cls(kind, name, {**part.defaults, **given})

    @property
    def slug(self) -> str:
        """The folder of its results: the name, then the parameters that are not at their defaults."""
        defaults = find(self.kind, self.name).defaults
        told = [f"{k}={_short(v)}" for k, v in sorted(self.params.items()) if v != defaults[k]]
        return ".".join([self.name, ",".join(told)] if told else [self.name])

    def with_params(self, values: Mapping[str, Any]) -> Part:
        """The same part with those of the values that are parameters of it."""
        known = {k: v for k, v in values.items() if k in self.params}
        return Part.of(self.kind, {"name": self.name, **self.params, **known})

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "params": dict(self.params)}


@dataclass(frozen=True)
class Dataset:
    id: str
    generator: Part
    n_clusters: int
    unit_norm: bool


@dataclass(frozen=True)
class Method:
    """A row of the methods table; `setting` holds what a sweep changed in it."""

    id: str
    label: str
    selector: Part
    coder: Part
    embedder: Part
    setting: Mapping[str, Any]

    @property
    def parts(self) -> tuple[Part, Part, Part]:
        return self.selector, self.coder, self.embedder

    @property
    def uses_all_points(self) -> bool:
        return self.selector.name == "all"

    def value(self, key: str) -> Any:
        """A parameter of whichever part has it; None if none has."""
        return next((part.params[key] for part in self.parts if key in part.params), None)

    def with_setting(self, setting: Mapping[str, Any]) -> Method:
        changed = {part.kind: part.with_params(setting) for part in self.parts}
        return replace(self, **changed, setting=setting)


@dataclass(frozen=True)
class Run:
    """One method on one block of trials of a dataset, at one n and m."""

    dataset: str
    n: int
    m: int
    block: Block
    method: Method

    @property
    def wildcards(self) -> dict[str, str]:
        parts = {part.kind: part.slug for part in self.method.parts}
        return {"dataset": self.dataset, "n": str(self.n), "m": str(self.m), "block": str(self.block), **parts}


@dataclass(frozen=True)
class Experiment:
    """A grid of runs; `overrides` holds the datasets and numbers of trials that differ by method."""

    id: str
    title: str
    stream: str
    block: int
    ns: tuple[int, ...]
    ms: tuple[int, ...]
    trials: int
    dataset: str
    methods: tuple[Method, ...]
    overrides: Mapping[str, Mapping[str, Any]]
    figures: Mapping[str, Mapping[str, Any]]
    held: tuple[str, ...]
    is_sweep: bool

    def trials_of(self, method: str) -> int:
        return self.overrides.get(method, {}).get("trials", self.trials)

    def dataset_of(self, method: Method) -> str:
        own = self.overrides.get(method.id, {}).get("dataset", self.dataset)
        return method.setting.get("dataset", own)

    def runs(self) -> Iterator[Run]:
        for method, n in itertools.product(self.methods, self.ns):
            # A method that uses all points does not depend on m: one run serves the whole grid.
            for m in (n,) if method.uses_all_points else self.ms:
                for block in blocks(self.stream, self.trials_of(method.id), self.block):
                    yield Run(self.dataset_of(method), n, m, block, method)


@dataclass(frozen=True)
class Study:
    """A whole config, checked."""

    seed: int
    results: str
    run: tuple[str, ...]
    kmeans: Mapping[str, int]
    datasets: Mapping[str, Dataset]
    methods: Mapping[str, Method]
    experiments: Mapping[str, Experiment]
    config: Mapping[str, Any]

    @property
    def paths(self) -> Paths:
        return Paths(self.results)

    @cached_property
    def parts(self) -> dict[tuple[str, str], Part]:
        """(kind, slug) -> part, for every part that any run uses."""
        methods = [method for e in self.experiments.values() for method in e.methods]
        return {(part.kind, part.slug): part for method in methods for part in method.parts}

    def fragment(self, experiment: str) -> str:
        """The part of the config that an experiment's scores depend on, itself a config: as JSON."""
        wanted = self.experiments[experiment]
        methods = {method.id for method in wanted.methods}
        entry = {key: value for key, value in self.config["experiments"][experiment].items() if key != "figures"}
        entry["overrides"] = {id: value for id, value in wanted.overrides.items() if id in methods}
        overridden = {o["dataset"] for o in entry["overrides"].values() if "dataset" in o}
        datasets = {wanted.dataset, *overridden, *(wanted.dataset_of(method) for method in wanted.methods)}
        kept = {
            **self.config,
            "run": [experiment],
            "experiments": {experiment: entry},
            "methods": {id: entry for id, entry in self.config["methods"].items() if id in methods},
            "datasets": {id: entry for id, entry in self.config["datasets"].items() if id in datasets},
        }
        return json.dumps(kept)

    @property
    def with_figures(self) -> list[str]:
        """The experiments that have something to draw."""
        return [id for id in self.experiments if self._figures(id)]

    def figures_of(self, experiment: str) -> list[str]:
        """Every figure as PDF and PNG, with the numbers it shows."""
        names = [f"figures/{id}.{end}" for id in self._figures(experiment) for end in ("pdf", "png", "csv")]
        return [self.paths.experiment(name).format(experiment=experiment) for name in names]

    def results_of(self, experiment: str) -> list[str]:
        """What a reader wants of an experiment."""
        sweep = ["best.csv", "sweep.csv", "sweep.png"] if self.experiments[experiment].is_sweep else []
        names = ["scores.csv", "provenance.json", *sweep]
        return [self.paths.experiment(n).format(experiment=experiment) for n in names] + self.figures_of(experiment)

    def figures_recipe(self, experiment: str) -> str:
        """What each figure shows, as JSON."""
        wanted = self.experiments[experiment]
        # Colours follow the methods table, so that a method looks the same in every figure.
        order = {id: entry["label"] for id, entry in self.config["methods"].items()}
        common = {"methods": list(order), "title": wanted.title, "ms": wanted.ms, "order": order}
        return json.dumps({id: {**common, **entry} for id, entry in self._figures(experiment).items()})

    def _figures(self, experiment: str) -> dict[str, Mapping[str, Any]]:
        """The figures of an experiment that any of its methods appears in."""
        ids = {method.id for method in self.experiments[experiment].methods}
        figures = self.experiments[experiment].figures
        return {id: entry for id, entry in figures.items() if ids & set(entry.get("methods", ids))}

    def held_values(self, experiment: str) -> str:
        """The method's own values of the keys that a sweep shows but does not choose, as JSON."""
        wanted = self.experiments[experiment]
        methods = {id: self.methods[id] for id in dict.fromkeys(method.id for method in wanted.methods)}
        return json.dumps({id: {key: method.value(key) for key in wanted.held} for id, method in methods.items()})

    def data_recipe(self, dataset: str, n: int, block: str) -> str:
        data = self.datasets[dataset]
        return self._recipe(
            n, block, n_clusters=data.n_clusters, unit_norm=data.unit_norm, part=data.generator.as_dict()
        )

    def part_recipe(self, kind: str, slug: str, n: int, block: str, **more: Any) -> str:
        return self._recipe(n, block, part=self.parts[kind, slug].as_dict(), **more)

    def clusters_recipe(self, dataset: str, n: int, block: str) -> str:
        return self._recipe(n, block, n_clusters=self.datasets[dataset].n_clusters, kmeans=dict(self.kmeans))

    def score_recipe(self, n: int, block: str) -> str:
        return self._recipe(n, block)

    def _recipe(self, n: int, block: str, **more: Any) -> str:
        return json.dumps({"seed": self.seed, "n": n, "block": block, **more}, sort_keys=True)


def load(config: Mapping[str, Any]) -> Study:
    """The study a config describes; ConfigError with every problem found, before anything runs."""
    problems = _shape_problems(config) or _reference_problems(config)
    if problems:
        raise ConfigError(problems)
    datasets = {
        id: Dataset(id, Part.of("dataset", e["generator"]), e["n_clusters"], e["unit_norm"])
        for id, e in config["datasets"].items()
    }
    methods = {
        id: Method(id, e["label"], *(Part.of(kind, e[kind]) for kind in KINDS), setting={})
        for id, e in config["methods"].items()
    }
    experiments = {id: _experiment(id, e, config, methods) for id, e in config["experiments"].items()}
    study = Study(
        config["seed"],
        config["results"].rstrip("/"),
        tuple(config["run"]),
        config["kmeans"],
        datasets,
        methods,
        experiments,
        config,
    )
    if problems := [p for id in study.run for p in _size_problems(study, experiments[id])]:
        raise ConfigError(list(dict.fromkeys(problems)))
    return study


def _experiment(
    id: str, entry: Mapping[str, Any], config: Mapping[str, Any], methods: Mapping[str, Method]
) -> Experiment:
    sweep = entry.get("sweep", {})
    chosen = [methods[name] for name in entry.get("methods", ())]
    swept = [methods[name].with_setting(s) for name, grid in sweep.items() for s in _settings(grid)]
    return Experiment(
        id,
        entry.get("title", id),
        entry.get("stream", "t"),
        entry.get("block", config["block"]),
        tuple(entry["n"]),
        tuple(entry["m"]),
        entry["trials"],
        entry["dataset"],
        (*chosen, *swept),
        entry.get("overrides", {}),
        entry.get("figures", {}),
        tuple(entry.get("held", ())),
        bool(sweep),
    )


def _settings(grid: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _shape_problems(config: Mapping[str, Any]) -> list[str]:
    import yaml
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # In JSON 3.0 is an integer; in Python it is no number of trials.
    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    validator = extend(Draft202012Validator, type_checker=types)(yaml.safe_load(SCHEMA.read_text()))
    errors = sorted(validator.iter_errors(config), key=lambda e: [str(p) for p in e.absolute_path])
    return [line for error in errors for line in _shape_lines(error)]


def _shape_lines(error: Any) -> list[str]:
    """One schema error as lines for people."""
    where = ".".join(map(str, error.absolute_path))
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = [key for key in error.instance if key not in known]
        return [f"{_join(where, key)}: unknown key; {suggest(key, known)}" for key in unknown]
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return [f"{_join(where, key)}: missing" for key in missing]
    if "propertyNames" in error.absolute_schema_path or error.validator == "pattern":
        return [f"{where}: {error.instance!r} is not a valid name; {error.schema['description']}"]
    return [f"{where or 'top level'}: {_brief(error.instance)} {_wanted(error)}"]


def _wanted(error: Any) -> str:
    value = error.validator_value
    match error.validator:
        case "type":
            return f"must be {_TYPES[value]}" if isinstance(value, str) else "must be a number, text, true or false"
        case "minimum":
            return f"must be at least {value}"
        case "minItems" | "minLength" | "minProperties":
            return "must not be empty"
        case "uniqueItems":
            return "must not repeat a value"
        case "enum":
            return f"must be one of {', '.join(map(str, value))}"
        case "anyOf":
            return "must be a name, or a mapping with a name and parameters"
    return f"is not allowed: {error.message}"


_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "boolean": "true or false",
}


def _reference_problems(config: Mapping[str, Any]) -> list[str]:
    """Names that point nowhere, and parameters that no part takes."""
    problems: list[str] = []

    def refer(where: str, name: str, table: str) -> None:
        if name not in config[table]:
            problems.append(f"{where}: unknown {table.removesuffix('s')} {name!r}; {suggest(name, config[table])}")

    for id, entry in config["datasets"].items():
        problems += _part_problems(f"datasets.{id}.generator", "dataset", entry["generator"])
    for id, entry in config["methods"].items():
        for kind in KINDS:
            problems += _part_problems(f"methods.{id}.{kind}", kind, entry[kind])
        problems += _pairing_problems(f"methods.{id}", entry)
    for name in config["run"]:
        refer("run", name, "experiments")
    for id, entry in config["experiments"].items():
        at = f"experiments.{id}"
        if ("methods" in entry) == ("sweep" in entry):
            problems.append(
                f"{at}: needs either methods or a sweep of some, not both"
                if "sweep" in entry
                else f"{at}.methods: missing; name the methods to run, or a sweep"
            )
        refer(f"{at}.dataset", entry["dataset"], "datasets")
        lists = {at: entry, **{f"{at}.figures.{id}": figure for id, figure in entry.get("figures", {}).items()}}
        for where, owner in lists.items():
            for name in owner.get("methods", ()):
                refer(f"{where}.methods", name, "methods")
        for name, override in entry.get("overrides", {}).items():
            refer(f"{at}.overrides", name, "methods")
            if "dataset" in override:
                refer(f"{at}.overrides.{name}.dataset", override["dataset"], "datasets")
        for name, grid in entry.get("sweep", {}).items():
            refer(f"{at}.sweep", name, "methods")
            for dataset in grid.get("dataset", ()):
                refer(f"{at}.sweep.{name}.dataset", dataset, "datasets")
    return problems or [p for id in config["experiments"] for p in _sweep_problems(config, id)]


def _part_problems(where: str, kind: str, entry: str | Mapping[str, Any]) -> list[str]:
    entry = {"name": entry} if isinstance(entry, str) else entry
    try:
        part = find(kind, entry["name"])
    except LookupError as error:
        return [f"{where}: {error}"]
    given = {k: v for k, v in entry.items() if k != "name"}
    return [f"{_join(where, k)}: {p}" for k, p in param_problems(part, given, {}).items()]


def _pairing_problems(where: str, entry: Mapping[str, Any]) -> list[str]:
    """Parts that need every point to be a landmark, beside a selector that leaves points out."""
    names = {kind: entry[kind] if isinstance(entry[kind], str) else entry[kind]["name"] for kind in KINDS}
    if names["selector"] == "all":
        return []
    return [
        f"{where}.{kind}: {names[kind]!r} needs all points as landmarks; use selector 'all', not {names['selector']!r}"
        for kind in ("coder", "embedder")
        if names[kind] in registry_names(kind) and find(kind, names[kind]).needs_all
    ]


def _sweep_problems(config: Mapping[str, Any], experiment: str) -> list[str]:
    """Sweep keys no part of the method takes, and values it cannot have."""
    problems = []
    entry = config["experiments"][experiment]
    swept = {key for grid in entry.get("sweep", {}).values() for key in grid}
    for key in entry.get("held", ()):
        if key not in swept - {"dataset"}:
            problems.append(f"experiments.{experiment}.held: {key!r} is no swept parameter; {suggest(key, swept)}")
    for name, grid in entry.get("sweep", {}).items():
        parts = [Part.of(kind, config["methods"][name][kind]) for kind in KINDS]
        own = {key: value for part in parts for key, value in part.params.items()}
        for key in set(entry.get("held", ())) & set(grid):
            if key in own and own[key] not in grid[key]:
                problems.append(
                    f"experiments.{experiment}.sweep.{name}.{key}: held at {own[key]!r}, which must be among the values"
                )
        known = {key for part in parts for key in part.params}
        for key, values in grid.items():
            where = f"experiments.{experiment}.sweep.{name}.{key}"
            if key != "dataset" and key not in known:
                problems.append(f"{where}: no part of {name!r} has it; {suggest(key, {*known, 'dataset'})}")
            for part, value in itertools.product((p for p in parts if key in p.params), values):
                found = param_problems(find(part.kind, part.name), {**part.params, key: value}, {})
                problems += [f"{where}: {problem}" for problem in found.values()]
    # Two parts of a method may share a parameter, and would say the same.
    return list(dict.fromkeys(problems))


def _size_problems(study: Study, experiment: Experiment) -> list[str]:
    """Numbers of points, landmarks and neighbours that do not fit each other."""
    at, problems = f"experiments.{experiment.id}", []
    for method in experiment.methods:
        K = study.datasets[experiment.dataset_of(method)].n_clusters
        for n in experiment.ns:
            if n % K:
                problems.append(f"{at}.n: {n} must be a multiple of n_clusters={K}")
            for m in (n,) if method.uses_all_points else experiment.ms:
                if m > n:
                    problems.append(f"{at}.m: {m} landmarks requested from n={n} points; need m <= n")
                if m < K:
                    problems.append(f"{at}.m: {m} landmarks for n_clusters={K}; need m >= n_clusters")
                for part in method.parts:
                    found = param_problems(find(part.kind, part.name), part.params, {"n": n, "m": m})
                    problems += [f"methods.{method.id}.{part.kind}.{k}: {p} in {at}" for k, p in found.items()]
    for figure, entry in experiment.figures.items():
        other = {"m": "n", "n": "m"}[entry["x"]]
        if experiment.is_sweep:
            problems.append(f"{at}.figures.{figure}: a sweep draws its own figure; remove {entry}")
        elif len(experiment.ns if other == "n" else experiment.ms) > 1:
            problems.append(
                f"{at}.figures.{figure}: over {entry['x']} it can show one {other} only; give {at}.{other} one value"
            )
    return problems


def _is_float(hint: Any, value: Any) -> bool:
    return getattr(hint, "__origin__", hint) is float and isinstance(value, int) and not isinstance(value, bool)


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0")


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else str(key)


def _brief(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
