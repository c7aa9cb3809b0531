"""Config in, checked and typed experiments out: what to run, with which parts, and where the results go."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from lssc.parts.registry import find, param_problems, suggest
from lssc.pipeline.config.checks import KINDS, config_problems, part_entry
from lssc.pipeline.config.plain import LONGEST, as_json
from lssc.pipeline.study.blocks import Block, blocks
from lssc.pipeline.study.paths import Paths

PICTURES = ("landmarks", "clusters", "confusion", "embedding")
# The artifacts that pictures are drawn from.
PICTURED = ("data", "landmarks", "embedding", "labels")
# The figure that no config has to ask for.
STAGES = "stages"
# Lines about one config.
MOST_TOLD = 50


class ConfigError(Exception):
    """Everything wrong with a config, or the first fifty things, one line each: key, value, what would be right."""

    def __init__(self, problems: list[str]) -> None:
        # Keys and values may hold anything, line breaks too, and as much as they like.
        short = [problem if len(problem) <= 500 else f"{problem[:497]}..." for problem in problems[:MOST_TOLD]]
        short += [f"and {len(problems) - MOST_TOLD:,} more"] * (len(problems) > MOST_TOLD)
        plain = ("".join(c if c.isprintable() else "?" for c in problem) for problem in short)
        super().__init__("\n".join(f"config: {problem}" for problem in plain))


@dataclass(frozen=True)
class Part:
    """A selector, coder, embedder, clusterer or dataset generator with its parameters."""

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
        return _slug(self.name, self.params, find(self.kind, self.name).defaults)

    def with_params(self, values: Mapping[str, Any]) -> Part:
        """The same part with those of the values that are parameters of it."""
        known = {k: v for k, v in values.items() if k in self.params}
        return Part.of(self.kind, {"name": self.name, **self.params, **known})

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "params": dict(self.params)}


@dataclass(frozen=True)
class Collection:
    """Labelled images in files, and the features they are turned into, shard by shard."""

    id: str
    folder: str | None
    sources: tuple[Part, ...]
    counts: tuple[int, ...]
    sha256: Mapping[str, str]
    features: Part
    shard: int
    first: int | None
    names: tuple[str, ...]

    @property
    def size(self) -> int:
        return min(sum(self.counts), self.first or sum(self.counts))

    @property
    def width(self) -> int | None:
        """How many features an image has, if their part tells."""
        width = find("features", self.features.name).width
        return width(**self.features.params) if width else None

    @property
    def shards(self) -> list[str]:
        """`00000-04999` and so on: which images a feature file holds."""
        ends = [min(start + self.shard, self.size) for start in range(0, self.size, self.shard)]
        return [f"{start:05d}-{end - 1:05d}" for start, end in zip(range(0, self.size, self.shard), ends, strict=True)]


@dataclass(frozen=True)
class Dataset:
    id: str
    generator: Part
    n_clusters: int
    unit_norm: bool
    label: str

    @property
    def collection(self) -> str | None:
        """The image collection it draws from, if it does."""
        return self.generator.params.get("collection")

    @property
    def reduction(self) -> dict[str, Any] | None:
        """How the features of all images are reduced; None if each trial reduces its own."""
        if self.collection is None or self.generator.params["pca_on"] == "subset":
            return None
        return {key: self.generator.params[key] for key in ("path_maximum", "centre", "dim")}

    @property
    def reduction_slug(self) -> str:
        return _slug("pca", self.reduction, find("dataset", self.generator.name).defaults)


@dataclass(frozen=True)
class Method:
    """A row of the methods table; `setting` holds what a sweep changed in it."""

    id: str
    label: str
    selector: Part
    coder: Part
    embedder: Part
    clusterer: Part
    setting: Mapping[str, Any]

    @property
    def parts(self) -> tuple[Part, Part, Part, Part]:
        return self.selector, self.coder, self.embedder, self.clusterer

    @property
    def uses_all_points(self) -> bool:
        return self.selector.name == "all"

    def value(self, key: str) -> Any:
        """A parameter of whichever part has it; None if none has."""
        return next((part.params[key] for part in self.parts if key in part.params), None)

    def with_params(self, values: Mapping[str, Any]) -> Method:
        """The same method; each of the values goes to every part that has such a parameter."""
        return replace(self, **{part.kind: part.with_params(values) for part in self.parts})

    def with_setting(self, setting: Mapping[str, Any]) -> Method:
        return replace(self.with_params(setting), setting=setting)


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
    """A grid of runs; `overrides` holds what differs by method: dataset, number of trials, parameters."""

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
    pictures: Mapping[str, Any] | None
    compare: tuple[str, ...]

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
    store: str
    run: tuple[str, ...]
    collections: Mapping[str, Collection]
    datasets: Mapping[str, Dataset]
    methods: Mapping[str, Method]
    experiments: Mapping[str, Experiment]
    config: Mapping[str, Any]

    @property
    def paths(self) -> Paths:
        return Paths(self.results, self.store)

    @cached_property
    def parts(self) -> dict[tuple[str, str], Part]:
        """(kind, slug) -> part, for every part that any run uses."""
        methods = [method for e in self.experiments.values() for method in e.methods]
        return {(part.kind, part.slug): part for method in methods for part in method.parts}

    def fragment(self, experiment: str) -> str:
        """The part of the config that an experiment's scores depend on, itself a config: as JSON."""
        wanted = self.experiments[experiment]
        methods = {method.id for method in wanted.methods}
        entry = {k: v for k, v in self.config["experiments"][experiment].items() if k not in ("figures", "pictures")}
        entry["overrides"] = {id: value for id, value in wanted.overrides.items() if id in methods}
        overridden = {o["dataset"] for o in entry["overrides"].values() if "dataset" in o}
        datasets = {wanted.dataset, *overridden, *(wanted.dataset_of(method) for method in wanted.methods)}
        collections = {self.datasets[id].collection for id in datasets}
        kept = {
            **self.config,
            "images": {id: entry for id, entry in self.config["images"].items() if id in collections},
            "run": [experiment],
            "experiments": {experiment: entry},
            "methods": {id: entry for id, entry in self.config["methods"].items() if id in methods},
            "datasets": {id: entry for id, entry in self.config["datasets"].items() if id in datasets},
        }
        return as_json(kept)

    @property
    def with_figures(self) -> list[str]:
        """The experiments that have something to draw."""
        return [id for id in self.experiments if self.figures_of(id)]

    def figures_of(self, experiment: str) -> list[str]:
        """Every figure as PDF and PNG, with the numbers it shows."""
        names = [f"figures/{id}.{end}" for id in self._drawn(experiment) for end in ("pdf", "png", "csv")]
        return [self.paths.experiment(name).format(experiment=experiment) for name in names]

    def results_of(self, experiment: str) -> list[str]:
        """What a reader wants of an experiment."""
        sweep = ["best.csv", "sweep.csv", "sweep.png"] if self.experiments[experiment].is_sweep else []
        compared = ["agreement.csv"] if self.experiments[experiment].compare else []
        names = ["scores.csv", "provenance.json", *sweep, *compared]
        tables = [self.paths.experiment(name).format(experiment=experiment) for name in names]
        return tables + self.figures_of(experiment) + self.pictures_of(experiment)

    @property
    def with_pictures(self) -> list[str]:
        """The experiments on images that have a trial to look at."""
        return [id for id, experiment in self.experiments.items() if experiment.pictures]

    def pictures_of(self, experiment: str) -> list[str]:
        """Every picture as PDF and PNG."""
        if experiment not in self.with_pictures:
            return []
        names = [f"pictures/{id}.{end}" for id in PICTURES for end in ("pdf", "png")]
        return [self.paths.experiment(name).format(experiment=experiment) for name in names]

    def pictured(self, experiment: str) -> list[dict[str, Any]]:
        """The files of the first trial of each method to look at, with its label and the names of the classes."""
        wanted = self.experiments[experiment]
        shown, found = wanted.pictures, []
        for run in wanted.runs():
            fits = run.method.uses_all_points or run.m == shown["m"]
            if run.method.id in shown["methods"] and fits and 0 in run.block.trials and run.n == wanted.ns[0]:
                files = {name: getattr(self.paths, name).format(**run.wildcards) for name in PICTURED}
                dataset = self.datasets[run.dataset]
                names = self.collections[dataset.collection].names
                classes = sorted(dataset.generator.params["classes"]) or range(len(names))
                found.append({"label": run.method.label, "names": [names[label] for label in classes], **files})
        return found

    @property
    def comparing(self) -> list[str]:
        """The experiments, of those to run, that compare embeddings."""
        return [id for id in self.run if self.experiments[id].compare]

    def compared(self, experiment: str) -> list[dict[str, Any]]:
        """Where the embeddings and labels of the two methods to compare lie, run by run."""
        wanted, pairs = self.experiments[experiment], {}
        for run in wanted.runs():
            if run.method.id in wanted.compare:
                files = [getattr(self.paths, name).format(**run.wildcards) for name in ("embedding", "labels")]
                pairs.setdefault((run.n, run.m, run.block), {})[run.method.id] = files
        return [
            {"n": n, "m": m, "block": str(block), "one": pair[wanted.compare[0]], "two": pair[wanted.compare[1]]}
            for (n, m, block), pair in pairs.items()
        ]

    @property
    def judged(self) -> list[str]:
        """The experiments that the paper's claims are judged by."""
        return [id for id in self.run if not self.experiments[id].is_sweep]

    def pictures_recipe(self, experiment: str) -> str:
        """What the pictures of an experiment show, as JSON."""
        sha256 = self.collections[self.collections_of(experiment)[0]].sha256
        return as_json({"seed": self.seed, "sha256": sha256, "methods": self.pictured(experiment)})

    def figures_recipe(self, experiment: str) -> str:
        """What each figure shows, as JSON."""
        wanted = self.experiments[experiment]
        # Colours follow the methods table, so that a method looks the same in every figure.
        order = {id: entry["label"] for id, entry in self.config["methods"].items()}
        common = {"methods": list(order), "title": wanted.title, "ms": wanted.ms, "order": order}
        return as_json({id: {**common, **entry} for id, entry in self._drawn(experiment).items()})

    def _figures(self, experiment: str) -> dict[str, Mapping[str, Any]]:
        """The figures of an experiment that any of its methods appears in."""
        ids = {method.id for method in self.experiments[experiment].methods}
        figures = self.experiments[experiment].figures
        return {id: entry for id, entry in figures.items() if ids & set(entry.get("methods", ids))}

    def held_values(self, experiment: str) -> str:
        """The method's own values of the keys that a sweep shows but does not choose, as JSON."""
        wanted = self.experiments[experiment]
        ids = dict.fromkeys(method.id for method in wanted.methods)
        methods = {id: _overridden(self.methods[id], wanted.overrides) for id in ids}
        return as_json({id: {key: method.value(key) for key in wanted.held} for id, method in methods.items()})

    def dataset_labels(self, experiment: str) -> str:
        """Dataset -> its name in figures, for those that an experiment sweeps over, as JSON."""
        wanted = self.experiments[experiment]
        ids = dict.fromkeys(wanted.dataset_of(method) for method in wanted.methods)
        return as_json({id: self.datasets[id].label for id in ids})

    def images_recipe(self, collection: str) -> str:
        images = self.collections[collection]
        sources = [source.as_dict() for source in images.sources]
        wanted = {"folder": images.folder, "sources": sources, "counts": images.counts, "sha256": images.sha256}
        return as_json({"images": collection, **wanted})

    def shard_recipe(self, collection: str, shard: str) -> str:
        images = self.collections[collection]
        first, last = map(int, shard.split("-"))
        recipe = {"first": first, "last": last, "sha256": images.sha256, "part": images.features.as_dict()}
        return as_json(recipe, sort_keys=True)

    def shards_of(self, collection: str) -> list[str]:
        """The feature files of a collection."""
        images = self.collections[collection]
        known = {"images": collection, "features": images.features.slug}
        return [self.paths.shard.format(**known, shard=shard) for shard in images.shards]

    def reduction(self, collection: str, slug: str) -> str:
        """The reduction of that name, as JSON."""
        found = (d for d in self.datasets.values() if d.collection == collection and d.reduction)
        return as_json(next(d.reduction for d in found if d.reduction_slug == slug))

    def features_of(self, dataset: str) -> list[str]:
        """The feature files that a dataset's trials are drawn from; none for a dataset that makes its own points."""
        data = self.datasets[dataset]
        if data.collection is None:
            return []
        if data.reduction is None:
            return self.shards_of(data.collection)
        images = self.collections[data.collection]
        known = {"images": images.id, "features": images.features.slug, "size": images.size}
        return [self.paths.reduced.format(**known, reduction=data.reduction_slug)]

    def collections_of(self, experiment: str) -> list[str]:
        """The image collections that an experiment draws from."""
        wanted = self.experiments[experiment]
        datasets = dict.fromkeys(wanted.dataset_of(method) for method in wanted.methods)
        found = (self.datasets[id].collection for id in datasets)
        return [id for id in dict.fromkeys(found) if id is not None]

    def folders_of(self, experiments: Iterable[str]) -> list[Path]:
        """The folders that these experiments write to: that of images and features is left alone without images."""
        store = [self.store] if any(self.collections_of(id) for id in experiments) else []
        return [Path(folder) for folder in [self.results, *store]]

    def data_recipe(self, dataset: str, n: int, block: str) -> str:
        data = self.datasets[dataset]
        return self._recipe(
            n, block, n_clusters=data.n_clusters, unit_norm=data.unit_norm, part=data.generator.as_dict()
        )

    def part_recipe(self, kind: str, slug: str, n: int, block: str, **more: Any) -> str:
        return self._recipe(n, block, part=self.parts[kind, slug].as_dict(), **more)

    def score_recipe(self, n: int, block: str) -> str:
        return self._recipe(n, block)

    def _recipe(self, n: int, block: str, **more: Any) -> str:
        return as_json({"seed": self.seed, "n": n, "block": block, **more}, sort_keys=True)

    def _drawn(self, experiment: str) -> dict[str, Mapping[str, Any]]:
        """The figures of config, and the one of runtimes by stage that every experiment with methods has."""
        own = {} if self.experiments[experiment].is_sweep else {STAGES: {"y": STAGES}}
        return {**self._figures(experiment), **own}

    def require_sizes(self, experiment: str) -> None:
        """ConfigError unless an experiment's sizes fit; of those that only a target names, nobody has asked before."""
        if problems := _size_problems(self, self.experiments[experiment]):
            raise ConfigError(list(dict.fromkeys(problems)))

    def report_config(self) -> str:
        """The part of the config that a report shows, itself a config: as JSON."""
        return as_json({**self.config, "experiments": {id: self.config["experiments"][id] for id in self.run}})

    def report_inputs(self) -> list[str]:
        """Everything of the experiments run that a report shows or links to."""
        return [path for id in self.run for path in self.results_of(id)]


