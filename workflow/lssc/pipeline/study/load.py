"""Config in, checked study out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from lssc.errors import ConfigError
from lssc.pipeline.config.checks import config_problems, is_leaderboard, leaderboard_methods, part_entries
from lssc.pipeline.config.own_files import fill_in, leave_out_all
from lssc.pipeline.limits import LIMITS
from lssc.pipeline.study.model import Collection, Dataset, Experiment, Grid, Method, Part, Study, Table
from lssc.pipeline.study.sizes import study_problems


def load(config: Mapping[str, Any]) -> Study:
    """The study a config describes; ConfigError lists every problem, before anything runs.

    The study's own config is filled in: it has all sizes, and the content of own files.
    """
    config = leave_out_all(config)
    if problems := config_problems(config):
        raise ConfigError(problems)
    config, problems = fill_in(config)
    if problems:
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
        {id: _table(id, entry) for id, entry in config.get("tables", {}).items()},
        {id: _dataset(id, entry) for id, entry in config["datasets"].items()},
        methods,
        {id: _experiment(id, entry, config, methods) for id, entry in config["experiments"].items()},
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


def _table(id: str, entry: Mapping[str, Any]) -> Table:
    return Table(
        id,
        entry.get("folder"),
        tuple(Part.of("source", source) for source in entry["sources"]),
        Part.of("reader", entry["reader"]),
        tuple(entry["counts"]),
        entry["columns"],
        entry["sha256"],
    )


def _dataset(id: str, entry: Mapping[str, Any]) -> Dataset:
    generator = Part.of("dataset", entry["generator"])
    return Dataset(id, generator, entry["n_clusters"], entry["unit_norm"], entry.get("label", id))


def _method(id: str, entry: Mapping[str, Any]) -> Method:
    parts = tuple(Part.of(kind, part) for kind, part in part_entries(entry).items())
    return Method(id, entry["label"], parts, setting={}, parameters=entry.get("parameters", ""))


def _experiment(
    id: str, entry: Mapping[str, Any], config: Mapping[str, Any], methods: Mapping[str, Method]
) -> Experiment:
    sweep, overrides = entry.get("sweep", {}), entry.get("overrides", {})
    names = leaderboard_methods(entry, config["methods"]) if is_leaderboard(entry) else entry.get("methods", ())
    chosen = [methods[name].overridden(overrides) for name in names]
    swept = [
        methods[name].overridden(overrides).with_setting(setting)
        for name, grid in sweep.items()
        for setting in _settings(grid)
    ]
    return Experiment(
        id,
        entry.get("title", id),
        entry.get("stream", "t"),
        entry.get("block", config["block"]),
        _grids(entry),
        entry["trials"],
        (*chosen, *swept),
        overrides,
        entry.get("figures", {}),
        tuple(entry.get("held", ())),
        bool(sweep),
        entry.get("pictures"),
        tuple(entry.get("compare", ())),
        is_leaderboard(entry),
        {key: entry[key] for key in LIMITS if key in entry},
    )


def _grids(entry: Mapping[str, Any]) -> tuple[Grid, ...]:
    if "datasets" not in entry:
        return (Grid(entry["dataset"], tuple(entry["n"]), tuple(entry["m"])),)
    sizes = entry["datasets"].items()
    return tuple(
        Grid(id, (size["n"],), (size["m"],), size.get("title", id), size.get("ranked", True)) for id, size in sizes
    )


def _settings(grid: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
