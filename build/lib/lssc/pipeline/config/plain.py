"""Checks that a config is plain data: lines of text, numbers, true and false, in lists and mappings."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# Characters of a config as JSON: Snakemake hands it to jobs in one argument, and Linux takes 131,072 bytes in one.
MAX_JSON_CHARACTERS = 100_000
# Bound on whole numbers: NumPy holds 64 bits.
MAX_WHOLE_NUMBER = 2**63
# Unicode categories of control characters, lone surrogates and line breaks.
NOT_TEXT = ("Cc", "Cs", "Zl", "Zp")


def plain_problems(config: Any) -> list[str]:
    """One line for every value of a config that is not plain data."""
    values = ((where, _problem(value)) for where, value in _values(config))
    problems = [f"{place(where) or 'top level'}: {problem}" for where, problem in values if problem]
    if not problems and (size := len(as_json(config))) > MAX_JSON_CHARACTERS:
        problems.append(
            f"top level: takes {size:,} characters as JSON; at most {MAX_JSON_CHARACTERS:,} can be handed to a job"
        )
    return problems


def as_json(value: Any, *, sort_keys: bool = False) -> str:
    """As jobs get it. Snakemake's report copies it into a script of a page, where < could end that script."""
    return json.dumps(value, sort_keys=sort_keys).replace("<", r"\u003c")


def place(where: Iterable[Any]) -> str:
    """Keys joined by dots; unusual ones in quotes."""
    return ".".join(key if isinstance(key, str) and re.fullmatch(r"[\w-]+", key) else brief(key) for key in where)


def brief(value: Any) -> str:
    """A value as JSON for a message, cut at 60 characters."""
    text = json.dumps(value, default=lambda other: f"{type(other).__name__} {other}", skipkeys=True)
    return text if len(text) <= 60 else text[:57] + "..."


def _values(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value with its place, from the outside in."""
    yield where, value
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, inner in items:
        yield from _values(inner, (*where, key))


def _problem(value: Any) -> str | None:
    if isinstance(value, Mapping):
        others = [brief(key) for key in value if not isinstance(key, str)]
        return f"the key {others[0]} must be text; put it in quotes" if others else _line_problem(*value)
    if isinstance(value, str):
        return _line_problem(value)
    if isinstance(value, int) and not -MAX_WHOLE_NUMBER < value < MAX_WHOLE_NUMBER:
        return "a whole number of more than 18 digits is too large"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value!r} must be a finite number"
    if value is None or isinstance(value, list | tuple | int | float):
        return None
    return f"{brief(value)} must be text, a number, true, false, a list or a mapping; put it in quotes to make it text"


def _line_problem(*texts: str) -> str | None:
    bad = next((text for text in texts if any(unicodedata.category(c) in NOT_TEXT for c in text)), None)
    return None if bad is None else f"{brief(bad)} must be one line of text"
