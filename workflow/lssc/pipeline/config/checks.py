"""Everything that can be wrong with a config before it is one: its shape, and names that point nowhere."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lssc.parts.params import text_hint
from lssc.parts.registry import Component, find, import_problem, names, param_problems, suggest
from lssc.pipeline.config.plain import LARGEST, brief, place, plain_problems
from lssc.pipeline.study.steps import CHAIN, DEFAULT_PARTS, KINDS, WHOLE

SCHEMA = Path(__file__).parent / "schema.yaml"
# The folder that holds the library.
LIBRARY = Path(__file__).resolve().parents[3]
# Snakemake takes minutes to plan so many runs; so many paths fit into one command.
MOST_RUNS, MOST_SHARDS = 100_000, 1_000
MISSING = object()


def config_problems(config: Mapping[str, Any]) -> list[str]:
    """One line per problem: key, value, what would be right. What needs sizes to be known is left to the recipes."""
    return (
        plain_problems(config)
        or shape_problems(config)
        or _reference_problems(config)
        or [*_sweeps_problems(config), *_amount_problems(config), *_folder_problems(config)]
    )


def shape_problems(config: Mapping[str, Any], schema: Path = SCHEMA) -> list[str]:
    """One line for everything in a config, or another file of plain data, that its schema does not allow."""
    errors = sorted(_validator(schema).iter_errors(config), key=lambda e: [str(p) for p in e.absolute_path])
    return [line for error in errors for line in _shape_lines(error)]


@functools.cache
def _validator(schema: Path) -> Any:
    import yaml
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    # In JSON 3.0 is an integer; in Python it is no number of trials.
    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    return extend(Draft202012Validator, type_checker=types)(yaml.safe_load(schema.read_bytes()))


def _shape_lines(error: Any) -> list[str]:
    """One schema error as lines for people."""
    where = place(error.absolute_path)
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        unknown = [key for key in error.instance if key not in known]
        return [f"{place([*error.absolute_path, key])}: unknown key; {suggest(key, known)}" for key in unknown]
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return [f"{place([*error.absolute_path, key])}: missing" for key in missing]
    if "propertyNames" in error.absolute_schema_path or error.validator == "pattern":
        return [f"{where or 'top level'}: {error.instance!r} is not allowed; {error.schema['description']}"]
    return [f"{where or 'top level'}: {brief(error.instance)} {_wanted(error)}"]


def _wanted(error: Any) -> str:
    value = error.validator_value
    match error.validator:
        case "type":
            if not isinstance(value, str):
                return "must be a number, text, true or false"
            hint = text_hint({"integer": int, "boolean": bool}.get(value), error.instance)
            return f"must be {_TYPES[value]}{hint}"
        case "minimum":
            return f"must be at least {value}"
        case "minItems" | "minLength" | "minProperties" if value < 2:
            return "must not be empty"
        case "minItems" | "maxItems" if value < 3:
            return f"must have {value} entries"
        case "maxItems" | "maxProperties":
            return f"must have at most {value} entries"
        case "maxLength":
            return f"must have at most {value} characters"
        case "maximum":
            return f"must be at most {value:,}"
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
    "number": "a number",
    "boolean": "true or false",
}


def _reference_problems(config: Mapping[str, Any]) -> list[str]:
    """Names that point nowhere, and parameters that no part takes."""
    problems = []
    for id, entry in config["images"].items():
        problems += _part_problems(f"images.{id}.features", "features", entry["features"])
        if len(entry.get("names", entry["counts"])) != len(entry["counts"]):
            problems.append(
                f"images.{id}.names: {len(entry['names'])} must be as many as counts, {len(entry['counts'])}"
            )
        for number, source in enumerate(entry["sources"]):
            problems += _part_problems(f"images.{id}.sources.{number}", "source", source)
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
        if name not in config[table]:
            what = "images" if table == "images" else table.removesuffix("s")
            problems.append(f"{where}: unknown {what} {name!r}; {suggest(name, config[table])}")
    return problems or _classes_problems(config)


def _references(config: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Every name that must be an entry of a table: where it stands, the name, the table."""
    yield from (("run", name, "experiments") for name in config["run"])
    for id, entry in config["datasets"].items():
        # Anything but text was told as a bad parameter.
        if isinstance(name := _given(entry["generator"]).get("collection"), str):
            yield f"datasets.{id}.generator.collection", name, "images"
    for id, entry in config["experiments"].items():
        at = f"experiments.{id}"
        yield f"{at}.dataset", entry["dataset"], "datasets"
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
    """Datasets of images whose classes are not there, or are not as many as their clusters."""
    problems = []
    for id, entry in config["datasets"].items():
        if "collection" in (given := _given(entry["generator"])):
            known = range(len(config["images"][given["collection"]]["counts"]))
            classes = given.get("classes") or list(known)
            if missing := [label for label in classes if label not in known]:
                problems.append(f"datasets.{id}.generator.classes: {missing[0]} is no class; they are 0 to {known[-1]}")
            elif len(classes) != entry["n_clusters"]:
                problems.append(
                    f"datasets.{id}.n_clusters: {entry['n_clusters']} must be the number of classes, {len(classes)}"
                )
    return problems


