"""Claims of one's own: a YAML file, named by the key `claims` of config. Its text is data and is never executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lssc.errors import ConfigError
from lssc.paper.claims import CLAIMS
from lssc.paper.findings import (
    Finding,
    Sizes,
    Tables,
    Target,
    above,
    at_least,
    at_most,
    between,
    mean_score,
    more_accurate,
    times_as_fast,
)
from lssc.paper.verdicts import Claim
from lssc.parts.registry import suggest
from lssc.pipeline.config.files import read_config
from lssc.pipeline.config.shape import shape_problems

SCHEMA = Path(__file__).parent / "own_claims_schema.yaml"
# Kinds that compare two methods, with the target of a claim that names none.
COMPARISONS = {"more_accurate": (more_accurate, above(0)), "times_as_fast": (times_as_fast, above(1))}
SOURCE = "own claim"


def read_own_claims(path: str | Path, config: Mapping[str, Any] | None = None) -> list[Claim]:
    """The claims in a file; ConfigError with a line for each problem.

    With a config, the experiments and methods that the claims name must be in it.
    """
    entries = read_config(path)
    problems = shape_problems(entries, SCHEMA) or [
        f"{id}.{problem}" for id, entry in entries.items() for problem in _problems(id, entry, config)
    ]
    if problems:
        raise ConfigError([f"{path}: {problem}" for problem in problems])
    return [Claim(id, e.get("source", SOURCE), e["claim"], _check(e), own=True) for id, e in entries.items()]


def _problems(id: str, entry: Mapping[str, Any], config: Mapping[str, Any] | None) -> Iterator[str]:
    compares = entry["kind"] in COMPARISONS
    if id in {claim.id for claim in CLAIMS}:
        yield "claim: the paper has a claim of this id; use another"
    if compares and "than" not in entry:
        yield f"than: missing; {entry['kind']} compares two methods"
    if not compares and "than" in entry:
        yield f"than: {entry['kind']} is of one method; remove it, or use more_accurate or times_as_fast"
    targets = {"above", "at_least", "at_most"} & set(entry)
    if not compares and not targets:
        yield f"at_least: missing; {entry['kind']} needs a target: above, at_least or at_most"
    if "above" in targets and len(targets) > 1:
        yield "above: give either above, or at_least and at_most"
    if targets == {"at_least", "at_most"} and entry["at_least"] > entry["at_most"]:
        yield f"at_least: {entry['at_least']} must not exceed at_most, {entry['at_most']}"
    if config is not None:
        yield from _name_problems(entry, config)


def _name_problems(entry: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[str]:
    experiments = {name: e for name, e in config["experiments"].items() if "methods" in e and "datasets" not in e}
    if (name := entry["experiment"]) not in experiments:
        kind = "leaderboard" if "datasets" in config["experiments"].get(name, ()) else "sweep"
        why = f"is a {kind}, which is not judged" if name in config["experiments"] else "unknown experiment"
        yield f"experiment: {why}: {name!r}; {suggest(name, experiments)}"
        return
    methods = experiments[name]["methods"]
    for key in ("method", "than"):
        if entry.get(key, methods[0]) not in methods:
            yield f"{key}: {entry[key]!r} is not run by experiment {name!r}; {suggest(entry[key], methods)}"


def _target(entry: Mapping[str, Any]) -> Target:
    if "above" in entry:
        return above(entry["above"])
    if "at_least" in entry and "at_most" in entry:
        return between(entry["at_least"], entry["at_most"])
    if "at_least" in entry:
        return at_least(entry["at_least"])
    return at_most(entry["at_most"]) if "at_most" in entry else COMPARISONS[entry["kind"]][1]


def _check(entry: Mapping[str, Any]) -> Callable[[Tables], Iterator[Finding]]:
    experiment, method, target = entry["experiment"], entry["method"], _target(entry)

    def check(tables: Tables) -> Iterator[Finding]:
        methods = [method, entry["than"]] if entry["kind"] in COMPARISONS else [method]
        places: list[Sizes] = [entry["at"]] if "at" in entry else tables.places(experiment, methods)
        for at in places:
            if entry["kind"] in COMPARISONS:
                yield COMPARISONS[entry["kind"]][0](tables, experiment, *methods, at, target)
            else:
                yield mean_score(tables, experiment, method, entry["kind"], at, target)

    return check
