"""Fills in what config leaves open: numbers of points, numbers of classes, and the content of own files.

A config that is filled in needs the files no more: the labels of a run can be read where its points are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lssc.data.files.content import content_of
from lssc.errors import InputError
from lssc.parts.registry import find

ALL, FILE, TABLE = "all", "file", "table"
COUNTED = "from a file, of a table or of all images"
# Keys of an experiment on one dataset that one with `datasets` cannot have.
NOT_WITH_DATASETS = ("dataset", "n", "m", "figures", "pictures", "compare")


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


def sizes_of(experiment: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Dataset -> where its n and m are: a leaderboard has several datasets, others one."""
    return experiment["datasets"] if "datasets" in experiment else {experiment["dataset"]: experiment}


def is_own_file(entry: Mapping[str, Any]) -> bool:
    """Whether a dataset reads a file of one's own."""
    generator = entry["generator"]
    return isinstance(generator, Mapping) and generator.get("name") == FILE


def _counts_itself(entry: Mapping[str, Any]) -> bool:
    """Whether a dataset knows how many points and classes it has: that of a file or a table."""
    generator = entry["generator"]
    return isinstance(generator, Mapping) and generator.get("name") in (FILE, TABLE)


def open_problems(config: Mapping[str, Any]) -> list[str]:
    """Numbers of points and clusters that config must give, as no file does."""
    datasets = config["datasets"]
    problems = [
        f"datasets.{id}.n_clusters: missing"
        for id, entry in datasets.items()
        if "n_clusters" not in entry and not _counts_itself(entry)
    ]
    for id, entry in config["experiments"].items():
        at, missing = f"experiments.{id}", [key for key in ("dataset", "m") if key not in entry]
        if "datasets" in entry:
            others = [key for key in NOT_WITH_DATASETS if key in entry]
            problems += [f"{at}.{key}: not for an experiment with `datasets`; remove one of them" for key in others]
        elif missing:
            problems += [f"{at}.{key}: missing" for key in missing]
            continue
        for name, sizes in sizes_of(entry).items():
            where = f"{at}.datasets.{name}" if "datasets" in entry else at
            dataset = datasets.get(name)
            if "n" not in sizes and not (dataset and (_counts_itself(dataset) or known_total(config, dataset))):
                problems.append(f"{where}.n: missing; only a dataset {COUNTED} may leave it out")
    return problems


def _table_of(config: Mapping[str, Any], entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The table that a dataset draws from, if any."""
    name = entry["generator"].get("table") if isinstance(entry["generator"], Mapping) else None
    return config.get("tables", {}).get(name) if isinstance(name, str) else None


def known_total(config: Mapping[str, Any], entry: Mapping[str, Any]) -> int | None:
    """The number of points of a table or of images of a dataset's classes; None if config does not say how many."""
    if table := _table_of(config, entry):
        return sum(table["counts"])
    params = entry["generator"] if isinstance(entry["generator"], Mapping) else {}
    images = config["images"].get(params.get("collection"))
    if images is None or "first" in images:
        return None
    counts = dict(enumerate(images["counts"]))
    # Classes that the images do not have are reported later.
    return sum(counts.get(label, 0) for label in params.get("classes") or counts)


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
    if problems:
        return config, problems
    datasets = {id: _filled(config, entry, facts.get(id)) for id, entry in config["datasets"].items()}
    problems = [f"datasets.{id}.n_clusters: missing; the file has no labels to count" for id, entry in datasets.items()
                if entry["n_clusters"] is None]  # fmt: skip
    totals = {id: facts[id].rows if id in facts else known_total(config, entry) for id, entry in datasets.items()}
    experiments = {id: _with_sizes(entry, totals) for id, entry in config["experiments"].items()}
    filled = {**config, "datasets": datasets, "experiments": experiments}
    return filled, problems or list(_size_problems(filled, facts))


def _with_sizes(experiment: Mapping[str, Any], totals: Mapping[str, int | None]) -> Mapping[str, Any]:
    """The experiment with every n."""
    if "datasets" not in experiment:
        return experiment if "n" in experiment else {**experiment, "n": [totals[experiment["dataset"]]]}
    return {**experiment, "datasets": {id: {"n": totals[id], **size} for id, size in experiment["datasets"].items()}}


def _is_open(config: Mapping[str, Any], dataset: str) -> bool:
    """Whether the file has to be read to know the sizes or the content."""
    entry = config["datasets"][dataset]
    sizes = (sizes_of(experiment).get(dataset) for experiment in config["experiments"].values())
    open_n = any("n" not in size for size in sizes if size is not None)
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


def _filled(config: Mapping[str, Any], entry: Mapping[str, Any], facts: Facts | None) -> Mapping[str, Any]:
    """A dataset with its number of clusters and, of an own file, its content."""
    if table := _table_of(config, entry):
        return {"n_clusters": len(table["counts"]), **entry}
    if facts is None:
        return entry
    generator = {"content": facts.content, **entry["generator"]}
    return {**entry, "n_clusters": entry.get("n_clusters", facts.n_classes), "generator": generator}


def _size_problems(config: Mapping[str, Any], facts: Mapping[str, Facts]) -> Iterator[str]:
    for id, entry in config["experiments"].items():
        overrides = entry.get("overrides", {}).values()
        swept = (name for grid in entry.get("sweep", {}).values() for name in grid.get("dataset", ()))
        names = {*sizes_of(entry), *(o["dataset"] for o in overrides if "dataset" in o), *swept}
        for name in sorted(names & set(facts)):
            generator, known = config["datasets"][name]["generator"], facts[name]
            for n in [entry["datasets"][name]["n"]] if "datasets" in entry else entry["n"]:
                if n > known.rows:
                    yield f"experiments.{id}.n: {n} points requested from the {known.rows} rows of {generator['path']}"
                elif (dim := generator.get("dim", 0)) > (most := min(n, known.columns)):
                    where = f"the points or columns of {generator['path']} in experiments.{id}"
                    yield f"datasets.{name}.generator.dim: {dim} must be at most {most}, {where}"
