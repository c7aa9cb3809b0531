"""Configs of image collections, and parameters that differ by experiment."""

import json
import re

import pytest
from tests.conftest import MISSING, changed, problems_of

from lssc.data.images import FILES
from lssc.pipeline.study import recipes
from lssc.pipeline.study.load import load
from lssc.pipeline.study.paths import WILDCARDS

IMAGES = FILES[0]
ERRORS = [
    # (key, value, start of the error line); {at} stands for the key
    ("datasets.two.generator.collection", "tinny", "{at}: unknown images 'tinny'; did you mean 'tiny'?"),
    ("datasets.two.generator.collection", 5, "{at}: 5 must be lower-case letters, digits and _"),
    ("datasets.two.generator.collection", MISSING, "{at}: missing; dataset 'images' needs it"),
    ("datasets.two.generator.classes", [0, 3], "{at}: 3 is no class; they are 0 to 2"),
    ("datasets.two.generator.classes", [0, -1], "{at}: -1 is no class; they are 0 to 2"),
    ("datasets.two.generator.classes", [0, 0], "{at}: [0, 0] must not repeat a value"),
    ("datasets.two.generator.classes", [0, "2"], "{at}: [0, '2'] has '2', which must be a whole number"),
    ("datasets.two.generator.classes", 2, "{at}: 2 must be a list"),
    ("datasets.two.generator.classes", [0], "datasets.two.n_clusters: 2 must be the number of classes, 1"),
    ("datasets.two.generator.classes", [], "datasets.two.n_clusters: 2 must be the number of classes, 3"),
    ("datasets.every.n_clusters", 4, "{at}: 4 must be the number of classes, 3"),
    ("datasets.two.generator.dim", 0, "{at}: 0 must be at least 1"),
    ("datasets.two.generator.pca_on", "none", "{at}: 'none' must be one of 'all', 'subset'"),
    ("images.tiny.sources", [{"name": "nmp", "package": "x"}], "{at}.0: unknown source 'nmp'; did you mean 'npm'?"),
    ("images.tiny.sources", ["npm"], "images.tiny.sources.0.package: missing; source 'npm' needs it"),
    ("images.tiny.sources", [{"name": "npm", "package": " "}], "images.tiny.sources.0.package: ' ' must be text"),
    ("images.tiny.sources", [{"name": "npm", "package": "git+https://x.y/z"}],
     "images.tiny.sources.0.package: 'git+https://x.y/z' must be a package's name, or name@version"),
    ("images.tiny.sources", [{"name": "npm", "package": "../x"}], "images.tiny.sources.0.package: '../x' must be"),
    ("images.tiny.sources", [{"name": "debian", "package": "-o x"}],
     "images.tiny.sources.0.package: '-o x' must be a package's name, or name=version"),
    ("images.tiny.sources", [{"name": "openml", "id": 0}], "images.tiny.sources.0.id: 0 must be at least 1"),
    ("images.tiny.features", "scatter", "{at}: unknown features 'scatter'; did you mean 'scattering'?"),
    ("images.tiny.features", {"name": "scattering", "scale": 3},
     "images.tiny.features.scale: unknown parameter of features 'scattering'; did you mean 'scales'?"),
    ("images.tiny.features", {"name": "scattering", "scales": 10**9},
     "images.tiny.features.scales: 1000000000 must be at most 10"),
    ("images.tiny.features", {"name": "scattering", "scales": 6},
     "images.tiny.features.scales: 6 must be at most 5: 2**6 is more than side=32"),
    ("images.tiny.features", {"name": "scattering", "side": 7},
     "images.tiny.features.scales: 3 must be at most 2: 2**3 is more than side=7"),
    # A path of zeroth order and one of first, at one place.
    ("images.tiny.features", {"name": "scattering", "scales": 1, "angles": 1, "side": 2},
     "datasets.two.generator.dim: 5 must be at most 2, the features of an image"),
    ("images.tiny.counts", [24, 12, 0],
     "datasets.two.generator.classes: class 2 has no image in images.tiny.counts; leave it out"),
    ("images.tiny.counts", [10**9, 1, 1], "images.tiny.shard: 10 makes 100,000,001 files; at most 1,000"),
    ("images.tiny.counts", [], "{at}: [] must not be empty"),
    ("images.tiny.names", ["a", "b"], "{at}: 2 must be as many as counts, 3"),
    ("images.tiny.shard", 0, "{at}: 0 must be at least 1"),
    ("images.tiny.first", 0, "{at}: 0 must be at least 1"),
    ("images.tiny.folder", "", '{at}: "" must not be empty'),
    (["images", "tiny", "sha256", IMAGES], MISSING, f"images.tiny.sha256.{IMAGES}: missing"),
    (["images", "tiny", "sha256", "labels"], "0" * 64, "images.tiny.sha256.labels: unknown key; known: t10k-"),
    ("experiments.seen.overrides.fsc.params", {"lamb": 5},
     "{at}.lamb: no part of the method has it; did you mean 'lam'?"),
    ("experiments.seen.overrides.fsc.params", {"lam": -5}, "{at}.lam: -5 must be greater than 0"),
    ("experiments.seen.overrides.fsc.params", {"lam": "5"}, "{at}.lam: '5' must be a finite number"),
    ("experiments.seen.overrides.fsc.params", {"lam": [5]}, "{at}.lam: [5] must be a number, text, true or false"),
    ("experiments.seen.overrides.fsc.params", {"dataset": "two"},
     "{at}.dataset: no part of the method has it; write experiments.seen.overrides.fsc.dataset"),
    ("experiments.seen.overrides.esc", {"params": {"t": 20}},
     "methods.esc.embedder.t: 20 must be below n=20 in experiments.seen"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "value", "line"), ERRORS, ids=[f"{e[0]}={e[1]}"[:70] for e in ERRORS])
