"""The study that a config describes: image collections, datasets, methods, experiments and their runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lssc.data.datasets.file import points_file
from lssc.parts.registry import find
from lssc.pipeline.study.blocks import Block, blocks
from lssc.pipeline.study.paths import Paths
from lssc.pipeline.study.steps import step_of


@dataclass(frozen=True)
class Part:
    """A part by kind and name, with all its parameters."""

    kind: str
    name: str
    params: Mapping[str, Any]

    @classmethod
    def of(cls, kind: str, entry: str | Mapping[str, Any]) -> Part:
        """The part that a config entry names; parameters it leaves out have their defaults."""
        entry = {"name": entry} if isinstance(entry, str) else dict(entry)
        name = entry.pop("name")
        part = find(kind, name)
        params = {
            key: float(value) if _wants_float(part.hints.get(key), value) else value for key, value in entry.items()
        }
        return cls(kind, name, {**part.defaults, **params})

    @property
    def slug(self) -> str:
        """Its folder: the name, then the parameters that differ from their defaults."""
        return slug(self.name, self.params, find(self.kind, self.name).defaults)

    def with_params(self, values: Mapping[str, Any]) -> Part:
        """The same part with those values that are addressed to it: `lam` or `coder.lam`."""
        own = {name: value for key, value in values.items() if (name := self.own_name(key))}
        return Part.of(self.kind, {"name": self.name, **self.params, **own}) if own else self

    def own_name(self, key: str) -> str | None:
        """The parameter that `lam` or `coder.lam` addresses in this part, if any."""
        kind, _, name = key.rpartition(".")
        return name if name in self.params and kind in ("", self.kind) else None

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "params": dict(self.params)}


@dataclass(frozen=True)
class Collection:
    """Labelled images in files, and the features computed from them, shard by shard."""

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
        """Features per image; None if their part does not say."""
        width = find("features", self.features.name).width
        return width(**self.features.params) if width else None

    @property
    def shards(self) -> list[str]:
        """Which images each feature file holds: `00000-04999` and so on."""
        ends = [min(start + self.shard, self.size) for start in range(0, self.size, self.shard)]
        return [f"{start:05d}-{end - 1:05d}" for start, end in zip(range(0, self.size, self.shard), ends, strict=True)]


@dataclass(frozen=True)
class Table:
    """Labelled points in files of a package or folder; `sha256` holds a checksum by name or pattern of files."""

    id: str
    folder: str | None
    sources: tuple[Part, ...]
    reader: Part
    counts: tuple[int, ...]
    columns: int
    sha256: Mapping[str, str]

    @property
    def size(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True)
class Dataset:
    """Where points come from, and how many clusters they have."""

    id: str
    generator: Part
    n_clusters: int
    unit_norm: bool
    label: str

    @property
    def collection(self) -> str | None:
        """The image collection it draws from, if any."""
        return self.generator.params.get("collection")

    @property
    def table(self) -> str | None:
        """The table it draws from, if any."""
        return self.generator.params.get("table")

    @property
    def has_labels(self) -> bool:
        """Whether the true classes are known; a file of one's own may have none."""
        return self.generator.params.get("labels") != "none"

    @property
    def own_files(self) -> list[str]:
        """The files of one's own that it reads."""
        return [str(path) for path in points_file(self.generator.params).paths] if self.generator.name == "file" else []

    @property
    def reduction(self) -> dict[str, Any] | None:
        """How the features of all images are reduced; None if each trial reduces its own.

        Whitened datasets take the first components of the file that a plain dataset of default `dim` has.
        """
        params = self.generator.params
        if self.collection is None or params["pca_on"] == "subset":
            return None
        usual = find("dataset", self.generator.name).defaults["dim"]
        dim = max(params["dim"], usual) if params["whiten"] else params["dim"]
        return {"path_maximum": params["path_maximum"], "centre": params["centre"], "dim": dim}

    @property
    def reduction_slug(self) -> str:
        return slug("pca", self.reduction, find("dataset", self.generator.name).defaults)


@dataclass(frozen=True)
class Method:
    """A row of the methods table: one part per step. `setting` holds the values that a sweep changed.

    `parameters` says how its parameters were chosen; methods that say nothing are in no leaderboard.
    """

    id: str
    label: str
    parts: tuple[Part, ...]
    setting: Mapping[str, Any]
    parameters: str = ""

    @property
    def ignores_m(self) -> bool:
        """Whether the number of landmarks makes no difference: every point is one, or there are none."""
        first = self.parts[0]
        return first.kind == "method" or first.name == "all"

    def value(self, key: str) -> Any:
        """The value of `lam` or `coder.lam`; None if no part has it."""
        return next((part.params[name] for part in self.parts if (name := part.own_name(key))), None)

    def with_params(self, values: Mapping[str, Any]) -> Method:
        return replace(self, parts=tuple(part.with_params(values) for part in self.parts))

    def overridden(self, overrides: Mapping[str, Mapping[str, Any]]) -> Method:
        """The method with the parameters that an experiment's overrides give it."""
        return self.with_params(overrides.get(self.id, {}).get("params", {}))

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
        own = {"dataset": self.dataset, "n": str(self.n), "m": str(self.m), "block": str(self.block)}
        own |= {part.kind: part.slug for part in self.method.parts}
        return {**own, "chain": "/".join(step_of(part.kind).folder.format(**own) for part in self.method.parts)}

    def artifacts(self, paths: Paths) -> dict[str, str]:
        """Artifact -> file, for the data and every step; `result` is the last one, which holds the labels."""
        files = paths.artifacts_of(self.wildcards)
        steps = [step_of(part.kind).makes for part in self.method.parts]
        return {
            "data": paths.data.format(**self.wildcards),
            **dict(zip(steps, files, strict=True)),
            "result": files[-1],
        }


