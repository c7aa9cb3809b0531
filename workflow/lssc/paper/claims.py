"""The paper's claims as statements that the score tables confirm or not.

A claim asks for findings: a number estimated over trials, its 95 % interval, and the target that the whole interval
must meet. A finding whose interval lies partly outside is open: so few trials do not tell. A claim holds if every
finding does, in part if some do, does not if none does, and is undecided if all are open. Comparisons are paired: both
methods on the same trials. A claim that needs a run that is not there, or one of a single trial, is told as not run.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lssc.paper.intervals import Interval, mean_interval, ratio_interval, slope

# What the paper's words are taken to mean.
EQUALLY_ACCURATE = 0.01
ALMOST_AS_ACCURATE = 0.03
LARGE_MARGIN = 0.05
MUCH_FASTER = 2.0
LARGE_M = 500
NUMERICALLY_EQUAL = 1e-6
TWICE = (1.5, 3)
LINEAR = 1.1
NEGLIGIBLE = 0.02
# Units of findings.
DIFFERENCE = "difference of accuracy"
RATIO = "ratio of CPU seconds"

Row = Mapping[str, str]
Place = Mapping[str, int]


class NotRun(Exception):
    """A claim needs what no experiment of the study gave."""


@dataclass(frozen=True)
class Target:
    """Where an interval must lie."""

    told: str
    low: float = -math.inf
    high: float = math.inf
    # Whether the bounds themselves are within.
    closed: bool = True

    def met_by(self, interval: Interval) -> bool | None:
        """None if the interval lies partly within."""
        if self._within(interval.low) and self._within(interval.high):
            return True
        apart = interval.high < self.low or interval.low > self.high
        touching = not self.closed and (interval.high == self.low or interval.low == self.high)
        return False if apart or touching else None

    def _within(self, value: float) -> bool:
        return self.low <= value <= self.high if self.closed else self.low < value < self.high


@dataclass(frozen=True)
class Finding:
    what: str
    where: str
    unit: str
    estimate: float
    low: float
    high: float
    trials: int
    target: str
    holds: bool | None


@dataclass(frozen=True)
class Claim:
    """What the paper says, in other words; where it says so; and how to find out.

    A `reading` is no claim of its own, but one under which the paper's result might have come about.
    """

    id: str
    source: str
    claim: str
    check: Callable[[Tables], Iterable[Finding]]
    reading: bool = False


class Tables:
    """Score tables by experiment, asked for one method and place at a time."""

    def __init__(self, scores: Mapping[str, Sequence[Row]], agreement: Mapping[str, Sequence[Row]]) -> None:
        self._scores, self._agreement = scores, agreement

    def rows(self, experiment: str) -> Sequence[Row]:
        if experiment not in self._scores:
            raise NotRun(f"experiment {experiment}")
        return self._scores[experiment]

    def agreement(self, experiment: str) -> Sequence[Row]:
        if experiment not in self._agreement:
            raise NotRun(f"experiment {experiment}")
        return self._agreement[experiment]

    def label(self, experiment: str, method: str) -> str:
        return next(row["label"] for row in self._of(experiment, method))

    def sizes(self, experiment: str, method: str, key: str) -> list[int]:
        """The n or m that a method was run at."""
        return sorted({int(row[key]) for row in self._of(experiment, method)})

    def values(self, experiment: str, method: str, column: str, at: Place) -> dict[int, float]:
        """Trial -> value. A method that uses all points has no m, and the same value for every m."""
        rows = self._of(experiment, method)
        wanted = {key: size for key, size in at.items() if key != "m" or rows[0]["full_data"] != "True"}
        found = [row for row in rows if all(int(row[key]) == size for key, size in wanted.items())]
        if not found:
            raise NotRun(f"{method} at {place(at)} in experiment {experiment}")
        values = {int(row["trial"]): float(row[column]) for row in found}
        if len(values) < len(found):
            raise NotRun(f"one n and one m at a time of {method} in experiment {experiment}")
        if column.endswith("seconds") and min(values.values()) <= 0:
            raise NotRun(f"times above zero of {method} in experiment {experiment}")
        return values

    def ends(self, experiment: str, method: str, key: str) -> tuple[int, int]:
        """The smallest and the largest n or m."""
        sizes = self.sizes(experiment, method, key)
        if len(sizes) < 2:
            raise NotRun(f"several {key} in experiment {experiment}")
        return sizes[0], sizes[-1]

    def _of(self, experiment: str, method: str) -> list[Row]:
        rows = [row for row in self.rows(experiment) if row["method"] == method]
        if not rows:
            raise NotRun(f"{method} in experiment {experiment}")
        return rows


def above(bound: float) -> Target:
    return Target(f"above {bound:g}", low=bound, closed=False)


def at_least(bound: float) -> Target:
    return Target(f"at least {bound:g}", low=bound)


def at_most(bound: float) -> Target:
    return Target(f"at most {bound:g}", high=bound)


def between(low: float, high: float) -> Target:
    return Target(f"{low:g} to {high:g}", low, high)


def place(at: Place) -> str:
    return ", ".join(f"{key} = {size:,}" for key, size in at.items())


def span(key: str, sizes: tuple[int, int]) -> str:
    return f"{key} = {sizes[0]:,} to {sizes[1]:,}"


def finding(what: str, where: str, unit: str, interval: Interval, target: Target) -> Finding:
    return Finding(what, where, unit, **asdict(interval), target=target.told, holds=target.met_by(interval))


def interval_of(make: Callable[[Sequence[float]], Interval], values: Sequence[float], experiment: str) -> Interval:
    """Of the values that an experiment gave; NotRun if they are too few."""
    try:
        return make(values)
    except ValueError as error:
        raise NotRun(f"more trials of experiment {experiment}: {error}") from None


def paired(
    tables: Tables, experiment: str, one: str, two: str, column: str, at: Place
) -> dict[int, tuple[float, float]]:
    """Trial -> the values of two methods, for the trials they share."""
    first, second = (tables.values(experiment, method, column, at) for method in (one, two))
    return {trial: (first[trial], second[trial]) for trial in first if trial in second}


def differences(tables: Tables, experiment: str, one: str, two: str, at: Place) -> dict[int, float]:
    """Trial -> by how much the first method is more accurate."""
    return {trial: a - b for trial, (a, b) in paired(tables, experiment, one, two, "accuracy", at).items()}


def more_accurate(tables: Tables, experiment: str, one: str, two: str, at: Place, target: Target) -> Finding:
    """How much more accurate the first method is than the second."""
    leads = differences(tables, experiment, one, two, at)
    interval = interval_of(mean_interval, list(leads.values()), experiment)
    what = f"{tables.label(experiment, one)} minus {tables.label(experiment, two)}"
    return finding(what, place(at), DIFFERENCE, interval, target)


def times_as_fast(
    tables: Tables, experiment: str, fast: str, slow: str, at: Place, target: Target, column: str = "cpu_seconds"
) -> Finding:
    """How many times the CPU seconds of the first method the second one takes."""
    pairs = paired(tables, experiment, fast, slow, column, at)
    interval = interval_of(ratio_interval, [b / a for a, b in pairs.values()], experiment)
    what = f"time of {tables.label(experiment, slow)} over that of {tables.label(experiment, fast)}"
    return finding(what, place(at), RATIO, interval, target)


def mean_of(tables: Tables, experiment: str, method: str, column: str, at: Place, target: Target) -> Finding:
    values = list(tables.values(experiment, method, column, at).values())
    unit = {"accuracy": "accuracy", "cpu_seconds": "CPU seconds"}[column]
    interval = interval_of(mean_interval, values, experiment)
    return finding(tables.label(experiment, method), place(at), unit, interval, target)


def lead_shrinks(tables: Tables, experiment: str, one: str, two: str, key: str, *, grows: bool = False) -> Finding:
    """By how much the first method leads more at the smallest size than at the largest; the reverse if it grows."""
    sizes = tables.ends(experiment, one, key)
    few, many = (differences(tables, experiment, one, two, {key: size}) for size in sizes)
    changes = [many[trial] - few[trial] if grows else few[trial] - many[trial] for trial in few if trial in many]
    lead = f"{tables.label(experiment, one)} minus {tables.label(experiment, two)}"
    interval = interval_of(mean_interval, changes, experiment)
    what = f"{'growth' if grows else 'loss'} of the lead {lead}"
    return finding(what, span(key, sizes), DIFFERENCE, interval, above(0))


def exponents(tables: Tables, experiment: str, method: str, column: str = "cpu_seconds") -> dict[int, float]:
    """Trial -> the power of n that its CPU seconds grow with."""
    return _slopes(tables, experiment, method, column, math.log)


def added_seconds(tables: Tables, experiment: str, method: str) -> dict[int, float]:
    """Trial -> CPU seconds that a further point costs."""
    return _slopes(tables, experiment, method, "cpu_seconds", float)


def _slopes(
    tables: Tables, experiment: str, method: str, column: str, scaled: Callable[[float], float]
) -> dict[int, float]:
    tables.ends(experiment, method, "n")
    sizes = tables.sizes(experiment, method, "n")
    by_size = [tables.values(experiment, method, column, {"n": n}) for n in sizes]
    shared = set.intersection(*(set(values) for values in by_size))
    return {
        trial: slope([scaled(n) for n in sizes], [scaled(values[trial]) for values in by_size])
        for trial in sorted(shared)
    }


FSC = ("fsc_uniform", "fsc_nonuniform")
ESC = ("esc", "esc_raw")


def leads(
    experiment: str, ones: Sequence[str], twos: Sequence[str], key: str, target: Target
) -> Callable[[Tables], Iterator[Finding]]:
    """Each of the ones is more accurate than each of the twos, everywhere."""

    def check(tables: Tables) -> Iterator[Finding]:
        for one, two in itertools.product(ones, twos):
            for size in tables.sizes(experiment, one, key):
                yield more_accurate(tables, experiment, one, two, {key: size}, target)

    return check


def is_faster(
    experiment: str, fast: str, slows: Sequence[str], key: str, target: Target
) -> Callable[[Tables], Iterator[Finding]]:
    """The first method is so many times as fast as each of the others, everywhere."""

    def check(tables: Tables) -> Iterator[Finding]:
        for slow in slows:
            for size in tables.sizes(experiment, fast, key):
                yield times_as_fast(tables, experiment, fast, slow, {key: size}, target)

    return check


def admm_equal(tables: Tables) -> Iterator[Finding]:
    equal = between(-EQUALLY_ACCURATE, EQUALLY_ACCURATE)
    for n in tables.sizes("landmarks", "ssc_admm_low_rank", "n"):
        yield more_accurate(tables, "landmarks", "ssc_admm_low_rank", "ssc_admm_modified", {"n": n}, equal)


def modified_twice_as_fast(tables: Tables) -> Iterator[Finding]:
    pair = "ssc_admm_modified_plain", "ssc_admm"
    for n, target in itertools.product(tables.sizes("admm_steps", "ssc_admm", "n"), (above(1), between(*TWICE))):
        yield times_as_fast(tables, "admm_steps", *pair, {"n": n}, target, column="code_cpu_seconds")


def omp_faster(tables: Tables) -> Iterator[Finding]:
    for n in tables.sizes("landmarks", "ssc_omp", "n"):
        yield times_as_fast(tables, "landmarks", "ssc_omp", "ssc_admm", {"n": n}, at_least(10))
        yield times_as_fast(tables, "landmarks", "ssc_omp", "ssc_admm_modified", {"n": n}, above(1))


def omp_less_accurate(tables: Tables) -> Iterator[Finding]:
    for n, admm in itertools.product(
        tables.sizes("landmarks", "ssc_omp", "n"), ("ssc_admm_low_rank", "ssc_admm_modified")
    ):
        yield more_accurate(tables, "landmarks", admm, "ssc_omp", {"n": n}, above(0))


def ninety_percent(tables: Tables) -> Iterator[Finding]:
    yield mean_of(tables, "landmarks", "fsc_uniform", "accuracy", {"m": 200}, at_least(0.9))


def linear_time(tables: Tables) -> Iterator[Finding]:
    stages = {"cpu_seconds": "time", "code_cpu_seconds": "coding time", "embed_cpu_seconds": "embedding time"}
    for method, (column, what) in itertools.product(FSC, stages.items()):
        where = span("n", tables.ends("points", method, "n"))
        found = list(exponents(tables, "points", method, column).values())
        interval = interval_of(mean_interval, found, "points")
        told = f"{what} of {tables.label('points', method)}"
        yield finding(told, where, "exponent of n", interval, at_most(LINEAR))


def sampling_costs_nothing(tables: Tables) -> Iterator[Finding]:
    for n in tables.sizes("points", "fsc_uniform", "n"):
        select, whole = (
            tables.values("points", "fsc_uniform", column, {"n": n}) for column in ("select_cpu_seconds", "cpu_seconds")
        )
        interval = interval_of(mean_interval, [select[trial] / whole[trial] for trial in whole], "points")
        yield finding(
            "selection's share of the time of FSC-uniform", place({"n": n}), "share", interval, at_most(NEGLIGIBLE)
        )


def seconds_at_15000(tables: Tables) -> Iterator[Finding]:
    yield mean_of(tables, "points", "fsc_uniform", "cpu_seconds", {"n": 15000}, at_most(0.45))


def grows_more_slowly(tables: Tables) -> Iterator[Finding]:
    where = span("n", tables.ends("points", "esc", "n"))
    pair = "ESC minus FSC-nonuniform"
    for slopes, what, unit in (
        (exponents, f"exponent, {pair}", "exponent of n"),
        (added_seconds, f"cost of a further point, {pair}", "CPU seconds a point"),
    ):
        esc, fsc = (slopes(tables, "points", method) for method in ("esc", "fsc_nonuniform"))
        interval = interval_of(mean_interval, [esc[trial] - fsc[trial] for trial in esc if trial in fsc], "points")
        yield finding(what, where, unit, interval, above(0))


def self_coding_hurts(tables: Tables) -> Iterator[Finding]:
    pair = "fsc_uniform", "fsc_uniform_self"
    large = [m for m in tables.sizes("self_coding", "fsc_uniform", "m") if m >= LARGE_M]
    if not large:
        raise NotRun(f"m of {LARGE_M} or more in experiment self_coding")
    for m in large:
        yield more_accurate(tables, "self_coding", *pair, {"m": m}, above(0))
    yield lead_shrinks(tables, "self_coding", *pair, "m", grows=True)


def implicit_is_explicit(tables: Tables) -> Iterator[Finding]:
    rows = tables.agreement("explicit")
    for m in sorted({int(row["m"]) for row in rows}):
        part = [row for row in rows if int(row["m"]) == m]
        sines = [float(row["sine"]) for row in part]
        # Not an interval: the smallest and the largest that were seen.
        seen = Interval(max(sines), min(sines), max(sines), len(sines))
        yield finding("angle between the two spaces", f"m = {m:,}", "sine", seen, at_most(NUMERICALLY_EQUAL))
        labels = [float(row["labels"]) for row in part]
        seen = Interval(min(labels), min(labels), max(labels), len(labels))
        yield finding("points with the same label", f"m = {m:,}", "share", seen, at_least(1))


def implicit_is_cheaper(tables: Tables) -> Iterator[Finding]:
    for m in tables.sizes("explicit", "fsc_uniform", "m"):
        pair = "fsc_uniform", "fsc_uniform_explicit"
        yield times_as_fast(tables, "explicit", *pair, {"m": m}, above(MUCH_FASTER), column="embed_cpu_seconds")


def trade_off(tables: Tables) -> Iterator[Finding]:
    for method in FSC:
        sizes = tables.ends("landmarks", method, "m")
        label, where = tables.label("landmarks", method), span("m", sizes)
        few, many = (tables.values("landmarks", method, "accuracy", {"m": m}) for m in sizes)
        interval = interval_of(mean_interval, [many[trial] - few[trial] for trial in few if trial in many], "landmarks")
        yield finding(f"accuracy that {label} gains", where, DIFFERENCE, interval, above(0))
        few, many = (tables.values("landmarks", method, "cpu_seconds", {"m": m}) for m in sizes)
        interval = interval_of(
            ratio_interval, [many[trial] / few[trial] for trial in few if trial in many], "landmarks"
        )
        yield finding(f"time that {label} takes for it", where, RATIO, interval, above(1))


def omp_suits_mnist(tables: Tables) -> Iterator[Finding]:
    for n in tables.sizes("mnist", "ssc_omp", "n"):
        yield mean_of(tables, "mnist", "ssc_omp", "accuracy", {"n": n}, at_least(0.9))


def nonuniform_at_small_m(tables: Tables) -> Iterator[Finding]:
    for m in tables.sizes("mnist", "fsc_uniform", "m")[:2]:
        yield more_accurate(tables, "mnist", "fsc_nonuniform", "fsc_uniform", {"m": m}, above(0))


RIVALS = ("fsc_nonuniform", "esc", "ssc_omp", "ssc_admm_modified")

CLAIMS = (
    Claim(
        "admm_equal", "Fig. 1 (a)",
        f"SSC-ADMM and its modified version are equally accurate (within {EQUALLY_ACCURATE:g}).",
        admm_equal,
    ),
    Claim(
        "modified_twice_as_fast", "Fig. 1 (b)",
        f"The modified version is almost two times ({TWICE[0]:g} to {TWICE[1]:g}) as fast as SSC-ADMM. Coding alone, "
        "both as published, equally many iterations, one thread.",
        modified_twice_as_fast,
    ),
    Claim(
        "omp_faster", "Fig. 1 (b)",
        "SSC-OMP is faster than both, by an order of magnitude than SSC-ADMM.",
        omp_faster,
    ),
    Claim("omp_less_accurate", "Fig. 1 (a)", "SSC-OMP is less accurate than ADMM.", omp_less_accurate),
    Claim(
        "uniform_beats_omp_and_esc", "Fig. 1 (a)",
        "FSC-uniform is significantly more accurate than SSC-OMP and ESC (on points as drawn, and at unit norm) at "
        "every m.",
        leads("landmarks", ("fsc_uniform",), ("ssc_omp", "esc", "esc_unit"), "m", above(0)),
    ),
    Claim(
        "uniform_fastest_over_m", "Fig. 1 (b)",
        f"FSC-uniform is the fastest by a large margin ({MUCH_FASTER:g} times) at every m.",
        is_faster("landmarks", "fsc_uniform", (*RIVALS, "ssc_admm"), "m", above(MUCH_FASTER)),
    ),
    Claim("ninety_percent", "Fig. 1 (a)", "FSC-uniform reaches 90 % accuracy at m = 200.", ninety_percent),
    Claim(
        "medoids_help", "Fig. 1 (a)",
        "Landmarks by K-medoids make FSC slightly more accurate than uniform ones.",
        leads("landmarks", ("fsc_nonuniform",), ("fsc_uniform",), "m", above(0)),
    ),
    Claim(
        "medoids_help_most_at_small_m", "Fig. 1 (a)",
        "K-medoids help most where landmarks are few.",
        lambda tables: [lead_shrinks(tables, "landmarks", "fsc_nonuniform", "fsc_uniform", "m")],
    ),
    Claim(
        "nonuniform_as_fast_as_esc", "Fig. 1 (b)",
        "FSC-nonuniform and ESC take roughly the same time (within a factor of 2).",
        is_faster("landmarks", "fsc_nonuniform", ("esc",), "m", between(0.5, 2)),
    ),
    Claim(
        "nonuniform_beats_esc", "Fig. 1 (a)",
        "FSC-nonuniform is more accurate than ESC (on points as drawn and at unit norm) at every m.",
        leads("landmarks", ("fsc_nonuniform",), ("esc", "esc_unit"), "m", above(0)),
    ),
    Claim(
        "fsc_beat_omp_and_esc_over_n", "Fig. 1 (c)",
        "Both versions of FSC are more accurate than SSC-OMP and ESC at every n.",
        leads("points", FSC, ("ssc_omp", "esc"), "n", above(0)),
    ),
    Claim(
        "close_to_admm", "Fig. 1 (c)",
        f"Both versions of FSC almost reach the accuracy of ADMM on all points (within {ALMOST_AS_ACCURATE:g}).",
        leads("points", FSC, ("ssc_admm_modified",), "n", at_least(-ALMOST_AS_ACCURATE)),
    ),
    Claim(
        "uniform_fastest_over_n", "Fig. 1 (d)",
        f"FSC-uniform is the fastest by a large margin ({MUCH_FASTER:g} times) at every n.",
        is_faster("points", "fsc_uniform", RIVALS, "n", above(MUCH_FASTER)),
    ),
    Claim(
        "linear_time", "Fig. 1 (d), Section 3",
        f"FSC takes time linear in n (an exponent of at most {LINEAR:g}), coding and embedding by themselves, too.",
        linear_time,
    ),
    Claim(
        "sampling_costs_nothing", "Section 3",
        f"Uniform sampling costs next to nothing (at most {NEGLIGIBLE:g} of the time) at every n.",
        sampling_costs_nothing,
    ),
    Claim(
        "seconds_at_15000", "Section 4",
        "FSC-uniform takes about 0.45 seconds (at most) for n = 15,000 points.",
        seconds_at_15000,
    ),
    Claim(
        "grows_more_slowly", "Fig. 1 (d)",
        "The time of FSC-nonuniform grows more slowly with n than that of ESC (medoids of at most 10,000 points).",
        grows_more_slowly,
    ),
    Claim(
        "beats_esc_on_mnist", "Fig. 2",
        f"On MNIST both versions of FSC are more accurate than ESC by a large margin ({LARGE_MARGIN:g}) at every m. "
        "Each method at its own best parameters; ESC with codes at unit length, and as the paper words it.",
        leads("mnist", FSC, ESC, "m", above(LARGE_MARGIN)),
    ),
    Claim(
        "beats_esc_on_mnist_at_lambda_3", "Fig. 2",
        "The same with λ = 3 for all and ESC's published t = 3; with raw inner products, rows of the embedding as they "
        "are.",
        leads("mnist_lambda3", FSC, ESC, "m", above(LARGE_MARGIN)),
        reading=True,
    ),
    Claim(
        "medoids_help_on_mnist", "Fig. 2",
        "On MNIST K-medoids are more accurate than uniform sampling at small m (the two smallest).",
        nonuniform_at_small_m,
    ),
    Claim(
        "gap_closes_on_mnist", "Fig. 2",
        "On MNIST the lead of K-medoids over uniform sampling shrinks as m grows.",
        lambda tables: [lead_shrinks(tables, "mnist", "fsc_nonuniform", "fsc_uniform", "m")],
    ),
    Claim("omp_suits_mnist", "Section 4", "MNIST suits SSC-OMP (90 % or more).", omp_suits_mnist),
    Claim(
        "self_coding_hurts", "Section 3, eq. (5)",
        f"To let a landmark be coded by itself makes FSC less accurate where m is large ({LARGE_M} or more).",
        self_coding_hurts,
    ),
    Claim(
        "implicit_is_explicit", "Section 3",
        "The singular vectors of the m x n matrix are the eigenvectors of the n x n one.",
        implicit_is_explicit,
    ),
    Claim(
        "implicit_is_cheaper", "Section 3",
        f"The embedding without the n x n matrix is cheaper ({MUCH_FASTER:g} times at least) than a dense solver's.",
        implicit_is_cheaper,
    ),
    Claim("trade_off", "Section 5", "More landmarks buy accuracy with time.", trade_off),
)  # fmt: skip


def judge(claim: Claim, tables: Tables) -> dict[str, Any]:
    """The claim with its findings, its verdict and a summary in words."""
    told = {"id": claim.id, "source": claim.source, "claim": claim.claim, "reading": claim.reading}
    try:
        findings = list(claim.check(tables))
    except NotRun as missing:
        return {**told, "verdict": "not run", "summary": f"Needs {missing}.", "findings": []}
    return {
        **told,
        "verdict": verdict(findings),
        "summary": summary(findings),
        "findings": [asdict(f) for f in findings],
    }


def verdict(findings: Sequence[Finding]) -> str:
    held = {f.holds for f in findings}
    if not held:
        return "not run"
    if held == {True}:
        return "holds"
    if held == {None}:
        return "undecided"
    return "holds in part" if True in held else "does not hold"


def summary(findings: Sequence[Finding]) -> str:
    """What was found, comparison by comparison; where it fails, if it fails in part."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for f in findings:
        groups.setdefault((f.what, f.target), []).append(f)
    return " ".join(_sentence(what, group) for (what, _), group in groups.items())


