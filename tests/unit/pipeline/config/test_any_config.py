"""Configs that nobody would write: each is refused in plain words, or all that Snakemake asks of it can be had."""

import copy
import itertools
import json
import os
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.conftest import REPO, laid_over

from lssc.data.images import FILES
from lssc.parts.registry import names
from lssc.pipeline.snakemake.resources import COSTS, ask, expected_seconds
from lssc.pipeline.study.paths import WILDCARDS
from lssc.pipeline.study.recipes import PICTURED, ConfigError, load

# The rules of a run, and what they make.
STAGES = {
    "generate_data": "data",
    "select_landmarks": "landmarks",
    "code_points": "codes",
    "embed_points": "embedding",
    "cluster_points": "labels",
    "score_labels": "scores",
}
# More runs of one config say nothing new.
LOOKED_AT = 60


class Asked:
    """What the rules ask of a study, and where the files lie that they would make."""

    def __init__(self, study):
        self.study, self.paths, self.texts = study, [study.paths.claims, study.paths.findings, study.paths.report], []
        self.rules = set()

    def everything(self):
        for id in self.study.experiments:
            self.drawn(id)
        for id in self.study.run:
            self.experiment(id)
            for run in itertools.islice(self.study.experiments[id].runs(), LOOKED_AT):
                self.run(run)
        self.resources("check_claims")
        self.resources("write_report")
        self.texts.append(self.study.report_config())
        self.paths += self.study.report_inputs()
        for folder in self.study.folders_of(self.study.experiments):
            assert str(folder) in (self.study.results, self.study.store)

    def resources(self, rule, **wildcards):
        """What a cluster is asked for: whole numbers that it can read."""
        self.rules.add(rule)
        for attempt in (1, 3):
            asked = ask(self.study, rule, wildcards, attempt)
            assert all(type(amount) is int and 0 < amount <= 2**30 for amount in asked.values()), asked
        assert 0 < expected_seconds(self.study, rule, wildcards) <= 366 * 24 * 3600

    def drawn(self, id):
        """Rules that draw are there for every experiment, run or not."""
        self.paths += self.study.figures_of(id) + self.study.pictures_of(id)
        self.texts.append(self.study.figures_recipe(id))
        self.resources("plot_figures", experiment=id)
        if id in self.study.with_pictures:
            images = self.study.collections_of(id)[0]
            self.paths += [self.study.paths.images(name).format(images=images) for name in FILES]
            self.paths += [shown[name] for shown in self.study.pictured(id) for name in PICTURED]
            self.texts.append(self.study.pictures_recipe(id))
            self.resources("draw_pictures", experiment=id)

    def experiment(self, id):
        fragment = self.study.fragment(id)
        again = load(json.loads(fragment))
        assert next(again.experiments[id].runs()).wildcards == next(self.study.experiments[id].runs()).wildcards
        compared = self.study.compared(id)
        self.paths += [file for pair in compared for file in pair["one"] + pair["two"]]
        self.paths += [self.study.paths.source.format(images=images) for images in self.study.collections_of(id)]
        for rule in ("gather_scores", "compare_embeddings", "choose_parameters"):
            self.resources(rule, experiment=id)
        self.texts += [fragment, json.dumps(compared), self.study.held_values(id), self.study.dataset_labels(id)]

    def run(self, run):
        given = run.wildcards
        assert all(re.fullmatch(WILDCARDS[key], value) for key, value in given.items())
        for rule, stage in STAGES.items():
            pattern = getattr(self.study.paths, stage)
            self.paths.append(pattern.format(**given))
            self.resources(rule, **{key: value for key, value in given.items() if f"{{{key}}}" in pattern})
        for part in run.method.parts:
            # A path tells all parameters.
            assert self.study.parts[part.kind, part.slug].as_dict() == part.as_dict()
            self.texts.append(self.study.part_recipe(part.kind, part.slug, run.n, given["block"]))
        self.texts += [self.study.score_recipe(run.n, given["block"])]
        self.texts += [self.study.data_recipe(run.dataset, run.n, given["block"])]
        self.features(self.study.datasets[run.dataset])

    def features(self, dataset):
        self.paths += self.study.features_of(dataset.id)
        if dataset.collection:
            shards = self.study.shards_of(dataset.collection)
            assert shards
            self.paths += shards
            self.texts += [self.study.shard_recipe(dataset.collection, Path(shards[-1]).stem)]
            self.texts += [self.study.images_recipe(dataset.collection)]
            self.resources("fetch_images", images=dataset.collection)
            self.resources("featurise_images", images=dataset.collection)
        if dataset.reduction:
            assert re.fullmatch(WILDCARDS["reduction"], dataset.reduction_slug)
            self.texts.append(self.study.reduction(dataset.collection, dataset.reduction_slug))
            self.resources("reduce_features", images=dataset.collection, reduction=dataset.reduction_slug)


