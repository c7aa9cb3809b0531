"""The project's promises about time and memory, and the measurements that they are about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

STAGES = ("selection", "coding", "embedding", "K-means")


class Results:
    """The rows of all measured parts."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows

    def of(self, part: str, **where: Any) -> pd.DataFrame:
        chosen = self.rows[self.rows["part"] == part]
        for column, value in where.items():
            chosen = chosen[chosen[column] == value]
        return chosen

    def value(self, part: str, case: str, peer: str, quantity: str, stat: str = "least") -> float:
        """One measurement; NaN where it is missing."""
        values = self.of(part, case=case, peer=peer, quantity=quantity)[stat]
        return float(values.iloc[0]) if len(values) else np.nan

    def ratio(self, part: str, case: str, slow: str, fast: str, quantity: str = "cpu_seconds") -> float:
        return self.value(part, case, slow, quantity) / self.value(part, case, fast, quantity)

    def exponent(self, part: str, peer: str, quantities: tuple[str, ...], least_n: int = 0) -> float:
        """Slope of log time over log n, from the least times: other load only adds to a time."""
        rows = self.of(part, peer=peer)
        rows = rows[rows["quantity"].isin(quantities) & (rows["n"] >= least_n)]
        seconds = rows.groupby("n")["least"].sum(min_count=1).dropna()
        return float(np.polyfit(np.log(seconds.index), np.log(seconds), 1)[0]) if len(seconds) > 1 else np.nan


@dataclass(frozen=True)
class Bound:
    """A promise of the project: a value of at least (≥) or at most (≤) `limit`."""

    what: str
    sense: str
    limit: float
    value: Callable[[Results], float]
    unit: str = ""

    def verdict(self, results: Results) -> bool | None:
        """Whether the bound holds; None if it was not measured."""
        value = self.value(results)
        if np.isnan(value):
            return None
        return bool(value >= self.limit if self.sense == "≥" else value <= self.limit)


def faster_than_spams(case: str) -> Callable[[Results], float]:
    return lambda r: r.ratio("lasso", case, "SPAMS", "lasso")


def _later_share(results: Results) -> float:
    later = [results.value("stages", "stages", "ours", stage, "median") for stage in ("embedding", "K-means")]
    return sum(later) / results.value("stages", "stages", "ours", "cpu_seconds", "median")


def worst_excess(results: Results) -> float:
    return float(results.of("lasso", quantity="objective_excess")["most"].max())


def _worst_of_ours(quantity: str) -> Callable[[Results], float]:
    return lambda r: float(r.of("lasso", peer="lasso", quantity=quantity)["most"].max())


def _fit_over_parts(results: Results) -> float:
    rows = results.of("estimators", quantity="cpu_seconds")
    least = rows[rows["n"] >= 15_000].pivot_table(index="n", columns="peer", values="least")
    return float((least["FSC.fit"] / least["sum of its parts"]).max()) if "FSC.fit" in least else np.nan


ALTERNATION = "scikit-learn-extra, alternation"
SPAMS_CASES = (
    ("m300", "m=300", 4),
    ("m300_dense", "m=300, λ=50", 4),
    ("m1000", "m=1,000", 6),
    ("m1000_dense", "m=1,000, λ=50", 4),
    ("mnist", "MNIST features", 5),
    ("mnist_dense", "MNIST features, λ=50", 5),
)
BOUNDS = (
    *(
        Bound(f"`lasso` faster than SPAMS, {name}", "≥", limit, faster_than_spams(case), "times")
        for case, name, limit in SPAMS_CASES
    ),
    Bound("Relative difference of the lasso solvers' objectives", "≤", 1e-6, worst_excess),
    Bound("`lasso`: relative excess over the best objective", "≤", 1e-9, _worst_of_ours("objective_excess")),
    Bound("`lasso`: violation of the optimality conditions, over 1/λ", "≤", 1e-6, _worst_of_ours("kkt")),
    Bound(
        *("`lasso` on two threads, wall clock", "≥", 1.7),
        lambda r: r.ratio("threads", "threads", "lasso, 1 thread", "lasso, 2 threads", "seconds"),
        "times",
    ),
    Bound(
        *("FSC-uniform faster than built from SPAMS, scipy, scikit-learn", "≥", 4),
        lambda r: r.ratio("stages", "stages", "others", "ours"),
        "times",
    ),
    Bound("Embedding and K-means, share of FSC-uniform", "≤", 0.3, _later_share),
    Bound(
        *("FSC-uniform after selection, exponent of n from 15,000 on", "≤", 1.03),
        lambda r: r.exponent("methods", "FSC-uniform", STAGES[1:], 15_000),
    ),
    Bound(
        *("K-medoids faster than alternation, n=6,000", "≥", 5),
        lambda r: r.ratio("kmedoids", "n6000", ALTERNATION, "kmedoids"),
        "times",
    ),
    Bound(
        *("K-medoids of all points, exponent of n", "≤", 1.1),
        lambda r: Results(r.of("kmedoids", case="growth")).exponent("kmedoids", "kmedoids", ("cpu_seconds",)),
    ),
    Bound(
        *("SSC-OMP coding, n=15,000, k=6", "≤", 30),
        lambda r: r.value("omp", "n15000", "omp", "cpu_seconds"),
        "CPU s",
    ),
    Bound(
        *("Modified ADMM, peak memory at n=15,000", "≤", 4),
        lambda r: r.value("admm", "memory", "admm_modified", "peak_mb") / 1024,
        "GiB",
    ),
    Bound(
        *("FSC on two Dask workers over FSC on two threads, n = 10 million, wall clock", "≤", 1.25),
        lambda r: r.ratio("dask", "n10000000", "FSC, 2 Dask workers", "FSC, 2 threads", "seconds"),
        "times",
    ),
    Bound("`FSC.fit` over the sum of its parts, n = 15,000 and more", "≤", 1.05, _fit_over_parts, "times"),
    Bound(
        *("A job's CPU seconds beside its algorithm", "≤", 0.15),
        lambda r: r.value("jobs", "jobs", "forked by the server", "job_cost"),
        "s",
    ),
    Bound(
        *("Workflow: wall seconds x cores over the stages' CPU seconds", "≤", 1.10),
        lambda r: r.value("overhead", "run", "2 cores", "core_seconds_over_work"),
    ),
)
