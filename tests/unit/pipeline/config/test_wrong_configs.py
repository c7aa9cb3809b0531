"""Mistakes anywhere in a config: it is refused in plain words, or it can be run."""

import copy
import itertools
import json
import re

import pytest
import yaml
from tests.conftest import REPO, merge_configs

from lssc.errors import ConfigError
from lssc.pipeline.study.load import load
from lssc.pipeline.study.paths import WILDCARDS
from lssc.pipeline.study.recipes import fragment

BASE = yaml.safe_load((REPO / "config/config.yaml").read_text())
CONFIGS = {
    name: merge_configs(BASE, yaml.safe_load((REPO / f"config/{name}.yaml").read_text()))
    for name in ("config", "demo", "digits", "scale")
}
MISTAKES = (None, True, -1, 0.5, 10**30, float("nan"), "", "unifrom", "../x", "a\nb", [], ["x", 1], {1: 2})


@pytest.fixture
def whole_config(image_config):
    """A small config with everything that there is."""
    image_config["run"] = ["grid", "seen", "line", "sweeping"]
    image_config["experiments"]["seen"]["pictures"] = {"m": 6, "methods": ["fsc"]}
    image_config["experiments"]["line"]["compare"] = ["fsc", "esc"]
    load(image_config)
    return image_config


@pytest.mark.parametrize("name", CONFIGS)
def test_experiment_runs_alike_from_its_fragment(name):
    study = load(CONFIGS[name])
    for id in study.run:
        again = load(json.loads(fragment(study, id)))
        runs = [run.wildcards for run in study.experiments[id].runs()]
        assert [run.wildcards for run in again.experiments[id].runs()] == runs
        assert all(re.fullmatch(WILDCARDS[key], value) for key, value in runs[0].items())


def problems(config):
    try:
        load(config)
    except ConfigError as error:
        return str(error).splitlines()
    return []


def places(config, at=()):
    """Every place in a config, lists included, as the keys that lead there."""
    yield at
    items = config.items() if isinstance(config, dict) else enumerate(config) if isinstance(config, list) else ()
    for key, value in items:
        yield from places(value, (*at, key))


def owner(config, place):
    for step in place[:-1]:
        config = config[step]
    return config


def changed(config):
    """The config with each place in turn removed, and replaced by one mistake after the other."""
    mistakes = itertools.cycle(MISTAKES)
    for place in list(places(config))[1:]:
        for change in ("remove", "replace", "replace"):
            other = copy.deepcopy(config)
            if change == "remove":
                del owner(other, place)[place[-1]]
            else:
                owner(other, place)[place[-1]] = next(mistakes)
            yield other


def test_mistakes_anywhere_are_reported_in_plain_words(whole_config):
    for config in changed(whole_config):
        lines = problems(config)
        assert all(re.match(r"config: \S.*: .", line) or line.startswith("config: and ") for line in lines), lines
        assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("value", MISTAKES, ids=repr)
def test_refuses_what_is_no_config(value):
    assert problems(value)


# Where one id of each kind stands.
IDS = {
    "images": ("images", "tiny"),
    "datasets": ("datasets", "two"),
    "methods": ("methods", "fsc"),
    "experiments": ("experiments", "seen"),
    "figures": ("experiments", "line", "figures", "fig"),
    "stream": ("experiments", "seen", "stream"),
}
BAD_IDS = ("a/../../../../x", "..", ".", "a.b", "a/b", "/a", "A", "a b", "a\n", "", "a,b", "-a", "é", "a" * 101)


def renamed(config, kind, id):
    """The config with an id in place of another, wherever that one stands."""
    *_, old = place = IDS[kind]
    if kind == "stream":
        owner(config, place)[old] = id
        return config

    def rename(value):
        if isinstance(value, dict):
            return {rename(key): inner if key == "package" else rename(inner) for key, inner in value.items()}
        return [rename(inner) for inner in value] if isinstance(value, list) else id if value == old else value

    return rename(config)


@pytest.mark.parametrize("kind", IDS)
def test_ids_may_be_any_word_but_never_lead_out_of_the_folders(whole_config, kind):
    assert problems(renamed(whole_config, kind, "other_one")) == []
    for id in BAD_IDS:
        assert problems(renamed(whole_config, kind, id))