@dataclass(frozen=True)
class Grid:
    """The numbers of points and landmarks at which an experiment runs on a dataset.

    Leaderboards show the `title`; datasets that are not `ranked` do not count in their mean ranks.
    """

    dataset: str
    ns: tuple[int, ...]
    ms: tuple[int, ...]
    title: str = ""
    ranked: bool = True


@dataclass(frozen=True)
class Experiment:
    """Grids of runs; `overrides` holds what differs by method: dataset, number of trials, block size, parameters.

    A leaderboard runs all its methods on several datasets, a sweep may do so, others run on one.
    """

    id: str
    title: str
    stream: str
    block: int
    grids: tuple[Grid, ...]
    trials: int
    methods: tuple[Method, ...]
    overrides: Mapping[str, Mapping[str, Any]]
    figures: Mapping[str, Mapping[str, Any]]
    held: tuple[str, ...]
    is_sweep: bool
    pictures: Mapping[str, Any] | None
    compare: tuple[str, ...]
    is_leaderboard: bool
    limits: Mapping[str, int]

    @property
    def dataset(self) -> str:
        """Its dataset; the first one of a leaderboard."""
        return self.grids[0].dataset

    @property
    def ns(self) -> tuple[int, ...]:
        return self.grids[0].ns

    @property
    def ms(self) -> tuple[int, ...]:
        return self.grids[0].ms

    @property
    def has_datasets(self) -> bool:
        """Whether config names its datasets in a table of their own."""
        return self.is_leaderboard or len(self.grids) > 1

    def trials_of(self, method: str) -> int:
        return self.overrides.get(method, {}).get("trials", self.trials)

    def block_of(self, method: str) -> int:
        """The largest number of its trials in a job."""
        return self.overrides.get(method, {}).get("block", self.block)

    def dataset_of(self, method: Method, grid: Grid | None = None) -> str:
        """The dataset that a method runs on, in one of the grids (default: the first)."""
        own = self.overrides.get(method.id, {}).get("dataset", (grid or self.grids[0]).dataset)
        return method.setting.get("dataset", own)

    @property
    def datasets(self) -> list[str]:
        """Every dataset that one of its methods runs on."""
        pairs = itertools.product(self.grids, self.methods)
        return list(dict.fromkeys(self.dataset_of(method, grid) for grid, method in pairs))

    def sizes(self) -> Iterator[tuple[Method, str, int, int]]:
        """Method, dataset, n and m of its runs. Where m makes no difference, one run serves the whole grid."""
        for grid in self.grids:
            for method, n in itertools.product(self.methods, grid.ns):
                for m in (n,) if method.ignores_m else grid.ms:
                    yield method, self.dataset_of(method, grid), n, m

    def runs(self) -> Iterator[Run]:
        for method, dataset, n, m in self.sizes():
            for block in blocks(self.stream, self.trials_of(method.id), self.block_of(method.id)):
                yield Run(dataset, n, m, block, method)


@dataclass(frozen=True)
class Study:
    """A whole config, checked. Recipes, results and size checks of a study are in modules of these names."""

    seed: int
    results: str
    store: str
    run: tuple[str, ...]
    collections: Mapping[str, Collection]
    tables: Mapping[str, Table]
    datasets: Mapping[str, Dataset]
    methods: Mapping[str, Method]
    experiments: Mapping[str, Experiment]
    config: Mapping[str, Any]

    @property
    def paths(self) -> Paths:
        return Paths(self.results, self.store)

    @cached_property
    def parts(self) -> dict[tuple[str, str], Part]:
        """(kind, slug) -> part, for every part of every run."""
        methods = [method for experiment in self.experiments.values() for method in experiment.methods]
        return {(part.kind, part.slug): part for method in methods for part in method.parts}

    def limits(self, block: str) -> Mapping[str, int]:
        """What a method may take for a trial of this block, by the keys of `LIMITS`; the same in all of a stream."""
        stream = Block.parse(block).stream
        return next((e.limits for e in self.experiments.values() if e.stream == stream), {})

    def tables_of(self, experiment: str) -> list[str]:
        """The tables that an experiment draws from."""
        drawn = (self.datasets[id].table for id in self.experiments[experiment].datasets)
        return [id for id in dict.fromkeys(drawn) if id is not None]

    def collections_of(self, experiment: str) -> list[str]:
        """The image collections that an experiment draws from."""
        drawn = (self.datasets[id].collection for id in self.experiments[experiment].datasets)
        return [id for id in dict.fromkeys(drawn) if id is not None]


def slug(name: str, params: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """A folder name: the name, then the parameters that differ from their defaults."""
    changed = [f"{key}={_short(value)}" for key, value in sorted(params.items()) if value != defaults[key]]
    # No commas: Snakemake cannot pass a wildcard that has one to a job on a cluster.
    return ".".join([name, "+".join(changed)] if changed else [name])


def _wants_float(hint: Any, value: Any) -> bool:
    return getattr(hint, "__origin__", hint) is float and isinstance(value, int) and not isinstance(value, bool)


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).removesuffix(".0")
