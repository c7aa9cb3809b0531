"""Docstrings: their examples run, and those of estimators list every parameter and attribute."""

import doctest
import importlib
import inspect
import re

import numpy as np
import pytest
from numpydoc.docscrape import ClassDoc
from tests.conftest import REPO

import lssc

PACKAGE = REPO / "workflow"
MODULES = [
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for path in sorted(PACKAGE.glob("lssc/**/*.py"))
    if re.search(r"^ *>>> ", path.read_text(), re.MULTILINE)
]
ESTIMATORS = [name for name in lssc._PUBLIC if inspect.isclass(getattr(lssc, name))]


def test_every_estimator_has_an_example():
    assert all(">>> " in getattr(lssc, name).__doc__ for name in ESTIMATORS)


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", ESTIMATORS)
def test_lists_every_parameter_with_its_default(name):
    listed = {parameter.name: parameter.type for parameter in ClassDoc(getattr(lssc, name))["Parameters"]}
    defaults = {key: value.default for key, value in inspect.signature(getattr(lssc, name)).parameters.items()}
    assert listed.keys() == defaults.keys()
    shown = {key: f'"{value}"' if isinstance(value, str) else str(value) for key, value in defaults.items()}
    assert {key: kind.partition("default=")[2] for key, kind in listed.items()} == shown


@pytest.mark.parametrize("name", ESTIMATORS)
def test_lists_every_attribute(name):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)) @ rng.normal(size=(2, 8)) for _ in range(3)])
    estimator = getattr(lssc, name)
    # With the attributes of an estimated number of clusters, where it can be estimated.
    estimates = "max_clusters" in inspect.signature(estimator).parameters
    clusters = {"n_clusters": None, "max_clusters": 4} if estimates else {"n_clusters": 3}
    model = estimator(**clusters, random_state=0).fit(X)
    listed = {attribute.name for attribute in ClassDoc(type(model))["Attributes"]}
    assert listed == {key for key in vars(model) if key.endswith("_") and not key.startswith("_")}