def load(config: Mapping[str, Any]) -> Study:
    """The study a config describes; ConfigError with every problem found, before anything runs."""
    if problems := config_problems(config):
        raise ConfigError(problems)
    collections = {id: _collection(id, e) for id, e in config["images"].items()}
    datasets = {
        id: Dataset(id, Part.of("dataset", e["generator"]), e["n_clusters"], e["unit_norm"], e.get("label", id))
        for id, e in config["datasets"].items()
    }
    methods = {
        id: Method(id, e["label"], *(Part.of(kind, part_entry(e, kind)) for kind in KINDS), setting={})
        for id, e in config["methods"].items()
    }
    experiments = {id: _experiment(id, e, config, methods) for id, e in config["experiments"].items()}
    study = Study(
        config["seed"],
        str(PurePosixPath(config["results"])),
        str(PurePosixPath(config["data"])),
        tuple(config["run"]),
        collections,
        datasets,
        methods,
        experiments,
        config,
    )
    problems = [p for experiment in experiments.values() for p in _pictures_problems(study, experiment)]
    problems += [p for experiment in experiments.values() for p in _compare_problems(experiment)]
    if problems := problems + [p for id in study.run for p in _size_problems(study, experiments[id])]:
        raise ConfigError(list(dict.fromkeys(problems)))
    if problems := [p for id in experiments for p in _length_problems(study, id)]:
        raise ConfigError(problems)
    return study