def test_mistake_is_reported_in_one_line_with_key_value_and_remedy(image_config, where, value, line):
    [message] = problems_of(changed(image_config, where, value))
    assert message.startswith(f"config: {line.format(at=where)}")


@pytest.mark.parametrize("digest", ["", "0" * 63, "G" * 64, "A" * 64], ids=repr)
def test_bad_checksum_is_reported_with_its_file(image_config, digest):
    message = f"'{digest}' is not allowed; a SHA-256 has 64 digits 0-9 and a-f"
    lines = problems_of(changed(image_config, ["images", "tiny", "sha256", IMAGES], digest))
    assert lines == [f"config: images.tiny.sha256.{IMAGES}: {message}"]


@pytest.mark.parametrize(
    ("n", "message"),
    [
        (22, "22 points of 2 classes, the smallest of which has 10 images; need at most 20, or 24 for all"),
        (26, "26 points of 2 classes, the smallest of which has 10 images; need at most 20, or 24 for all"),
        (19, "19 must be a multiple of n_clusters=2"),
    ],
)
def test_more_images_than_the_classes_have_are_refused(image_config, n, message):
    lines = problems_of(changed(image_config, "experiments.seen.n", [n]))
    assert lines == [f"config: experiments.seen.n: {message}"]


def test_balanced_classes_or_all_images_are_accepted(image_config):
    load(changed(image_config, "experiments.seen.n", [20, 24]))
    config = changed(changed(image_config, "run", ["whole"]), "images.tiny.counts", [14, 12, 11])
    load(changed(config, "experiments.whole.n", [33, 37]))


def test_class_without_images_is_accepted_unless_a_run_uses_it(image_config):
    config = changed(image_config, "images.tiny.counts", [14, 0, 10])
    load(config)
    config = changed(changed(config, "run", ["whole"]), "experiments.whole.n", [24])
    message = "class 1 has no image in images.tiny.counts; leave it out"
    assert problems_of(config) == [f"config: datasets.every.generator.classes: {message}"]


def test_class_sizes_of_the_first_images_are_not_checked(image_config):
    load(changed(changed(image_config, "images.tiny.first", 24), "experiments.seen.n", [22]))


