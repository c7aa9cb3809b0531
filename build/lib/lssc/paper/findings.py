"""Findings: numbers estimated over trials, with 95 % intervals and the target that each interval must meet.

Comparisons are paired: both methods on the same trials. Score tables come as rows of text, as read from CSV.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from lssc.paper.intervals import Interval, mean_interval, ratio_interval, slope
from lssc.report.units import ACCURACY_DIFFERENCE, TIME_RATIO

Row = Mapping[str, str]
# Sizes that pick rows of a score table, such as {"m": 200}.
Sizes = Mapping[str, int]


class NotRun(Exception):
    """A claim needs results that the tables lack; the message names them."""


@dataclass(frozen=True)
class Target:
    """The range in which a whole interval must lie."""

    text: str
    low: float = -math.inf
    high: float = math.inf
    # Whether the range includes its bounds.
    closed: bool = True

    def met_by(self, interval: Interval) -> bool | None:
        """True if the interval lies inside, False if outside, None if it lies partly inside."""
        if self._contains(interval.low) and self._contains(interval.high):
            return True
        apart = interval.high < self.low or interval.low > self.high
        touching = not self.closed and (interval.high == self.low or interval.low == self.high)
        return False if apart or touching else None

    def _contains(self, value: float) -> bool:
        return self.low <= value <= self.high if self.closed else self.low < value < self.high


def above(bound: float) -> Target:
    return Target(f"above {bound:g}", low=bound, closed=False)


def at_least(bound: float) -> Target:
    return Target(f"at least {bound:g}", low=bound)


def at_most(bound: float) -> Target:
    return Target(f"at most {bound:g}", high=bound)


def between(low: float, high: float) -> Target:
    return Target(f"{low:g} to {high:g}", low, high)


@dataclass(frozen=True)
class Finding:
    """One estimate with its interval; `holds` says whether the interval meets the target, None if partly."""

    what: str
    where: str
    unit: str
    estimate: float
    low: float
    high: float
    trials: int
    target: str
    holds: bool | None


class Tables:
    """Score tables and agreement tables, both by experiment."""

    def __init__(self, scores: Mapping[str, Sequence[Row]], agreement: Mapping[str, Sequence[Row]]) -> None:
        self._scores, self._agreement = scores, agreement

    def agreement(self, experiment: str) -> Sequence[Row]:
        if experiment not in self._agreement:
            raise NotRun(f"experiment {experiment}")
        return self._agreement[experiment]

    def label(self, experiment: str, method: str) -> str:
        return self._rows(experiment, method)[0]["label"]

    def sizes(self, experiment: str, method: str, key: str) -> list[int]:
        """Every n or m at which a method was run."""
        return sorted({int(row[key]) for row in self._rows(experiment, method)})

    def size_range(self, experiment: str, method: str, key: str) -> tuple[int, int]:
        """The smallest and the largest n or m; NotRun if there is only one."""
        sizes = self.sizes(experiment, method, key)
        if len(sizes) < 2:
            raise NotRun(f"several {key} in experiment {experiment}")
        return sizes[0], sizes[-1]

    def places(self, experiment: str, methods: Sequence[str]) -> list[Sizes]:
        """Every n and m at which the methods were run; a size that never varies is left out."""
        tables = [self._rows(experiment, method) for method in methods]
        # A method that uses all points has no m of its own.
        rows = next((rows for rows in tables if rows[0]["full_data"] != "True"), tables[0])
        pairs = sorted({(int(row["n"]), int(row["m"])) for row in rows})
        several_n, several_m = (len(set(sizes)) > 1 for sizes in zip(*pairs, strict=True))
        keep_n = several_n or rows[0]["full_data"] == "True"
        keep_m = not keep_n or (several_m and rows[0]["full_data"] != "True")
        return [{**({"n": n} if keep_n else {}), **({"m": m} if keep_m else {})} for n, m in pairs]

    def values(self, experiment: str, method: str, column: str, at: Sizes) -> dict[int, float]:
        """Trial -> value. A method that uses all points has no m: its values serve for every m."""
        rows = self._rows(experiment, method)
        sizes = {key: size for key, size in at.items() if key != "m" or rows[0]["full_data"] != "True"}
        matching = [row for row in rows if all(int(row[key]) == size for key, size in sizes.items())]
        if not matching:
            raise NotRun(f"{method} at {format_sizes(at)} in experiment {experiment}")
        values = {int(row["trial"]): float(row[column]) for row in matching}
        if len(values) < len(matching):
            raise NotRun(f"one n and one m at a time of {method} in experiment {experiment}")
        if column.endswith("seconds") and min(values.values()) <= 0:
            raise NotRun(f"times above zero of {method} in experiment {experiment}")
        return values

    def _rows(self, experiment: str, method: str) -> list[Row]:
        if experiment not in self._scores:
            raise NotRun(f"experiment {experiment}")
        rows = [row for row in self._scores[experiment] if row["method"] == method]
        if not rows:
            raise NotRun(f"{method} in experiment {experiment}")
        return rows


def format_sizes(at: Sizes) -> str:
    return ", ".join(f"{key} = {size:,}" for key, size in at.items())


def format_range(key: str, sizes: tuple[int, int]) -> str:
    return f"{key} = {sizes[0]:,} to {sizes[1]:,}"


def make_finding(what: str, where: str, unit: str, interval: Interval, target: Target) -> Finding:
    return Finding(what, where, unit, **asdict(interval), target=target.text, holds=target.met_by(interval))


def mean_of(values: Sequence[float], experiment: str) -> Interval:
    return _interval(mean_interval, values, experiment)


def ratio_of(values: Sequence[float], experiment: str) -> Interval:
    return _interval(ratio_interval, values, experiment)


def _interval(estimate: Callable[[Sequence[float]], Interval], values: Sequence[float], experiment: str) -> Interval:
    """NotRun if there are too few values for an interval."""
    try:
        return estimate(values)
    except ValueError as error:
        raise NotRun(f"more trials of experiment {experiment}: {error}") from None


def pairs(tables: Tables, experiment: str, one: str, two: str, column: str, at: Sizes) -> dict[int, tuple]:
    """Trial -> the values of both methods, for the trials they share."""
    first, second = (tables.values(experiment, method, column, at) for method in (one, two))
    return {trial: (first[trial], second[trial]) for trial in first if trial in second}


def accuracy_leads(tables: Tables, experiment: str, one: str, two: str, at: Sizes) -> dict[int, float]:
    """Trial -> accuracy of the first method minus that of the second."""
    return {trial: a - b for trial, (a, b) in pairs(tables, experiment, one, two, "accuracy", at).items()}


def more_accurate(tables: Tables, experiment: str, one: str, two: str, at: Sizes, target: Target) -> Finding:
    """Accuracy of the first method minus that of the second."""
    interval = mean_of(list(accuracy_leads(tables, experiment, one, two, at).values()), experiment)
    what = f"{tables.label(experiment, one)} minus {tables.label(experiment, two)}"
    return make_finding(what, format_sizes(at), ACCURACY_DIFFERENCE, interval, target)


def times_as_fast(
    tables: Tables, experiment: str, fast: str, slow: str, at: Sizes, target: Target, column: str = "cpu_seconds"
) -> Finding:
    """CPU seconds of the second method over those of the first."""
    ratios = [b / a for a, b in pairs(tables, experiment, fast, slow, column, at).values()]
    what = f"time of {tables.label(experiment, slow)} over that of {tables.label(experiment, fast)}"
    return make_finding(what, format_sizes(at), TIME_RATIO, ratio_of(ratios, experiment), target)


def mean_score(tables: Tables, experiment: str, method: str, column: str, at: Sizes, target: Target) -> Finding:
    values = list(tables.values(experiment, method, column, at).values())
    unit = {"accuracy": "accuracy", "cpu_seconds": "CPU seconds"}[column]
    label = tables.label(experiment, method)
    return make_finding(label, format_sizes(at), unit, mean_of(values, experiment), target)


def lead_change(tables: Tables, experiment: str, one: str, two: str, key: str, *, grows: bool) -> Finding:
    """By how much the first method's lead in accuracy grows, or shrinks, from the smallest size to the largest."""
    sizes = tables.size_range(experiment, one, key)
    few, many = (accuracy_leads(tables, experiment, one, two, {key: size}) for size in sizes)
    sign = 1 if grows else -1
    changes = [sign * (many[trial] - few[trial]) for trial in few if trial in many]
    lead = f"{tables.label(experiment, one)} minus {tables.label(experiment, two)}"
    what = f"{'growth' if grows else 'loss'} of the lead {lead}"
    interval = mean_of(changes, experiment)
    return make_finding(what, format_range(key, sizes), ACCURACY_DIFFERENCE, interval, above(0))


def time_exponents(tables: Tables, experiment: str, method: str, column: str = "cpu_seconds") -> dict[int, float]:
    """Trial -> exponent of n in its CPU seconds."""
    return _slopes(tables, experiment, method, column, math.log)


def seconds_per_point(tables: Tables, experiment: str, method: str) -> dict[int, float]:
    """Trial -> CPU seconds that each further point costs."""
    return _slopes(tables, experiment, method, "cpu_seconds", float)


def _slopes(
    tables: Tables, experiment: str, method: str, column: str, scale: Callable[[float], float]
) -> dict[int, float]:
    tables.size_range(experiment, method, "n")
    sizes = tables.sizes(experiment, method, "n")
    by_size = [tables.values(experiment, method, column, {"n": n}) for n in sizes]
    shared = set.intersection(*(set(values) for values in by_size))
    return {
        trial: slope([scale(n) for n in sizes], [scale(values[trial]) for values in by_size])
        for trial in sorted(shared)
    }
