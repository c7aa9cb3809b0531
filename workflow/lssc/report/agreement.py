"""Agreement between trials: whether a method finds the same clusters again, where no true labels are known."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lssc.metrics import ari, contingency
from lssc.types import IndexArray

Labelling = tuple[IndexArray, IndexArray]


class Labellings:
    """The labels of every trial with their rows of the file, kept until all trials of a method are there."""

    def __init__(self) -> None:
        self._groups: dict[tuple[Any, ...], list[tuple[dict[str, Any], Labelling]]] = {}

    def add(self, row: dict[str, Any], labels: IndexArray, origin: IndexArray) -> None:
        """Keep the labels of one row of the score table."""
        key = tuple(row.get(name) for name in ("dataset", "method", "n", "m", "setting"))
        self._groups.setdefault(key, []).append((row, (labels, origin)))

    def fill_in_agreement(self) -> None:
        """Set `agreement` of every row: the mean ARI with the other trials; None without another one."""
        for group in self._groups.values():
            means = mean_agreements([labelling for _, labelling in group])
            for (row, _), mean in zip(group, means, strict=True):
                row["agreement"] = None if mean is None else round(mean, 6)


def mean_agreements(labellings: Sequence[Labelling]) -> list[float | None]:
    """For each trial, the mean adjusted Rand index with all others, over the rows that both have."""
    found: list[list[float]] = [[] for _ in labellings]
    for i, one in enumerate(labellings):
        for j in range(i):
            if (value := _agreement(one, labellings[j])) is not None:
                found[i].append(value)
                found[j].append(value)
    return [statistics.fmean(values) if values else None for values in found]


def _agreement(one: Labelling, two: Labelling) -> float | None:
    _, a, b = np.intersect1d(one[1], two[1], assume_unique=True, return_indices=True)
    return ari(contingency(one[0][a], two[0][b])) if len(a) > 1 else None


def unlabelled_summary(rows: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """One line per method and size for the report: sizes of the first trial, means over trials of the rest."""
    groups: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    for row in rows:
        if row.get("sizes"):
            groups.setdefault((row["label"], row["dataset"], row["n"], row["m"], row.get("setting", "")), []).append(
                row
            )
    return [
        {
            "label": label, "dataset": dataset, "n": f"{int(n):,}", "m": f"{int(m):,}", "setting": setting,
            "sizes": group[0]["sizes"].replace(" ", ", "),
            **{key: _mean(group, key) for key in ("eigengap", "share_uncoded", "agreement")},
            "trials": str(len(group)),
        }
        for (label, dataset, n, m, setting), group in groups.items()
    ]  # fmt: skip


def _mean(rows: Sequence[Mapping[str, str]], key: str) -> str:
    values = [float(row[key]) for row in rows if row[key] != ""]
    return f"{statistics.fmean(values):.3f}" if values else "–"