def _sentence(what: str, group: Sequence[Finding]) -> str:
    what = what[:1].upper() + what[1:]
    numbers = ", ".join(f"{number(f.estimate, f.unit)}" for f in group)
    if len(group) == 1:
        f = group[0]
        text = f"{what}: {numbers} ({number(f.low, f.unit)} to {number(f.high, f.unit)}) at {f.where}"
    else:
        text = f"{what}: {numbers} at {_places(group)}"
    remarks = [(f"not {group[0].target}", False), (f"open whether {group[0].target}", None)]
    told = [_remark(words, group, [f for f in group if f.holds is answer]) for words, answer in remarks]
    return "; ".join([text, *filter(None, told)]) + "."


def _remark(words: str, group: Sequence[Finding], concerned: Sequence[Finding]) -> str:
    """`not above 0 at m = 100`; nothing if it concerns no finding."""
    if not concerned or len(group) == 1:
        return words if concerned else ""
    return f"{words} anywhere" if len(concerned) == len(group) else f"{words} at {_places(concerned)}"


def _places(group: Sequence[Finding]) -> str:
    """`m = 100, 200, 300` for findings that differ in one size."""
    key = group[0].where.split(" = ")[0]
    return f"{key} = " + ", ".join(f.where.split(" = ")[-1] for f in group)


def number(value: float, unit: str) -> str:
    """A number as a reader of its unit expects it."""
    if unit in ("accuracy", DIFFERENCE):
        told = f"{value:{'+' * (unit == DIFFERENCE)}.3f}"
    elif unit in ("exponent of n", "CPU seconds"):
        told = f"{value:.2f}"
    else:
        told = f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return told.replace("-", "−")


def judged(scores: Mapping[str, Sequence[Row]], agreement: Mapping[str, Sequence[Row]]) -> list[dict[str, Any]]:
    """Every claim of the paper, judged by these tables."""
    tables = Tables(scores, agreement)
    return [judge(claim, tables) for claim in CLAIMS]
