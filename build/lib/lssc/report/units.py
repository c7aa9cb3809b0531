"""Units of findings, and how numbers in each unit are written."""

from __future__ import annotations

ACCURACY_DIFFERENCE = "difference of accuracy"
TIME_RATIO = "ratio of CPU seconds"


def format_number(value: float, unit: str) -> str:
    """A number with the digits that its unit calls for, and a true minus sign."""
    if unit == ACCURACY_DIFFERENCE:
        text = f"{value:+.3f}"
    elif unit == "accuracy":
        text = f"{value:.3f}"
    elif unit in ("exponent of n", "CPU seconds"):
        text = f"{value:.2f}"
    else:
        text = f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
    return text.replace("-", "−")
