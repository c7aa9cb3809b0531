"""95 % intervals over trials: of a mean, of a paired difference, of a ratio of times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    estimate: float
    low: float
    high: float
    trials: int


def mean_interval(values: Sequence[float]) -> Interval:
    """Student's interval of the mean; ValueError for fewer than two values, whose spread is not known."""
    from scipy.special import stdtrit

    if len(values) < 2:
        raise ValueError(f"{len(values)} trial gives no interval; need at least 2")
    estimate = float(np.mean(values))
    reach = float(stdtrit(len(values) - 1, (1 + LEVEL) / 2) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return Interval(estimate, estimate - reach, estimate + reach, len(values))


def ratio_interval(ratios: Sequence[float]) -> Interval:
    """Interval of the geometric mean: twice as slow and twice as fast are equally far from equal."""
    logs = mean_interval(np.log(ratios))
    return Interval(*(float(np.exp(x)) for x in (logs.estimate, logs.low, logs.high)), logs.trials)


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of the line that fits the points best."""
    return float(np.polyfit(x, y, 1)[0])
