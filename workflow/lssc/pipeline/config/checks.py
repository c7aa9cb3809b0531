"""Checks a config: plain data, the schema, then names that refer to each other and parameters of parts."""

from __future__ import annotations

import inspect
import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lssc.parts.registry import Component, find, import_problem, names, param_problems, suggest
from lssc.pipeline.config.own_files import open_problems, sizes_of
from lssc.pipeline.config.plain import MAX_WHOLE_NUMBER, plain_problems
from lssc.pipeline.config.shape import shape_problems
from lssc.pipeline.study.steps import CHAIN, DEFAULT_PARTS, KINDS, WHOLE

# The folder of the workflow's code.
LIBRARY = Path(__file__).resolve().parents[3]
# Runs that Snakemake plans within minutes; feature files that fit into one command.
MOST_RUNS, MOST_SHARDS = 100_000, 1_000
MISSING = object()


def config_problems(config: Mapping[str, Any]) -> list[str]:
    """One line per problem: key, value, what would be right. Sizes are checked later, in `study.sizes`."""
    return (
        plain_problems(config)
        or shape_problems(config)
        or open_problems(config)
        or _reference_problems(config)
        or [*_sweeps_problems(config), *_amount_problems(config), *_folder_problems(config)]
    )


def _reference_problems(config: Mapping[str, Any]) -> list[str]:
    """Unknown names, and parameters that no part has."""
    problems = []
    for id, entry in config["images"].items():
        problems += _part_problems(f"images.{id}.features", "features", entry["features"])
        if len(entry.get("names", entry["counts"])) != len(entry["counts"]):
            problems.append(
                f"images.{id}.names: {len(entry['names'])} must be as many as counts, {len(entry['counts'])}"
            )
        for number, source in enumerate(entry["sources"]):
            problems += _part_problems(f"images.{id}.sources.{number}", "source", source)
    problems += _tables_problems(config)
    for id, entry in config["datasets"].items():
        problems += _part_problems(f"datasets.{id}.generator", "dataset", entry["generator"])
    for id, entry in config["methods"].items():
        if wrong := _kinds_problems(f"methods.{id}", entry):
            problems += wrong
            continue
        for kind, part in part_entries(entry).items():
            problems += _part_problems(f"methods.{id}.{kind}", kind, part)
        problems += _pairing_problems(f"methods.{id}", entry)
    for where, name, table in _references(config):
        if name not in (known := config.get(table, {})):
            what = "images" if table == "images" else table.removesuffix("s")
            problems.append(f"{where}: unknown {what} {name!r}; {suggest(name, known)}")
    return problems or _classes_problems(config)


def _tables_problems(config: Mapping[str, Any]) -> list[str]:
    problems = []
    for id, entry in config.get("tables", {}).items():
        problems += _part_problems(f"tables.{id}.reader", "reader", entry["reader"])
        for number, source in enumerate(entry["sources"]):
            problems += _part_problems(f"tables.{id}.sources.{number}", "source", source)
        if id in config["images"]:
            problems.append(f"tables.{id}: images have this id, too, and the same folder; use another")
    return problems


