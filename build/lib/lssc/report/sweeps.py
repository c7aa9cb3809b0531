"""The best parameters of a sweep."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def sweep_table(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mean and spread of the accuracy of each method and setting, over trials and all sizes swept."""
    accuracies: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        accuracies.setdefault((row["method"], row["setting"]), []).append(float(row["accuracy"]))
    return [
        {
            "method": method,
            "setting": setting,
            "accuracy": statistics.fmean(values),
            "std": statistics.pstdev(values),
            "runs": len(values),
        }
        for (method, setting), values in accuracies.items()
    ]


def best_settings(rows: Iterable[Mapping[str, Any]], held: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each method the row of `sweep_table` with the highest accuracy; of equal ones the first.

    `held` gives, by method, the parameters that are swept but not chosen, with the value they keep. `at_edge` lists the
    chosen parameters whose value is the smallest or the largest swept: a wider grid may hold a better one.
    """
    best: dict[str, dict[str, Any]] = {}
    table = sweep_table(rows)
    for row in table:
        method, setting = row["method"], json.loads(row["setting"])
        if any(setting[key] != value for key, value in held.get(method, {}).items() if key in setting):
            continue
        if method not in best or row["accuracy"] > best[method]["accuracy"]:
            best[method] = row
    return [{**row, "at_edge": " ".join(_at_edge(row, table, held.get(row["method"], {})))} for row in best.values()]


def _at_edge(best: Mapping[str, Any], table: Iterable[Mapping[str, Any]], held: Mapping[str, Any]) -> Iterator[str]:
    settings = [json.loads(row["setting"]) for row in table if row["method"] == best["method"]]
    for key, value in json.loads(best["setting"]).items():
        values = {setting[key] for setting in settings}
        numbers = not any(isinstance(v, bool | str) for v in values)
        if key not in held and numbers and len(values) > 1 and value in (min(values), max(values)):
            yield key
