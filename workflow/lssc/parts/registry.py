"""Parts of methods, found by name: `lasso` is the decorated function in `lssc/coders/lasso.py`.

A new part is one new file with one decorated function; nothing else has to know of it. A part's keyword-only arguments
are its parameters in config; their annotations say what is allowed. `rng`, `n_clusters`, `features` (of images) and
`threads` are given by the pipeline.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, get_type_hints

from lssc.parts.params import value_problem

FOLDERS = {
    "source": "data.sources",
    "features": "data.features",
    "dataset": "data.datasets",
    "selector": "parts.selectors",
    "coder": "parts.coders",
    "embedder": "parts.embedders",
    "clusterer": "parts.clusterers",
}
GIVEN = ("rng", "n_clusters", "features", "threads")
_registered: dict[tuple[str, str], Component] = {}


@dataclass(frozen=True)
class Component:
    """A registered function.

    `warm_up` pays for imports and compiling before the clock starts; `needs_all` parts work only where every point is a
    landmark; `by_rows` parts take any `lssc.types.Rows` for X, so that large ones can stay in their file; `width` tells
    from the parameters of a feature transform how many features an image gets.
    """

    kind: str
    name: str
    function: Callable[..., Any]
    warm_up: Callable[[], None]
    needs_all: bool = False
    by_rows: bool = False
    width: Callable[..., int] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        wanted = inspect.signature(self.function).parameters
        return self.function(*args, **{k: v for k, v in kwargs.items() if k not in GIVEN or k in wanted})

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Its parameters with their defaults; `inspect.Parameter.empty` for those that config must give."""
        arguments = inspect.signature(self.function).parameters.values()
        return {a.name: a.default for a in arguments if a.kind is a.KEYWORD_ONLY and a.name not in GIVEN}

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The annotations of its arguments, with what they say beyond the type."""
        return get_type_hints(self.function, include_extras=True)


def component(
    kind: str,
    name: str,
    *,
    warm_up: Callable[[], None] = lambda: None,
    needs_all: bool = False,
    by_rows: bool = False,
    width: Callable[..., int] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as part `name` of this kind; the file must carry the same name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _registered[kind, name] = Component(kind, name, function, warm_up, needs_all, by_rows, width)
        return function

    return register


def module_of(kind: str, name: str) -> str:
    return f"lssc.{FOLDERS[kind]}.{name}"


@cache
def names(kind: str) -> tuple[str, ...]:
    """Every part of a kind, without importing any."""
    package = importlib.import_module(f"lssc.{FOLDERS[kind]}")
    return tuple(sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")))


def find(kind: str, name: str) -> Component:
    """The part of that name; LookupError says what it might have meant."""
    if name not in names(kind):
        raise LookupError(f"unknown {kind} {name!r}; {suggest(name, names(kind))}")
    importlib.import_module(module_of(kind, name))
    if (kind, name) not in _registered:
        raise LookupError(f"{module_of(kind, name)} registers no {kind} {name!r}; decorate its function with "
                          f"@component({kind!r}, {name!r})")  # fmt: skip
    return _registered[kind, name]


def param_problems(part: Component, params: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, str]:
    """Parameter -> what is wrong with it; empty if the part can run with these parameters at these sizes."""
    whole = {**part.defaults, **params}
    problems = {}
    for key, value in whole.items():
        if key not in part.defaults:
            problems[key] = f"unknown parameter of {part.kind} {part.name!r}; {suggest(key, part.defaults)}"
        elif value is inspect.Parameter.empty:
            problems[key] = f"missing; {part.kind} {part.name!r} needs it"
        elif problem := value_problem(part.hints[key], value, sizes):
            problems[key] = f"{value!r} {problem}"
    # Only now do parameters bound each other: a value that is wrong in itself is no bound.
    sound = {key: value for key, value in whole.items() if key not in problems}
    for key, value in sound.items():
        if problem := value_problem(part.hints[key], value, {**sound, **sizes}):
            problems[key] = f"{value!r} {problem}"
    return problems


def suggest(word: str, known: Iterable[str]) -> str:
    """The second half of an error about an unknown name."""
    known = sorted(known)
    close = difflib.get_close_matches(str(word), known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(known)}" if known else "none is known here"