def test_more_points_than_images_and_more_dimensions_than_points_are_refused(image_config):
    few = changed(image_config, "images.tiny.first", 12)
    assert (
        "experiments.seen.n: 22 points requested from 12 images"
        in problems_of(changed(few, "experiments.seen.n", [22]))[0]
    )
    wide = changed(image_config, "datasets.two.generator.dim", 37)
    assert any("too few for dim=37" in line for line in problems_of(wide))


def test_parameters_of_an_experiment_reach_its_runs_only(image_config):
    study = load(image_config)
    of = {id: {m.id: m for m in study.experiments[id].methods} for id in ("seen", "whole")}
    assert of["seen"]["fsc"].value("coder.lam") == 5.0
    assert of["seen"]["esc"].value("coder.lam") == 10.0
    assert of["whole"]["fsc"].value("coder.lam") == 10.0
    coders = {run.wildcards["coder"] for run in study.experiments["seen"].runs() if run.method.id == "fsc"}
    assert coders == {"lasso.lam=5"}
    assert json.loads(recipes.part_recipe(study, "coder", "lasso.lam=5", 20, "t00-01"))["part"]["params"]["lam"] == 5.0
    assert of["seen"]["fsc"].setting == {}


def test_parameter_of_an_experiment_reaches_every_part_that_has_it(image_config):
    study = load(changed(image_config, "experiments.seen.overrides", {"esc": {"params": {"lam": 7}}}))
    fsc, esc = study.experiments["seen"].methods
    assert (esc.value("selector.lam"), esc.value("coder.lam"), fsc.value("coder.lam")) == (7.0, 7.0, 10.0)


def test_sweep_overrides_the_parameters_of_its_experiment(image_config):
    overrides = {"fsc": {"params": {"lam": 3, "scale_rows": True}}}
    config = changed(image_config, "experiments.sweeping.overrides", overrides)
    config = changed(config, "experiments.sweeping.sweep", {"fsc": {"lam": [5, 6]}})
    study = load(changed(config, "experiments.sweeping.held", []))
    methods = study.experiments["sweeping"].methods
    assert [(m.value("lam"), m.value("scale_rows")) for m in methods] == [(5.0, True), (6.0, True)]


def test_held_value_is_that_of_the_experiment(image_config):
    overrides = {"fsc": {"params": {"scale_rows": True}}}
    config = changed(image_config, "experiments.sweeping.overrides", overrides)
    assert json.loads(recipes.held_values(load(config), "sweeping"))["fsc"] == {"scale_rows": True}
    lines = problems_of(changed(config, "experiments.sweeping.sweep.fsc.scale_rows", [False]))
    message = "held at True, which must be among the values"
    assert lines == [f"config: experiments.sweeping.sweep.fsc.scale_rows: {message}"]


@pytest.mark.parametrize(
    ("shard", "first", "shards"),
    [
        (10, None, ["00000-00009", "00010-00019", "00020-00029", "00030-00035"]),
        (18, None, ["00000-00017", "00018-00035"]),
        (99, None, ["00000-00035"]),
        (10, 20, ["00000-00009", "00010-00019"]),
        (10, 11, ["00000-00009", "00010-00010"]),
        (10, 99, ["00000-00009", "00010-00019", "00020-00029", "00030-00035"]),
    ],
)
def test_shards_cover_the_requested_images_once(image_config, shard, first, shards):
    image_config["images"]["tiny"] |= {"shard": shard} | ({"first": first} if first else {})
    study = load(changed(image_config, "run", ["grid"]))
    assert study.collections["tiny"].shards == shards
    assert recipes.shards_of(study, "tiny") == [f"data/tiny/scattering/{name}.h5" for name in shards]
    assert all(re.fullmatch(WILDCARDS["shard"], name) for name in shards)


def test_dataset_reads_the_features_it_needs(image_config):
    study = load(image_config)
    assert recipes.features_of(study, "plain") == []
    assert recipes.features_of(study, "two") == ["data/tiny/scattering/pca.dim=5-of-36.h5"]
    assert recipes.features_of(study, "every") == recipes.shards_of(study, "tiny")
    assert [study.collections_of(id) for id in ("grid", "seen", "whole")] == [[], ["tiny"], ["tiny"]]


