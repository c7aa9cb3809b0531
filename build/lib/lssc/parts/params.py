"""Bounds on parameters, written into signatures: `lam: Annotated[float, Above(0)]`."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NewType, get_args, get_origin

# Free text: it never becomes part of a path.
Text = NewType("Text", str)
LARGEST_FLOAT = sys.float_info.max


@dataclass(frozen=True)
class Above:
    low: float

    def problem(self, value: float, sizes: Mapping[str, int]) -> str | None:
        return None if value > self.low else f"must be greater than {self.low:g}"


@dataclass(frozen=True)
class AtLeast:
    low: float

    def problem(self, value: float, sizes: Mapping[str, int]) -> str | None:
        return None if value >= self.low else f"must be at least {self.low:g}"


@dataclass(frozen=True)
class Below:
    """Below a size of the run, such as "n", which only an experiment gives."""

    size: str

    def problem(self, value: float, sizes: Mapping[str, int]) -> str | None:
        limit = sizes.get(self.size)
        return None if limit is None or value < limit else f"must be below {self.size}={limit}"


@dataclass(frozen=True)
class AtMost:
    """At most a number, a size of the run or another parameter of the same part."""

    size: str | int

    def problem(self, value: float, sizes: Mapping[str, int]) -> str | None:
        if isinstance(self.size, int):
            return None if value <= self.size else f"must be at most {self.size:,}"
        limit = sizes.get(self.size)
        return None if limit is None or value <= limit else f"must be at most {self.size}={limit}"


@dataclass(frozen=True)
class Halvings:
    """At most as often as another parameter of the same part can be halved."""

    size: str

    def problem(self, value: int, sizes: Mapping[str, int]) -> str | None:
        limit = sizes.get(self.size)
        if limit is None or 2**value <= limit:
            return None
        return f"must be at most {limit.bit_length() - 1}: 2**{value} is more than {self.size}={limit}"


@dataclass(frozen=True)
class Like:
    """Text that matches a pattern; `what` describes it."""

    pattern: str
    what: str

    def problem(self, value: str, sizes: Mapping[str, int]) -> str | None:
        return None if re.fullmatch(self.pattern, value) else f"must be {self.what}"


def value_problem(hint: Any, value: Any, sizes: Mapping[str, int]) -> str | None:
    """What is wrong with a value for a parameter of this type, or None."""
    if get_origin(hint) is Annotated:
        base, *limits = get_args(hint)
        found = value_problem(base, value, sizes)
        problems = [found] if found else [limit.problem(value, sizes) for limit in limits]
        return next((p for p in problems if p), None)
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        return None if value in choices else f"must be one of {', '.join(map(repr, choices))}"
    if get_origin(hint) is tuple:
        return _list_problem(get_args(hint)[0], value, sizes)
    if _is_a(hint, value):
        return None
    return f"must be {_PLAIN[hint]}{text_hint(hint, value)}"


# str becomes part of a path, so few characters are allowed.
_PLAIN = {
    bool: "true or false",
    int: "a whole number",
    float: "a finite number",
    str: "lower-case letters, digits and _",
    Text: "text",
}


def hint_problem(hint: Any) -> str | None:
    """Why a parameter cannot have this type; None if it can."""
    if get_origin(hint) is Annotated:
        return hint_problem(get_args(hint)[0])
    if get_origin(hint) is tuple:
        return hint_problem(get_args(hint)[0])
    if get_origin(hint) is Literal or hint in _PLAIN:
        return None
    return f"is annotated {hint!r}; use {', '.join(t.__name__ for t in _PLAIN)}, a tuple of these or a Literal"


def _list_problem(hint: Any, value: Any, sizes: Mapping[str, int]) -> str | None:
    if not isinstance(value, list | tuple):
        return "must be a list"
    if len(set(map(repr, value))) < len(value):
        return "must not repeat a value"
    found = ((item, value_problem(hint, item, sizes)) for item in value)
    return next((f"has {item!r}, which {problem}" for item, problem in found if problem), None)


def _is_a(kind: type, value: Any) -> bool:
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_FLOAT
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind is Text:
        return isinstance(value, str) and value.isprintable() and value.strip() != ""
    if kind is str:
        return isinstance(value, str) and re.fullmatch("[a-z0-9_]+", value) is not None
    return isinstance(value, kind)


# Text that looks like a number, true or false.
_LIKE = {int: r"[+-]?\d+", float: r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?", bool: "true|false"}


def text_hint(kind: Any, value: Any) -> str:
    """Advice for text where a number, true or false was meant."""
    if not isinstance(value, str):
        return ""
    # YAML reads 1e-6, without a point, as text.
    if re.fullmatch(r"[+-]?\d+e[+-]?\d+", value):
        return ", not text: write 1.0e-6 for 1e-6"
    # Snakemake reads everything nested in a value of --config as text.
    if kind in _LIKE and re.fullmatch(_LIKE[kind], value, re.IGNORECASE):
        return ", not text: write nested values without quotes, in a file for --configfile"
    return ""