def check(config):
    """Refused with lines that name what is wrong, or usable in every way."""
    try:
        study = load(config)
    except ConfigError as error:
        lines = str(error).splitlines()
        assert lines
        assert all(re.match(r"config: \S.*: .", line) or line.startswith("config: and ") for line in lines), lines
        assert all(line.isprintable() for line in lines)
        return False
    asked = Asked(study)
    asked.everything()
    inside = tuple(f"{os.path.abspath(folder)}/" for folder in (study.results, study.store))
    for path in asked.paths:
        assert os.path.abspath(path).startswith(inside), path
        assert re.fullmatch(r"[A-Za-z0-9_./=,+-]+", path), path
        assert max(map(len, path.split("/"))) < 250
    # One argument of a command.
    assert all(json.loads(text) is not None and len(text) < 131_072 for text in asked.texts)
    return True


def nodes(config, at=()):
    """Every place in a config, lists included."""
    yield at
    items = config.items() if isinstance(config, dict) else enumerate(config) if isinstance(config, list) else ()
    for key, value in items:
        yield from nodes(value, (*at, key))


HOSTILE = (
    "../x", "/etc/passwd", "..", ".", "", " ", "a/b", "-rf", "--out", "~", "*", "x" * 300, "$(touch pwned)", "`id`",
    "'", '"', "{wildcards}", "{n}", "{", "%s", "$\\frac$", "<script>", "a\nb", "\0", "\ud800", "\x1b[31m", "\u202e",
    "\u2028", "é", "nan", "null", "1e3", "t\n", "<<", "__class__", "name", "stages", "experiments", "all",
)  # fmt: skip
KNOWN = ["lam", "k", "t", "alpha", "dataset", "trials", "params", "methods", "sweep", "figures", "pictures", "compare"]
PARTS = [name for kind in ("selector", "coder", "embedder", "clusterer", "dataset", "source") for name in names(kind)]
TEXTS = st.sampled_from(HOSTILE) | st.sampled_from([*KNOWN, *PARTS]) | st.text(max_size=6)
NUMBERS = (
    st.integers(-3, 100)
    | st.floats()
    | st.sampled_from([2**31, 2**63 - 1, 2**63, 10**30, 10**400, -(2**70), 1e308, 5e-324, -0.0, 1e-7, 1e22])
)
ODD = st.sampled_from([b"x", (1, 2), {1}, object, 1j, range(3), yaml.safe_load("2019-01-01")])
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
KEYS = TEXTS | st.integers(0, 3) | st.none() | st.booleans()
VALUES = st.recursive(
    SCALARS | ODD, lambda v: st.lists(v, max_size=3) | st.dictionaries(KEYS, v, max_size=3), max_leaves=6
)


def mutated(config, data):
    """The config with a place in it replaced, removed, renamed, taken from elsewhere or added to."""
    config = copy.deepcopy(config)
    place = data.draw(st.sampled_from(list(nodes(config))), label="place")
    which = data.draw(st.sampled_from(["any", "elsewhere", "alike", "alike"]), label="which")
    new = data.draw(
        {"any": VALUES, "elsewhere": elsewhere(config), "alike": alike(config, place)}[which], label="value"
    )
    if not place:
        return new if data.draw(st.booleans()) else config
    owner, key = at(config, place[:-1]), place[-1]
    match data.draw(st.sampled_from(["replace", "remove", "add", "rename"]), label="how"):
        case "replace":
            owner[key] = new
        case "remove":
            del owner[key]
        case "add" if isinstance(owner, list):
            owner.insert(key, new)
        case "add":
            owner[data.draw(KEYS, label="key")] = new
        case "rename" if isinstance(owner, dict):
            owner[data.draw(KEYS, label="key")] = owner.pop(key)
    return config


def at(config, place):
    for step in place:
        config = config[step]
    return config


def elsewhere(config):
    """What stands at another place."""
    return st.sampled_from(list(nodes(config))).map(lambda place: copy.deepcopy(at(config, place)))