@pytest.mark.parametrize(
    ("params", "slug"),
    [
        ({}, "pca"),
        ({"dim": 500, "centre": True, "path_maximum": True}, "pca"),
        ({"dim": 20}, "pca.dim=20"),
        ({"centre": False, "dim": 20, "path_maximum": False}, "pca.centre=false+dim=20+path_maximum=false"),
    ],
)
def test_reduction_slug_has_the_parameters_that_differ_from_defaults(image_config, params, slug):
    generator = {"name": "images", "collection": "tiny", **params}
    study = load(changed(image_config, "datasets.every.generator", generator))
    dataset = study.datasets["every"]
    assert dataset.reduction_slug == slug
    assert re.fullmatch(WILDCARDS["reduction"], slug)
    assert json.loads(recipes.reduction_recipe(study, "tiny", slug)) == {
        "path_maximum": True,
        "centre": True,
        **params,
        # No more than there are images.
        "dim": min(params.get("dim", 500), 36),
    }


@pytest.mark.parametrize(("dim", "slug"), [(5, "pca"), (500, "pca"), (600, "pca.dim=600")])
def test_whitened_datasets_share_the_reduction_of_a_plain_one(image_config, dim, slug):
    generator = {"name": "images", "collection": "tiny", "whiten": True, "dim": dim}
    assert load(changed(image_config, "datasets.every.generator", generator)).datasets["every"].reduction_slug == slug


def test_datasets_of_other_classes_share_a_reduction(image_config):
    generator = {"name": "images", "collection": "tiny", "classes": [1, 2], "dim": 5}
    study = load(changed(image_config, "datasets.other", {**image_config["datasets"]["two"], "generator": generator}))
    assert recipes.features_of(study, "other") == recipes.features_of(study, "two")


def test_features_follow_the_data_folder_not_the_results_folder(image_config):
    one, two = load(image_config), load(changed(image_config, "results", "elsewhere"))
    assert recipes.features_of(one, "two") == recipes.features_of(two, "two")
    assert one.paths.data != two.paths.data
    moved = load(changed(image_config, "data", "/store/"))
    assert recipes.features_of(moved, "two") == ["/store/tiny/scattering/pca.dim=5-of-36.h5"]
    assert moved.paths.source.format(images="tiny") == "/store/tiny/source.json"


def test_recipes_of_images_have_everything_a_stage_needs(image_config):
    tiny = image_config["images"]["tiny"]
    tiny["features"] = {"name": "scattering", "angles": 4}
    study = load(image_config)
    fetched = json.loads(recipes.images_recipe(study, "tiny"))
    assert [(source["name"], source["params"]) for source in fetched["sources"]] == [
        ("npm", {"package": "tiny@1.0.0"}),
        ("debian", {"package": "tiny"}),
    ]
    assert (fetched["counts"], fetched["sha256"], fetched["folder"]) == (tiny["counts"], tiny["sha256"], None)
    shard = json.loads(recipes.shard_recipe(study, "tiny", "00030-00035"))
    assert (shard["first"], shard["last"], shard["sha256"]) == (30, 35, tiny["sha256"])
    assert shard["part"]["params"] == {"scales": 3, "angles": 4, "side": 32}
    assert recipes.shards_of(study, "tiny")[0] == "data/tiny/scattering.angles=4/00000-00009.h5"
    data = json.loads(recipes.data_recipe(study, "two", 20, "t00-01"))
    assert (data["n_clusters"], data["part"]["params"]["classes"]) == (2, [0, 2])


@pytest.mark.parametrize("experiment", ["grid", "seen", "whole"])
def test_fragment_has_the_images_of_its_experiment_only(image_config, experiment):
    study = load(changed(image_config, "images.spare", image_config["images"]["tiny"]))
    fragment = json.loads(recipes.fragment(study, experiment))
    assert set(fragment["images"]) == set(study.collections_of(experiment))
    again = load(fragment)
    assert [run.wildcards for run in again.experiments[experiment].runs()] == [
        run.wildcards for run in study.experiments[experiment].runs()
    ]