def _part_problems(where: str, kind: str, entry: str | Mapping[str, Any]) -> list[str]:
    try:
        part = find(kind, _name(entry))
    except LookupError as error:
        return [f"{where}: {error}"]
    return [f"{where}.{key}: {problem}" for key, problem in param_problems(part, _given(entry), {}).items()]


def _kinds_problems(where: str, entry: Mapping[str, Any]) -> list[str]:
    """Kinds of parts that a method misses, or cannot have."""
    unknown = [key for key in entry if key not in ("label", *KINDS)]
    if unknown:
        return [f"{where}.{key}: unknown key; {suggest(key, ('label', *KINDS))}" for key in unknown]
    if WHOLE.kind in entry:
        others = [step.kind for step in CHAIN if step.kind in entry]
        return [f"{where}.{kind}: a whole method has no {kind}; remove it, or {WHOLE.kind!r}" for kind in others]
    wanted = [step.kind for step in CHAIN if not step.optional and step.kind not in DEFAULT_PARTS]
    return [f"{where}.{kind}: missing" for kind in wanted if kind not in entry]


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
        if "methods" not in entry and "sweep" not in entry:
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


def _amount_problems(config: Mapping[str, Any]) -> list[str]:
    """More runs or files than can be listed, let alone made."""
    problems = []
    for id, entry in config["images"].items():
        size = min(sum(entry["counts"]), entry.get("first", LARGEST))
        if (files := -(-size // entry["shard"])) > MOST_SHARDS:
            problems.append(f"images.{id}.shard: {entry['shard']} makes {files:,} files; at most {MOST_SHARDS:,}")
    total = 0
    for id, entry in config["experiments"].items():
        swept = sum(math.prod(map(len, grid.values())) for grid in entry.get("sweep", {}).values())
        overrides = entry.get("overrides", {}).values()
        trials = max([entry["trials"], *(override.get("trials", 0) for override in overrides)])
        runs = (len(entry.get("methods", ())) + swept) * len(entry["n"]) * len(entry["m"])
        total += (runs := runs * -(-trials // entry.get("block", config["block"])))
        if total > MOST_RUNS:
            return [*problems, f"experiments.{id}: {runs:,} runs; all experiments together may have {MOST_RUNS:,}"]
    return problems


def _folder_problems(config: Mapping[str, Any]) -> list[str]:
    """Folders that results or data would share with something else. Where else they lie is up to the user."""
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
    parts = {kind: (find(kind, _name(entry)), _given(entry)) for kind, entry in part_entries(method).items()}
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
        return f"no part of the method has it; {suggest(key, known)}"
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


def _given(entry: str | Mapping[str, Any]) -> dict[str, Any]:
    return {} if isinstance(entry, str) else {key: value for key, value in entry.items() if key != "name"}
