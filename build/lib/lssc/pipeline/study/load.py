"""Config in, checked study out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from lssc.errors import ConfigError
from lssc.pipeline.config.checks import config_problems, part_entries
from lssc.pipeline.study.model import Collection, Dataset, Experiment, Method, Part, Study
from lssc.pipeline.study.sizes import study_problems


def load(config: Mapping[str, Any]) -> Study:
    """The study a config describes; ConfigError lists every problem, before anything runs."""
    if problems := config_problems(config):
        raise ConfigError(problems)
    study = _study(config)
    if problems := study_problems(study):
        raise ConfigError(problems)
    return study


def _study(config: Mapping[str, Any]) -> Study:
    methods = {id: _method(id, entry) for id, entry in config["methods"].items()}
    return Study(
        config["seed"],
        str(PurePosixPath(config["results"])),
        str(PurePosixPath(config["data"])),
        tuple(config["run"]),
        {id: _collection(id, entry) for id, entry in config["images"].items()},
        {id: _dataset(id, entry) for id, entry in config["datasets"].items()},
        methods,
        {id: _experiment(id, entry, config["block"], methods) for id, entry in config["experiments"].items()},
        config,
    )


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


def _dataset(id: str, entry: Mapping[str, Any]) -> Dataset:
    generator = Part.of("dataset", entry["generator"])
    return Dataset(id, generator, entry["n_clusters"], entry["unit_norm"], entry.get("label", id))


def _method(id: str, entry: Mapping[str, Any]) -> Method:
    parts = tuple(Part.of(kind, part) for kind, part in part_entries(entry).items())
    return Method(id, entry["label"], parts, setting={})


def _experiment(id: str, entry: Mapping[str, Any], block: int, methods: Mapping[str, Method]) -> Experiment:
    sweep, overrides = entry.get("sweep", {}), entry.get("overrides", {})
    chosen = [methods[name].overridden(overrides) for name in entry.get("methods", ())]
    swept = [
        methods[name].overridden(overrides).with_setting(setting)
        for name, grid in sweep.items()
        for setting in _settings(grid)
    ]
    return Experiment(
        id,
        entry.get("title", id),
        entry.get("stream", "t"),
        entry.get("block", block),
        tuple(entry["n"]),
        tuple(entry["m"]),
        entry["trials"],
        entry["dataset"],
        (*chosen, *swept),
        overrides,
        entry.get("figures", {}),
        tuple(entry.get("held", ())),
        bool(sweep),
        entry.get("pictures"),
        tuple(entry.get("compare", ())),
    )


def _settings(grid: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
