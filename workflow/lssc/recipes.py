"""Config in, checked and typed experiments out: what to run, with which parts, and where the results go."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lssc.blocks import Block, blocks
from lssc.checking import KINDS, config_problems
from lssc.paths import Paths
from lssc.registry import find, param_problems


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
    if problems := config_problems(config):
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