def _collection(id: str, entry: Mapping[str, Any]) -> Collection:
    return Collection(
        id,
        entry.get("folder"),
        tuple(Part.of("source", source) for source in entry["sources"]),
        tuple(entry["counts"]),
        entry["sha256"],
        Part.of("features", entry["features"]),
        entry["shard"],
        entry.get("first"),
        tuple(entry.get("names", map(str, range(len(entry["counts"]))))),
    )


def _overridden(method: Method, overrides: Mapping[str, Mapping[str, Any]]) -> Method:
    return method.with_params(overrides.get(method.id, {}).get("params", {}))


def _experiment(
    id: str, entry: Mapping[str, Any], config: Mapping[str, Any], methods: Mapping[str, Method]
) -> Experiment:
    sweep = entry.get("sweep", {})
    methods = {id: _overridden(method, entry.get("overrides", {})) for id, method in methods.items()}
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
        entry.get("pictures"),
        tuple(entry.get("compare", ())),
    )


def _settings(grid: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _size_problems(study: Study, experiment: Experiment) -> list[str]:
    """Numbers of points, landmarks and neighbours that do not fit each other."""
    at, problems = f"experiments.{experiment.id}", []
    for method in experiment.methods:
        dataset = study.datasets[experiment.dataset_of(method)]
        K = dataset.n_clusters
        problems += (wrong := _images_problems(study, dataset))
        for n in experiment.ns:
            if not wrong and (problem := _points_problem(study, dataset, n)):
                problems.append(f"{at}.n: {problem}")
            for m in (n,) if method.uses_all_points else experiment.ms:
                if m > n:
                    problems.append(f"{at}.m: {m} landmarks requested from n={n} points; need m <= n")
                if m < K:
                    problems.append(f"{at}.m: {m} landmarks for n_clusters={K}; need m >= n_clusters")
                for part in method.parts:
                    found = param_problems(find(part.kind, part.name), part.params, {"n": n, "m": m})
                    problems += [f"methods.{method.id}.{part.kind}.{k}: {p} in {at}" for k, p in found.items()]
    for figure, entry in experiment.figures.items():
        if figure == STAGES:
            problems.append(f"{at}.figures.{figure}: the name of the figure of runtimes by stage; use another")
        other = {"m": "n", "n": "m"}[entry["x"]]
        if experiment.is_sweep:
            problems.append(f"{at}.figures.{figure}: a sweep draws its own figure; remove {entry}")
        elif len(experiment.ns if other == "n" else experiment.ms) > 1:
            problems.append(
                f"{at}.figures.{figure}: over {entry['x']} it can show one {other} only; give {at}.{other} one value"
            )
    return problems


def _length_problems(study: Study, experiment: str) -> list[str]:
    """What is too much to be told to one job in one argument of its command."""
    told = {"figures": study.figures_recipe(experiment), "compare": as_json(study.compared(experiment))}
    if study.experiments[experiment].pictures:
        told["pictures"] = study.pictures_recipe(experiment)
    remedy = {"compare": "take larger blocks", "figures": "name fewer", "pictures": "name fewer methods"}
    return [
        f"experiments.{experiment}.{key}: more than one job can be told; {remedy[key]}"
        for key, text in told.items()
        if len(text) > LONGEST
    ]


def _pictures_problems(study: Study, experiment: Experiment) -> list[str]:
    """Pictures of what the experiment does not run."""
    if not experiment.pictures:
        return []
    at, shown = f"experiments.{experiment.id}.pictures", experiment.pictures
    if experiment.is_sweep:
        return [f"{at}: a sweep has none; remove it"]
    problems = []
    if shown["m"] not in experiment.ms:
        problems.append(f"{at}.m: {shown['m']} must be one of the experiment's m: {', '.join(map(str, experiment.ms))}")
    methods = {method.id: method for method in experiment.methods}
    for id in shown["methods"]:
        if id not in methods:
            problems.append(f"{at}.methods: {id!r} is not run by the experiment; {suggest(id, methods)}")
        elif study.datasets[experiment.dataset_of(methods[id])].collection is None:
            problems.append(f"{at}: the points of {experiment.dataset_of(methods[id])!r} are no images; remove it")
    if not problems:
        drawn = {study.datasets[experiment.dataset_of(methods[id])].collection for id in shown["methods"]}
        if drawn != {first := study.collections_of(experiment.id)[0]}:
            problems.append(f"{at}.methods: only methods on images of {first!r}, the experiment's first, can be drawn")
    return problems


def _compare_problems(experiment: Experiment) -> list[str]:
    """Methods to compare that share no run."""
    if not experiment.compare:
        return []
    at = f"experiments.{experiment.id}.compare"
    if experiment.is_sweep:
        return [f"{at}: a sweep has none; remove it"]
    methods = {method.id: method for method in experiment.methods}
    missing = [id for id in experiment.compare if id not in methods]
    if missing:
        return [f"{at}: {missing[0]!r} is not run by the experiment; {suggest(missing[0], methods)}"]
    one, two = (methods[id] for id in experiment.compare)
    alike = (
        one.uses_all_points == two.uses_all_points
        and experiment.trials_of(one.id) == experiment.trials_of(two.id)
        and experiment.dataset_of(one) == experiment.dataset_of(two)
    )
    return [] if alike else [f"{at}: {one.id!r} and {two.id!r} must run on the same trials, dataset and m"]


def _images_problems(study: Study, dataset: Dataset) -> list[str]:
    """What a dataset wants of images that have less, however many points it gives."""
    if dataset.collection is None:
        return []
    images, params, at = study.collections[dataset.collection], dataset.generator.params, f"datasets.{dataset.id}"
    classes = params["classes"] or range(len(images.counts))
    problems = [
        f"{at}.generator.classes: class {label} has no image in images.{images.id}.counts; leave it out"
        for label in classes
        if not images.counts[label]
    ]
    if images.width and params["dim"] > images.width:
        problems.append(f"{at}.generator.dim: {params['dim']} must be at most {images.width}, the features of an image")
    return problems


def _points_problem(study: Study, dataset: Dataset, n: int) -> str | None:
    """Why a dataset cannot give n points."""
    K = dataset.n_clusters
    images = study.collections.get(dataset.collection or "")
    if images and n > images.size:
        return f"{n} points requested from {images.size} images"
    if images and (dim := dataset.generator.params["dim"]) > (n if dataset.reduction is None else images.size):
        return f"{n} points of {images.size} images are too few for dim={dim} of dataset {dataset.id!r}"
    # Which of the first few images belong to a class is not known before they are read.
    if images and not images.first:
        counts = [images.counts[label] for label in dataset.generator.params["classes"] or range(len(images.counts))]
        if n == sum(counts):
            return None
        if n > K * min(counts):
            most = f"need at most {K * min(counts)}, or {sum(counts)} for all"
            return f"{n} points of {K} classes, the smallest of which has {min(counts)} images; {most}"
    return f"{n} must be a multiple of n_clusters={K}" if n % K else None


def _slug(name: str, params: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    told = [f"{key}={_short(value)}" for key, value in sorted(params.items()) if value != defaults[key]]
    # No commas: Snakemake cannot hand a wildcard that has one to a job on a cluster.
    return ".".join([name, "+".join(told)] if told else [name])


def _is_float(hint: Any, value: Any) -> bool:
    return getattr(hint, "__origin__", hint) is float and isinstance(value, int) and not isinstance(value, bool)


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0")
