"""Config as plain data: text of one line, numbers, true and false, in lists and mappings, and not too much of it."""

from __future__ import annotations

import contextlib
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# Far more than any config of use. The last one because configs are handed to jobs on the command line, and Linux takes
# 131,072 bytes in one argument.
DEEPEST, MOST, LONGEST = 20, 20_000, 100_000
# Numbers that every part of the pipeline can hold.
LARGEST = 2**63
# Control characters, halves of characters, and what else breaks a line.
NOT_TEXT = ("Cc", "Cs", "Zl", "Zp")


def plain_problems(config: Any) -> list[str]:
    """One line for everything in a config, or in what claims to be one, that is no plain data."""
    problems = []
    for count, (where, value) in enumerate(_values(config)):
        if count > MOST:
            return [f"top level: more than {MOST:,} values; an anchor may have been used too often"]
        if len(where) > DEEPEST:
            return [f"{place(where[:3])}: nested more than {DEEPEST} levels deep"]
        if problem := _problem(value):
            problems.append(f"{place(where) or 'top level'}: {problem}")
    if not problems and (size := len(as_json(config))) > LONGEST:
        problems.append(f"top level: takes {size:,} characters as JSON; at most {LONGEST:,} can be handed to a job")
    return problems


def as_json(value: Any, *, sort_keys: bool = False) -> str:
    """As jobs are told it. Snakemake's own report puts that into a script of a page as it is, where < could end it."""
    return json.dumps(value, sort_keys=sort_keys).replace("<", r"\u003c")


def place(where: Iterable[Any]) -> str:
    """Keys with dots between them; what looks like no key is put in quotes."""
    return ".".join(key if isinstance(key, str) and re.fullmatch(r"[\w-]+", key) else brief(key) for key in where)


def _values(value: Any, where: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value with its place, from the outside in; one that holds itself never ends."""
    yield where, value
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, inner in items:
        yield from _values(inner, (*where, key))


def _problem(value: Any) -> str | None:
    if isinstance(value, Mapping):
        others = [brief(key) for key in value if not isinstance(key, str)]
        return f"the key {others[0]} must be text; put it in quotes" if others else _line(*value)
    if isinstance(value, str):
        return _line(value)
    if isinstance(value, int) and not -LARGEST < value < LARGEST:
        return "a whole number of more than 18 digits is too large"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value!r} must be a finite number"
    if value is None or isinstance(value, list | tuple | int | float):
        return None
    return f"{brief(value)} must be text, a number, true, false, a list or a mapping; put it in quotes to make it text"


def _line(*texts: str) -> str | None:
    bad = next((text for text in texts if any(unicodedata.category(c) in NOT_TEXT for c in text)), None)
    return None if bad is None else f"{brief(bad)} must be one line of text"


def brief(value: Any) -> str:
    """A value as JSON, or as what else it looks like, cut short: of a large one no more than the beginning is made."""
    text = ""
    with contextlib.suppress(ValueError):  # a number of thousands of digits is not even written out
        for piece in json.JSONEncoder(default=_shown, skipkeys=True).iterencode(value):
            text += piece
            if len(text) > 60:
                return text[:57] + "..."
    return text or f"a very large {type(value).__name__}"


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {value!s:.50}"
