"""Tables of a leaderboard: the methods on one dataset, and their ranks over all datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

# Of the tests on ranks.
SIGNIFICANCE = 0.05


def board(scores: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The methods on the dataset of `spec`, best first: means over trials, and whether a method is on the front.

    A method of which any trial was stopped has no means, and the last rank. On the front are the methods that are more
    accurate than every faster one.
    """
    rows = scores[scores["dataset"] == spec["dataset"]]
    rows = rows if "stopped" in rows else rows.assign(stopped=None)
    means = {key: (key, "mean") for key in ("accuracy", "nmi", "ari", "cpu_seconds")}
    groups = rows.groupby(["method", "label", "n", "m"], sort=False)
    table = groups.agg(
        trials=("trial", "count"), **means, accuracy_std=("accuracy", "std"), peak_mb=("peak_mb", "max"),
        stopped=("stopped", "first"),
    ).reset_index()  # fmt: skip
    measured = [*means, "accuracy_std", "peak_mb"]
    table.loc[table["stopped"].notna(), measured] = np.nan
    table.insert(2, "parameters", table["method"].map(spec["parameters"]))
    table.insert(0, "rank", table["accuracy"].rank(ascending=False, na_option="bottom"))
    table["front"] = _on_front(table)
    return table.sort_values(["rank", "method"], ignore_index=True)


def _on_front(table: pd.DataFrame) -> pd.Series:
    faster_first = table.sort_values(["cpu_seconds", "accuracy"], ascending=[True, False])["accuracy"]
    best_so_far = faster_first.cummax().shift(fill_value=-np.inf)
    return (faster_first > best_so_far).reindex(table.index)


@dataclass(frozen=True)
class Ranks:
    """Ranks by method (rows, best mean first) and dataset, with Friedman's test and Nemenyi's critical difference.

    Two methods whose mean ranks differ by less than the critical difference cannot be told apart.
    """

    table: pd.DataFrame
    mean: pd.Series
    p_value: float
    difference: float

    @property
    def groups(self) -> list[tuple[int, int]]:
        """First and last place of each largest group of methods that cannot be told apart."""
        last = [int((self.mean <= start + self.difference).sum()) - 1 for start in self.mean]
        pairs = [(first, end) for first, end in enumerate(last) if end > first]
        return [(first, end) for first, end in pairs if not any(f < first and e >= end for f, e in pairs)]


def ranks(scores: pd.DataFrame, spec: Mapping[str, Any]) -> Ranks:
    """The ranks of all methods on the datasets of `spec`, by mean accuracy; equal ones share their mean rank."""
    columns = {
        title: board(scores, {**spec, "dataset": id}).set_index(["method", "label"])["rank"]
        for id, title in spec["datasets"].items()
    }
    table = pd.DataFrame(columns)
    order = table.mean(axis=1).sort_values(kind="stable").index
    table = table.loc[order]
    return Ranks(table, table.mean(axis=1), friedman_p(table.to_numpy()), critical_difference(*table.shape))


def friedman_p(values: np.ndarray) -> float:
    """P-value of Friedman's test that all methods (rows) rank alike; NaN below three methods or two datasets."""
    from scipy.stats import friedmanchisquare

    k, n_datasets = values.shape
    if k < 3 or n_datasets < 2 or (values == values[0]).all():
        return float("nan")
    return float(friedmanchisquare(*values).pvalue)


def critical_difference(k: int, n_datasets: int) -> float:
    """Nemenyi's critical difference of mean ranks: q sqrt(k (k + 1) / (6 N)) for k methods on N datasets."""
    from scipy.stats import studentized_range

    if k < 2:
        return float("nan")
    q = studentized_range.ppf(1 - SIGNIFICANCE, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n_datasets)))


def ranks_table(ranked: Ranks, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Mean rank and rank on each dataset by method, with the results of the tests in every row."""
    table = ranked.table.reset_index()
    table.insert(2, "parameters", table["method"].map(spec["parameters"]))
    table.insert(3, "mean_rank", ranked.mean.to_numpy())
    return table.assign(critical_difference=ranked.difference, friedman_p=ranked.p_value)