def alike(config, place):
    """What might stand at this place: what stands under such a key elsewhere, or is of its type."""
    old = at(config, place)
    peers = [copy.deepcopy(at(config, peer)) for peer in nodes(config) if peer and place and peer[-1] == place[-1]]
    typed = {bool: st.booleans(), int: st.integers(1, 10**7), float: st.floats(0, 1e9, exclude_min=True), str: TEXTS}
    return st.sampled_from([old, *peers]) | typed.get(type(old), st.just(old))


def fuzz(config, data):
    for _ in range(data.draw(st.sampled_from([1, 1, 1, 2, 3]), label="changes")):
        config = mutated(config, data)
        if not isinstance(config, dict | list):
            break
    return check(config)


BASE = yaml.safe_load((REPO / "config/config.yaml").read_text())
CONFIGS = {
    name: laid_over(BASE, yaml.safe_load((REPO / f"config/{name}.yaml").read_text()))
    for name in ("config", "demo", "digits", "scale")
}


@pytest.mark.parametrize("name", CONFIGS)
def test_all_that_snakemake_asks_of_the_configs_of_this_project_can_be_had(name):
    assert check(CONFIGS[name])


@settings(max_examples=60, phases=[Phase.explicit, Phase.generate])
@given(st.sampled_from(list(CONFIGS)), st.data())
def test_any_change_of_the_configs_of_this_project_is_usable_or_refused(name, data):
    fuzz(CONFIGS[name], data)


@pytest.fixture
def whole_config(image_config):
    """A small config with everything that there is."""
    image_config["run"] = ["grid", "seen", "line", "sweeping"]
    image_config["experiments"]["seen"]["pictures"] = {"m": 6, "methods": ["fsc"]}
    image_config["experiments"]["line"]["compare"] = ["fsc", "esc"]
    assert check(image_config)
    return image_config


def test_all_rules_of_a_small_config_ask_for_something(whole_config):
    asked = Asked(load(whole_config))
    asked.everything()
    assert asked.rules == {rule for rule, _ in COSTS}


@pytest.mark.parametrize("number", [5e-324, 1e-300, 1e100, 1e200, 1e300, 1.7e308])
@pytest.mark.parametrize("whole", [1, 10**5, 2**62])
def test_a_job_asks_for_amounts_that_exist_whatever_the_parameters(whole_config, number, whole):
    whole_config["datasets"]["plain"] |= {"generator": {"name": "synthetic", "noise": number}, "unit_norm": False}
    steps = {"max_iter": whole, "tol": number}
    coders = {
        "lasso": ("uniform", {"lam": number}),
        "lasso_spams": ({"name": "farthest_first", "lam": number}, {"lam": number}),
        "omp": ({"name": "kmedoids", "max_points": whole, "max_iter": whole}, {"k": 2, "tol": number}),
        "admm": ("all", {"alpha": number, **steps}),
        "admm_modified": ("all", {"alpha": number, **steps}),
    }
    whole_config["methods"] |= {
        id: {
            "label": id,
            "selector": selector,
            "coder": {"name": id, **params},
            "embedder": {"name": "landmark_svd", "gram_up_to": whole},
            "clusterer": {"name": "kmeans", "max_iter": whole},
        }
        for id, (selector, params) in coders.items()
    }
    whole_config["experiments"]["grid"] = {
        "dataset": "plain", "n": [10**9 - 1], "m": [6], "trials": 10**5, "block": 10**5, "methods": list(coders),
    }  # fmt: skip
    assert check(whole_config)


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


def named(config, kind, id):
    """The config with an id in place of another, wherever that one stands."""
    *way, old = IDS[kind]
    if kind == "stream":
        at(config, way)[old] = id
        return config

    def renamed(value):
        if isinstance(value, dict):
            return {renamed(key): inner if key == "package" else renamed(inner) for key, inner in value.items()}
        return [renamed(inner) for inner in value] if isinstance(value, list) else id if value == old else value

    return renamed(config)


@pytest.mark.parametrize("kind", IDS)
def test_an_id_may_be_any_word(whole_config, kind):
    assert check(named(whole_config, kind, "other_one"))


@pytest.mark.parametrize("id", BAD_IDS)
@pytest.mark.parametrize("kind", IDS)
def test_no_id_leads_out_of_the_folders(whole_config, kind, id):
    assert not check(named(whole_config, kind, id))


@settings(max_examples=300, phases=[Phase.explicit, Phase.generate])
@given(st.data())
def test_any_change_of_a_small_config_is_usable_or_refused(whole_config, data):
    fuzz(whole_config, data)


@settings(max_examples=30)
@given(VALUES)
def test_whatever_is_no_config_is_refused(value):
    assert not check(value)
