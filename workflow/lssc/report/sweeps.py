"""Which parameters a sweep speaks for."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
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

    `held` gives, by method, keys that are swept to be looked at, not to be chosen, with the value they keep.
    """
    best: dict[str, dict[str, Any]] = {}
    for row in sweep_table(rows):
        method, setting = row["method"], json.loads(row["setting"])
        if any(setting[key] != value for key, value in held.get(method, {}).items() if key in setting):
            continue
        if method not in best or row["accuracy"] > best[method]["accuracy"]:
            best[method] = row
    return list(best.values())
