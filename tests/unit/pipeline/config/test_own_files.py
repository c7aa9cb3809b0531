"""Datasets from own files: sizes are filled in, and what a file cannot give is one line before any job."""

import json

import numpy as np
import pytest

from lssc.errors import ConfigError
from lssc.pipeline.study.load import load
from lssc.pipeline.study.recipes import data_recipe, fragment


@pytest.fixture
def config(small_config, tmp_path):
    """The small config with an experiment on 20 points of 4 classes; `n` and K are open."""
    np.savez(tmp_path / "own.npz", X=np.arange(60.0).reshape(20, 3), y=np.arange(20) % 4)
    generator = {"name": "file", "path": str(tmp_path / "own.npz"), "labels": "y"}
    small_config["datasets"]["own"] = {"generator": generator, "unit_norm": True}
    own = {"dataset": "own", "m": [5], "trials": 2, "methods": ["fsc"]}
    own["figures"] = {"fig": {"x": "m", "y": "accuracy"}}
    small_config["experiments"]["own"], small_config["run"] = own, ["own"]
    return small_config


def problem(config):
    with pytest.raises(ConfigError) as caught:
        load(config)
    [line] = str(caught.value).splitlines()
    return line.removeprefix("config: ")


def generator(config):
    return config["datasets"]["own"]["generator"]


@pytest.mark.parametrize("n", [None, "all"])
def test_all_rows_and_all_classes_are_the_default(config, n):
    config["experiments"]["own"] |= {"n": n} if n else {}
    study = load(config)
    assert study.experiments["own"].ns == (20,)
    assert study.datasets["own"].n_clusters == 4
    assert study.config["experiments"]["own"]["n"] == [20]


def test_n_need_be_no_multiple_of_the_clusters(config):
    config["experiments"]["own"]["n"] = [19]
    assert load(config).experiments["own"].ns == (19,)


def test_filled_in_config_needs_the_file_no_more(config, tmp_path):
    filled = json.loads(fragment(load(config), "own"))
    (tmp_path / "own.npz").unlink()
    assert load(filled).datasets["own"].n_clusters == 4
    assert "cannot be read: No such file" in problem(config)


def test_recipe_follows_the_content(config, tmp_path):
    before = data_recipe(load(config), "own", 20, "t00-01")
    (tmp_path / "own.npz").touch()
    assert data_recipe(load(config), "own", 20, "t00-01") == before
    np.savez(tmp_path / "own.npz", X=np.ones((20, 3)), y=np.arange(20) % 4)
    assert data_recipe(load(config), "own", 20, "t00-01") != before


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda c: generator(c).update(key="Z"), "datasets.own.generator: {path}: has no array 'Z'; known: X, y"),
        (lambda c: generator(c).update(labels="z"), "datasets.own.generator: {path}: has no array 'z'; known: X, y"),
        (lambda c: generator(c).update(dim=4), "datasets.own.generator.dim: 4 must be at most 3"),
        (lambda c: generator(c).update(labels="none"), "datasets.own.n_clusters: missing; the file has no labels"),
        (
            lambda c: c["experiments"]["own"].update(n=[21]),
            "experiments.own.n: 21 points requested from the 20 rows of {path}",
        ),
        (
            lambda c: c["experiments"]["own"].update(dataset="plain"),
            "experiments.own.n: missing; only a dataset from a file, of a table or of all images may leave it out",
        ),
        (lambda c: c["datasets"]["plain"].pop("n_clusters"), "datasets.plain.n_clusters: missing"),
        (
            lambda c: (generator(c).update(labels="none"), c["datasets"]["own"].update(n_clusters=4)),
            "experiments.own.figures.fig.y: accuracy needs labels, which the points do not have; use agreement",
        ),
        (
            lambda c: c["experiments"]["own"]["figures"]["fig"].update(y="agreement"),
            "experiments.own.figures.fig.y: agreement is for points without labels; use accuracy",
        ),
        (
            lambda c: (
                generator(c).update(labels="none"),
                c["datasets"]["own"].update(n_clusters=4),
                c["experiments"]["own"].pop("methods"),
                c["experiments"]["own"].pop("figures"),
                c["experiments"]["own"].update(sweep={"fsc": {"lam": [5, 10]}}),
            ),
            "experiments.own.sweep: chooses by accuracy, but dataset 'own' has no labels",
        ),
    ],
)
def test_mistake_about_a_file_is_one_line(config, tmp_path, change, line):
    change(config)
    assert problem(config).startswith(line.format(path=tmp_path / "own.npz"))
