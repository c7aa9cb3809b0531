"""Parts of methods, found by name: `lasso` is the decorated function in `parts/coders/lasso.py`.

A new part is one file with one decorated function; no list names it. The function's keyword-only arguments are the
part's parameters in config, and their annotations say which values are allowed. The pipeline and the estimators supply
`rng`, `n_clusters`, `features` (of images), `threads`, to embedders the `landmark_indices` if landmarks are rows of X,
and to refiners the spectral `coordinates`. Every call checks its arguments first (`parts/inputs.py`).
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import inspect
import pkgutil
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, get_type_hints

from lssc import parts
from lssc.errors import MissingPackage
from lssc.parts.params import hint_problem, plain_value, value_problem

# Kind of part -> its package. Every folder of `lssc/parts` is a kind: `coders` holds coders.
FOLDERS = {
    "source": "data.sources",
    "reader": "data.readers",
    "features": "data.features",
    "dataset": "data.datasets",
} | {
    folder.name.removesuffix("s"): f"parts.{folder.name}"
    for folder in pkgutil.iter_modules(parts.__path__)
    if folder.ispkg
}
# Arguments that the caller supplies; they are no parameters in config.
SUPPLIED = ("rng", "n_clusters", "features", "threads", "coordinates", "landmark_indices")
_registered: dict[tuple[str, str], Component] = {}


@dataclass(frozen=True)
class Component:
    """A registered function.

    `warm_up` imports and compiles before the clock starts. `needs_all` parts work only where every point is a landmark.
    `by_rows` parts accept any `lssc.types.Rows` as X, so that large arrays can stay in their file. `per_point` coders
    code each point from this point and the landmarks alone. `width` returns how many features an image gets, from the
    parameters of a feature transform.
    """

    kind: str
    name: str
    function: Callable[..., Any]
    warm_up: Callable[[], None]
    needs_all: bool = False
    by_rows: bool = False
    width: Callable[..., int] | None = None
    per_point: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; supplied arguments that it does not have are left out."""
        own = self.signature.parameters
        return self.function(*args, **{k: v for k, v in kwargs.items() if k not in SUPPLIED or k in own})

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @cached_property
    def positional(self) -> tuple[str, ...]:
        """The arguments before its keyword-only ones."""
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return tuple(a.name for a in self.signature.parameters.values() if a.kind in kinds)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Its parameters with their defaults; `inspect.Parameter.empty` for those that config must give."""
        arguments = self.signature.parameters.values()
        return {a.name: a.default for a in arguments if a.kind is a.KEYWORD_ONLY and a.name not in SUPPLIED}

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The annotations of its arguments, with their bounds."""
        return get_type_hints(self.function, include_extras=True)


def component(
    kind: str,
    name: str,
    *,
    warm_up: Callable[[], None] = lambda: None,
    needs_all: bool = False,
    by_rows: bool = False,
    width: Callable[..., int] | None = None,
    per_point: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as part `name` of this kind; the file must have the same name.

    The function is replaced by one that first checks its arguments: InputError if they cannot be used.
    """
    if kind not in FOLDERS:
        raise ValueError(f"unknown kind of part {kind!r}; {suggest(kind, FOLDERS)}")

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            call = checked_arguments(part, args, kwargs)
            with naming_extras(kind, name):
                return function(*call.args, **call.kwargs)

        ready = naming_extras(kind, name)(warm_up)
        part = Component(kind, name, checked, ready, needs_all, by_rows, width, per_point)
        _registered[kind, name] = part
        return checked

    return register


@contextlib.contextmanager
def naming_extras(kind: str, name: str) -> Iterator[None]:
    """Report a missing package of an extra in one line, which says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if isinstance(error, MissingPackage) or package in ("", "lssc"):
            raise
        extra = "images" if kind == "features" else "peers"
        hint = f"{kind} {name!r} needs the package {package!r}; install it with: pip install 'lssc[{extra}]'"
        raise MissingPackage(hint, name=package) from None


def checked_arguments(part: Component, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
    """All arguments of a call, converted; InputError if the part cannot work with them."""
    # Imported on use: config is checked without NumPy.
    from lssc.parts.inputs import check_arguments

    try:
        bound = part.signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{part.kind} {part.name!r}: {error}") from None
    bound.apply_defaults()
    call = check_arguments(part, bound.arguments)
    params = {key: plain_value(part.hints[key], bound.arguments[key]) for key in part.defaults if key in part.hints}
    for key, problem in param_problems(part, params, {"n": call.n, "m": call.m}).items():
        raise call.error(f"{key}={problem}")
    bound.arguments.update(params)
    return bound


def module_of(kind: str, name: str) -> str:
    return f"lssc.{FOLDERS[kind]}.{name}"


@cache
def names(kind: str) -> tuple[str, ...]:
    """Every part of a kind, without importing any."""
    package = importlib.import_module(f"lssc.{FOLDERS[kind]}")
    return tuple(sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")))


def find(kind: str, name: str) -> Component:
    """The part of that name; LookupError says in one line why there is none."""
    if name not in names(kind):
        raise LookupError(f"unknown {kind} {name!r}; {suggest(name, names(kind))}")
    if problem := import_problem(kind, name):
        raise LookupError(problem)
    return _registered[kind, name]


@cache
def import_problem(kind: str, name: str) -> str | None:
    """Why the file of a part cannot be used, in one line; None if it can."""
    module = module_of(kind, name)
    file = f"{module.replace('.', '/')}.py"
    try:
        importlib.import_module(module)
        if (kind, name) not in _registered:
            return f"{file} registers no {kind} {name!r}; decorate its function with @component({kind!r}, {name!r})"
        part = _registered[kind, name]
        untyped = [key for key in part.defaults if key not in part.hints]
        if untyped:
            return f"{file}: parameter {untyped[0]!r} has no type; annotate it, for example {untyped[0]}: float"
        problems = ((key, hint_problem(part.hints[key])) for key in part.defaults)
        return next((f"{file}: parameter {key!r} {problem}" for key, problem in problems if problem), None)
    except SyntaxError as error:
        return f"{file}, line {error.lineno}: {error.msg}"
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(file)]
        where = f"{file}, line {lines[-1]}" if lines else file
        return f"{where}: {type(error).__name__}: {str(error).partition(chr(10))[0]}"


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
    # Check bounds between parameters last: a value that is wrong in itself is no bound.
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
