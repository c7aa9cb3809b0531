"""Datasets from files of one's own: fills in the number of rows, the number of classes and the content of each file.

A config that is filled in needs the files no more: the labels of a run can be read where its points are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lssc.data.files.content import content_of
from lssc.errors import InputError
from lssc.parts.registry import find

ALL, FILE = "all", "file"


@dataclass(frozen=True)
class Facts:
    """What a file says about itself; `n_classes` is None without labels."""

    rows: int
    columns: int
    n_classes: int | None
    content: str


def leave_out_all(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The config without `n: all`, which means the same as no n. Config may be of any shape yet."""
    experiments = config.get("experiments") if isinstance(config, Mapping) else None
    if not isinstance(experiments, Mapping):
        return config
    without = {
        id: {key: value for key, value in entry.items() if (key, value) != ("n", ALL)}
        if isinstance(entry, Mapping)
        else entry
        for id, entry in experiments.items()
    }
    return {**config, "experiments": without}


def is_own_file(entry: Mapping[str, Any]) -> bool:
    """Whether a dataset reads a file of one's own."""
    generator = entry["generator"]
    return isinstance(generator, Mapping) and generator.get("name") == FILE


def open_problems(config: Mapping[str, Any]) -> list[str]:
    """Numbers of points and clusters that config must give, as no file does."""
    datasets = config["datasets"]
    problems = [
        f"datasets.{id}.n_clusters: missing"
        for id, entry in datasets.items()
        if "n_clusters" not in entry and not is_own_file(entry)
    ]
    for id, entry in config["experiments"].items():
        dataset = datasets.get(entry["dataset"])
        if "n" not in entry and not (dataset and is_own_file(dataset)):
            problems.append(f"experiments.{id}.n: missing; only a dataset from a file may leave it out")
    return problems


def fill_in(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """The config with all numbers, and one line per file, key or size that cannot be used."""
    facts, problems = {}, []
    for id, entry in config["datasets"].items():
        if is_own_file(entry) and _is_open(config, id):
            try:
                facts[id] = _facts(entry)
            except InputError as error:
                problems.append(f"datasets.{id}.generator: {error}")
            except OSError as error:
                problems.append(f"datasets.{id}.generator: {error.filename}: {error.strerror}")
    if not facts or problems:
        return config, problems
    datasets = {id: _filled(entry, facts[id]) if id in facts else entry for id, entry in config["datasets"].items()}
    problems = [f"datasets.{id}.n_clusters: missing; the file has no labels to count" for id, entry in datasets.items()
                if entry["n_clusters"] is None]  # fmt: skip
    experiments = {
        id: entry if "n" in entry else {**entry, "n": [facts[entry["dataset"]].rows]}
        for id, entry in config["experiments"].items()
    }
    filled = {**config, "datasets": datasets, "experiments": experiments}
    return filled, problems or list(_size_problems(filled, facts))


def _is_open(config: Mapping[str, Any], dataset: str) -> bool:
    """Whether the file has to be read to know the sizes or the content."""
    entry = config["datasets"][dataset]
    open_n = any("n" not in e for e in config["experiments"].values() if e["dataset"] == dataset)
    return open_n or "n_clusters" not in entry or "content" not in entry["generator"]


def _facts(entry: Mapping[str, Any]) -> Facts:
    from lssc.data.datasets.file import points_file
    from lssc.data.files.points import NONE, TEXT

    params = {**find("dataset", FILE).defaults, **entry["generator"]}
    file = points_file(params)
    rows, columns = file.shape
    # Reading a column of a long text takes as long as reading all of it.
    counted = params["labels"] != NONE and ("n_clusters" not in entry or file.path.suffix.lower() not in TEXT)
    n_classes = len(file.labels.names) if counted else None
    return Facts(rows, columns, n_classes, content_of(file.paths))


def _filled(entry: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    generator = {"content": facts.content, **entry["generator"]}
    return {**entry, "n_clusters": entry.get("n_clusters", facts.n_classes), "generator": generator}


def _size_problems(config: Mapping[str, Any], facts: Mapping[str, Facts]) -> Iterator[str]:
    for id, entry in config["experiments"].items():
        overrides = entry.get("overrides", {}).values()
        swept = (name for grid in entry.get("sweep", {}).values() for name in grid.get("dataset", ()))
        names = {entry["dataset"], *(o["dataset"] for o in overrides if "dataset" in o), *swept}
        for name in sorted(names & set(facts)):
            generator, known = config["datasets"][name]["generator"], facts[name]
            for n in entry["n"]:
                if n > known.rows:
                    yield f"experiments.{id}.n: {n} points requested from the {known.rows} rows of {generator['path']}"
                elif (dim := generator.get("dim", 0)) > (most := min(n, known.columns)):
                    where = f"the points or columns of {generator['path']} in experiments.{id}"
                    yield f"datasets.{name}.generator.dim: {dim} must be at most {most}, {where}"
