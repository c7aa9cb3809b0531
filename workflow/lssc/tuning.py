"""Which parameters a sweep speaks for."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping
from typing import Any


def best_settings(rows: Iterable[Mapping[str, Any]], held: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """For each method the setting of the highest mean accuracy, one row each.

    `held` gives, by method, keys that are swept to be looked at, not to be chosen, with the value they keep.
    The mean is over trials and all sizes swept; of equal settings the first counts.
    """
    accuracies: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        accuracies.setdefault((row["method"], row["setting"]), []).append(float(row["accuracy"]))
    best: dict[str, dict[str, Any]] = {}
    for (method, setting), values in accuracies.items():
        chosen = json.loads(setting)
        if any(chosen[key] != value for key, value in held.get(method, {}).items() if key in chosen):
            continue
        mean, spread = statistics.fmean(values), statistics.pstdev(values)
        if method not in best or mean > best[method]["accuracy"]:
            best[method] = {"method": method, "setting": setting, "accuracy": mean, "std": spread, "runs": len(values)}
    return list(best.values())