def _references(config: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Every name that must be an entry of a table: where it stands, the name, the table."""
    yield from (("run", name, "experiments") for name in config["run"])
    for id, entry in config["datasets"].items():
        # Anything but text is reported as a bad parameter.
        if isinstance(name := _params(entry["generator"]).get("collection"), str):
            yield f"datasets.{id}.generator.collection", name, "images"
        if isinstance(name := _params(entry["generator"]).get("table"), str):
            yield f"datasets.{id}.generator.table", name, "tables"
    for id, entry in config["experiments"].items():
        at = f"experiments.{id}"
        where = f"{at}.datasets" if "datasets" in entry else f"{at}.dataset"
        yield from ((where, name, "datasets") for name in sizes_of(entry))
        yield from ((f"{at}.methods", name, "methods") for name in entry.get("methods", ()))
        for figure, shown in entry.get("figures", {}).items():
            yield from ((f"{at}.figures.{figure}.methods", name, "methods") for name in shown.get("methods", ()))
        for name, override in entry.get("overrides", {}).items():
            yield f"{at}.overrides", name, "methods"
            if "dataset" in override:
                yield f"{at}.overrides.{name}.dataset", override["dataset"], "datasets"
        for name, grid in entry.get("sweep", {}).items():
            yield f"{at}.sweep", name, "methods"
            yield from ((f"{at}.sweep.{name}.dataset", dataset, "datasets") for dataset in grid.get("dataset", ()))


def _classes_problems(config: Mapping[str, Any]) -> list[str]:
    """Datasets whose classes the images do not have, or whose number of clusters is another."""
    problems = []
    for id, entry in config["datasets"].items():
        if "collection" in (params := _params(entry["generator"])):
            known = range(len(config["images"][params["collection"]]["counts"]))
            classes = params.get("classes") or list(known)
            if missing := [label for label in classes if label not in known]:
                problems.append(f"datasets.{id}.generator.classes: {missing[0]} is no class; they are 0 to {known[-1]}")
            elif len(classes) != entry["n_clusters"]:
                problems.append(
                    f"datasets.{id}.n_clusters: {entry['n_clusters']} must be the number of classes, {len(classes)}"
                )
        elif "table" in params and "n_clusters" in entry:
            K = len(config["tables"][params["table"]]["counts"])
            if entry["n_clusters"] != K:
                problems.append(f"datasets.{id}.n_clusters: {entry['n_clusters']} must be the number of classes, {K}")
    return problems


def _part_problems(where: str, kind: str, entry: str | Mapping[str, Any]) -> list[str]:
    try:
        part = find(kind, _name(entry))
    except LookupError as error:
        return [f"{where}: {error}"]
    return [f"{where}.{key}: {problem}" for key, problem in param_problems(part, _params(entry), {}).items()]


def _kinds_problems(where: str, entry: Mapping[str, Any]) -> list[str]:
    """Kinds of parts that a method misses, or cannot have."""
    known = ("label", "parameters", *KINDS)
    if unknown := [key for key in entry if key not in known]:
        return [f"{where}.{key}: unknown key; {suggest(key, known)}" for key in unknown]
    if WHOLE.kind in entry:
        others = [step.kind for step in CHAIN if step.kind in entry]
        return [f"{where}.{kind}: a whole method has no {kind}; remove it, or {WHOLE.kind!r}" for kind in others]
    required = [step.kind for step in CHAIN if not step.optional and step.kind not in DEFAULT_PARTS]
    return [f"{where}.{kind}: missing" for kind in required if kind not in entry]


def _pairing_problems(where: str, entry: Mapping[str, Any]) -> list[str]:
    """Parts that need every point to be a landmark, beside a selector that leaves points out."""
    if WHOLE.kind in entry or (selector := _name(entry["selector"])) == "all":
        return []
    return [
        f"{where}.{kind}: {name!r} needs all points as landmarks; use selector 'all', not {selector!r}"
        for kind, part in part_entries(entry).items()
        if (name := _name(part)) in names(kind) and not import_problem(kind, name) and find(kind, name).needs_all
    ]


def _sweeps_problems(config: Mapping[str, Any]) -> list[str]:
    problems = []
    for id, entry in config["experiments"].items():
        at = f"experiments.{id}"
        if is_leaderboard(entry):
            problems += _leaderboard_problems(at, entry, config["methods"])
        elif "methods" not in entry and "sweep" not in entry:
            problems.append(f"{at}.methods: missing; name the methods to run, or a sweep")
        elif "methods" in entry and "sweep" in entry:
            problems.append(f"{at}: needs either methods or a sweep of some, not both")
        swept = {key for grid in entry.get("sweep", {}).values() for key in grid} - {"dataset"}
        for key in entry.get("held", ()):
            if key not in swept:
                problems.append(f"{at}.held: {key!r} is no swept parameter; {suggest(key, swept)}")
        params = {method: override.get("params", {}) for method, override in entry.get("overrides", {}).items()}
        for method, values in params.items():
            if "dataset" in values:
                where = f"{at}.overrides.{method}"
                problems.append(f"{where}.params.dataset: no part of the method has it; write {where}.dataset")
            grid = {key: [value] for key, value in values.items()}
            problems += _grid_problems(f"{at}.overrides.{method}.params", config["methods"][method], grid, (), {})
        for method, grid in entry.get("sweep", {}).items():
            held, given = entry.get("held", ()), params.get(method, {})
            problems += _grid_problems(f"{at}.sweep.{method}", config["methods"][method], grid, held, given)
    # Parts that share a parameter report the same problem.
    return list(dict.fromkeys(problems))


def _leaderboard_problems(at: str, entry: Mapping[str, Any], methods: Mapping[str, Any]) -> list[str]:
    """A leaderboard without methods, and methods that would leave out a dataset."""
    problems = [
        f"{at}.overrides.{method}.dataset: a leaderboard runs every method on every dataset; remove it"
        for method, override in entry.get("overrides", {}).items()
        if "dataset" in override
    ]
    if not leaderboard_methods(entry, methods):
        problems.append(f"{at}.methods: missing; name the methods to run, or give methods the key `parameters`")
    return problems


def is_leaderboard(entry: Mapping[str, Any]) -> bool:
    """Whether an experiment ranks methods on several datasets; a sweep on several datasets chooses parameters."""
    return "datasets" in entry and "sweep" not in entry


def leaderboard_methods(entry: Mapping[str, Any], methods: Mapping[str, Any]) -> list[str]:
    """The methods that a leaderboard runs: those it names, else all that say how their parameters were chosen."""
    return entry.get("methods") or [id for id, method in methods.items() if "parameters" in method]


def _amount_problems(config: Mapping[str, Any]) -> list[str]:
    """More runs or feature files than Snakemake can plan."""
    problems = []
    for id, entry in config["images"].items():
        size = min(sum(entry["counts"]), entry.get("first", MAX_WHOLE_NUMBER))
        if (files := -(-size // entry["shard"])) > MOST_SHARDS:
            problems.append(f"images.{id}.shard: {entry['shard']} makes {files:,} files; at most {MOST_SHARDS:,}")
    total = 0
    for id, entry in config["experiments"].items():
        swept = sum(math.prod(map(len, grid.values())) for grid in entry.get("sweep", {}).values())
        usual = {"trials": entry["trials"], "block": entry.get("block", config["block"])}
        each = [usual, *(usual | override for override in entry.get("overrides", {}).values())]
        methods = leaderboard_methods(entry, config["methods"]) if is_leaderboard(entry) else entry.get("methods", ())
        sizes = len(entry["datasets"]) if "datasets" in entry else len(entry.get("n", [0])) * len(entry["m"])
        runs = (len(methods) + swept) * sizes * max(-(-one["trials"] // one["block"]) for one in each)
        total += runs
        if total > MOST_RUNS:
            return [*problems, f"experiments.{id}: {runs:,} runs; all experiments together may have {MOST_RUNS:,}"]
    return problems


def _folder_problems(config: Mapping[str, Any]) -> list[str]:
    """Results or data in the working folder itself, in the code, or in each other."""
    folders = {key: os.path.abspath(config[key]) for key in ("results", "data")}
    problems = []
    for key, folder in folders.items():
        if _holds(folder, os.getcwd()):
            problems.append(f"{key}: {config[key]!r} is or holds the working folder; name a folder of its own")
        if _holds(str(LIBRARY), folder):
            problems.append(f"{key}: {config[key]!r} lies in the code of the workflow; name another folder")
    if not problems and (_holds(*folders.values()) or _holds(*reversed(folders.values()))):
        problems.append(f"results: {config['results']!r} and data {config['data']!r} must not lie in each other")
    return problems


def _holds(folder: str, path: str) -> bool:
    return os.path.commonpath([folder, path]) == folder


def _grid_problems(
    at: str, method: Mapping[str, Any], grid: Mapping[str, list[Any]], held: Sequence[str], params: Mapping[str, Any]
) -> list[str]:
    """Swept keys that no part of the method takes, and values they cannot have; `params` override the method's own."""
    parts = {kind: (find(kind, _name(entry)), _params(entry)) for kind, entry in part_entries(method).items()}
    problems = []
    for key, values in grid.items():
        if key == "dataset":
            continue
        name, owners = key.rpartition(".")[2], _owners(key, parts)
        if problem := _address_problem(key, owners, parts):
            problems.append(f"{at}.{key}: {problem}")
            continue
        part, given = parts[owners[0]]
        own = params.get(key, {**part.defaults, **given}[name])
        if key in held and own not in values:
            problems.append(f"{at}.{key}: held at {own!r}, which must be among the values")
        for kind, value in itertools.product(owners, values):
            part, given = parts[kind]
            problems += [f"{at}.{key}: {p}" for p in param_problems(part, {**given, name: value}, {}).values()]
    return problems


Parts = Mapping[str, tuple[Component, Mapping[str, Any]]]


def _owners(key: str, parts: Parts) -> list[str]:
    """The kinds of parts that `lam` or `coder.lam` addresses."""
    kind, _, name = key.rpartition(".")
    return [own for own, (part, _) in parts.items() if name in part.defaults and kind in ("", own)]


def _address_problem(key: str, owners: Sequence[str], parts: Parts) -> str | None:
    """Why a key addresses no parameter, or several.

    A parameter without default that the method gives the same value in several parts, as ESC does with lam, counts as
    one.
    """
    name = key.rpartition(".")[2]
    if not owners:
        known = {param for part, _ in parts.values() for param in part.defaults} | {"dataset"}
        return f"no part of the method has it; {suggest(name, known)}"
    values = [parts[kind][1].get(name, MISSING) for kind in owners]
    required = all(parts[kind][0].defaults[name] is inspect.Parameter.empty for kind in owners)
    if len(owners) == 1 or (required and all(value == values[0] for value in values)):
        return None
    return f"{' and '.join(owners)} both have it; write {' or '.join(f'{kind}.{name}' for kind in owners)}"


def part_entries(method: Mapping[str, Any]) -> dict[str, str | Mapping[str, Any]]:
    """Kind -> config entry of each part of a method, in the order of the steps."""
    if WHOLE.kind in method:
        return {WHOLE.kind: method[WHOLE.kind]}
    entries = {step.kind: method.get(step.kind, DEFAULT_PARTS.get(step.kind)) for step in CHAIN}
    return {kind: entry for kind, entry in entries.items() if entry is not None}


def _name(entry: str | Mapping[str, Any]) -> str:
    return entry if isinstance(entry, str) else entry["name"]


def _params(entry: str | Mapping[str, Any]) -> dict[str, Any]:
    return {} if isinstance(entry, str) else {key: value for key, value in entry.items() if key != "name"}
