"""The study that a config describes: methods, runs, recipes and fragments."""

import json
import re
from pathlib import Path

import pytest
from tests.conftest import changed

from lssc.pipeline.study import recipes, results
from lssc.pipeline.study.load import load
from lssc.pipeline.study.model import Part
from lssc.pipeline.study.paths import WILDCARDS
from lssc.pipeline.study.steps import KINDS


def runs_of(study, experiments=None):
    return [run.wildcards for id in experiments or study.run for run in study.experiments[id].runs()]


def test_figure_without_methods_is_not_drawn(small_config):
    study = load(changed(small_config, "experiments.line.methods", ["esc"]))
    assert [Path(path).name for path in results.figures_of(study, "line")] == ["stages.pdf", "stages.png", "stages.csv"]


def test_runtimes_by_step_are_drawn_except_for_sweeps(small_config):
    assert [id for id in load(small_config).experiments if results.figures_of(load(small_config), id)] == [
        "grid",
        "line",
    ]


@pytest.mark.parametrize(
    ("entry", "slug"),
    [
        ("uniform", "uniform"),
        ({"name": "kmedoids", "metric": "cityblock"}, "kmedoids"),
        ({"name": "kmedoids", "metric": "cosine", "max_iter": 7}, "kmedoids.max_iter=7+metric=cosine"),
        ({"name": "farthest_first", "lam": 10}, "farthest_first.lam=10"),
        ({"name": "farthest_first", "lam": 10.0}, "farthest_first.lam=10"),
        ({"name": "farthest_first", "lam": 2.5}, "farthest_first.lam=2.5"),
        ({"name": "farthest_first", "lam": 1e-7}, "farthest_first.lam=1e-07"),
        ({"name": "farthest_first", "lam": 1e20}, "farthest_first.lam=1e+20"),
    ],
)
def test_slug_has_the_parameters_that_differ_from_defaults(entry, slug):
    part = Part.of("selector", entry)
    assert part.slug == slug
    assert re.fullmatch(WILDCARDS["selector"], slug)


def test_slug_writes_booleans_in_lower_case_and_sorts_parameters():
    part = Part.of("coder", {"name": "lasso", "lam": 3, "exclude_self": False})
    assert part.slug == "lasso.exclude_self=false+lam=3"
    assert part.params == {"lam": 3.0, "exclude_self": False, "precision": "double"}
    assert part.with_params({"lam": 5, "t": 3}).params["lam"] == 5.0


def test_whole_numbers_become_floats_for_float_parameters(small_config):
    study = load(small_config)
    recipe = json.loads(recipes.part_recipe(study, "coder", "lasso.lam=10", 30, "t00-01"))
    assert recipe == {
        "seed": 1,
        "n": 30,
        "block": "t00-01",
        "part": {
            "kind": "coder",
            "name": "lasso",
            "params": {"lam": 10.0, "exclude_self": True, "precision": "double"},
        },
    }
    assert "10.0" in recipes.part_recipe(study, "coder", "lasso.lam=10", 30, "t00-01")


def test_grid_has_a_run_for_every_method_size_and_block(small_config):
    runs = list(load(small_config).experiments["grid"].runs())
    fsc = {(run.n, run.m, str(run.block), run.dataset) for run in runs if run.method.id == "fsc"}
    assert fsc == {(n, m, b, "plain") for n in (30, 60) for m in (6, 9) for b in ("t00-01", "t02-02")}
    esc = {(run.n, run.m, str(run.block), run.dataset) for run in runs if run.method.id == "esc"}
    assert esc == {(n, m, "t00-00", "raw") for n in (30, 60) for m in (6, 9)}


def test_full_data_method_runs_once_for_all_m(small_config):
    runs = [run for run in load(small_config).experiments["grid"].runs() if run.method.id == "omp"]
    assert sorted((run.n, run.m, str(run.block)) for run in runs) == [
        (30, 30, "t00-01"), (30, 30, "t02-02"), (60, 60, "t00-01"), (60, 60, "t02-02"),
    ]  # fmt: skip


def test_sweep_has_a_run_for_every_combination(small_config):
    methods = load(small_config).experiments["sweeping"].methods
    fsc = [dict(method.setting) for method in methods if method.id == "fsc"]
    assert len(fsc) == 2 * 2 * 2
    assert {"dataset": "raw", "lam": 5, "scale_rows": True} in fsc
    swept = next(m for m in methods if m.setting == {"dataset": "raw", "lam": 5, "scale_rows": True})
    assert (swept.value("coder.lam"), swept.value("embedder.scale_rows")) == (5.0, True)
    assert swept.value("lam") == 5.0
    assert swept.value("nothing") is None


def test_swept_parameter_reaches_every_part_that_has_it(small_config):
    config = changed(small_config, "experiments.sweeping.sweep", {"esc": {"lam": [7], "scale_rows": [True]}})
    method = load(config).experiments["sweeping"].methods[0]
    assert (method.value("selector.lam"), method.value("coder.lam")) == (7.0, 7.0)


def test_held_values_are_the_methods_own(small_config):
    assert json.loads(recipes.held_values(load(small_config), "sweeping")) == {
        "fsc": {"scale_rows": False},
        "omp": {"scale_rows": True},
    }


def test_methods_that_share_a_stage_share_its_path(small_config):
    small_config["methods"]["two"] = {**small_config["methods"]["fsc"], "embedder": "landmark_svd", "label": "Two"}
    small_config["methods"]["two"]["coder"] = {"name": "lasso", "lam": 11}
    config = changed(small_config, "experiments.grid.methods", ["fsc", "two"])
    study = load(config)
    one, two = (
        {
            study.paths.artifact("landmarks").format(**r.wildcards)
            for r in study.experiments["grid"].runs()
            if r.method.id == id
        }
        for id in ("fsc", "two")
    )
    assert one == two


@pytest.mark.parametrize("experiment", ["grid", "sweeping"])
def test_fragment_is_a_config_with_the_same_runs(small_config, experiment):
    study = load(small_config)
    part = load(json.loads(recipes.fragment(study, experiment)))
    assert part.run == (experiment,)
    assert runs_of(part, [experiment]) == runs_of(study, [experiment])
    assert part.paths == study.paths


def test_fragment_depends_only_on_its_experiment(small_config):
    before = recipes.fragment(load(small_config), "sweeping")
    config = changed(small_config, "methods.esc.coder.lam", 77)
    config = changed(config, "experiments.grid.trials", 9)
    assert recipes.fragment(load(config), "sweeping") == before
    assert recipes.fragment(load(changed(config, "methods.fsc.coder.lam", 77)), "sweeping") != before


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("experiments.grid.methods", ["fsc", "omp"]),
        ("experiments.sweeping.overrides", {"esc": {"trials": 1}}),
        ("experiments.grid.overrides", {"esc": {"dataset": "spare"}}),
        ("experiments.grid.overrides", {"fsc": {"dataset": "spare"}}),
        ("experiments.sweeping.overrides", {"fsc": {"dataset": "spare"}}),
    ],
)
def test_fragment_with_overrides_can_be_loaded(small_config, where, value):
    small_config["datasets"]["spare"] = small_config["datasets"]["raw"]
    study = load(changed(changed(small_config, "experiments.grid.methods", ["fsc", "omp"]), where, value))
    for experiment in study.experiments:
        load(json.loads(recipes.fragment(study, experiment)))


@pytest.mark.parametrize("which", ["paper_config", "demo_config"])
def test_configs_of_this_project_give_paths_that_match_the_wildcards(which, request):
    study = load(request.getfixturevalue(which))
    for wildcards in runs_of(study, study.experiments):
        assert all(re.fullmatch(WILDCARDS[key], value) for key, value in wildcards.items())
        assert all((kind, wildcards[kind]) in study.parts for kind in KINDS if kind in wildcards)
    for experiment in study.run:
        assert runs_of(load(json.loads(recipes.fragment(study, experiment)))) == runs_of(study, [experiment])
        assert results.results_of(study, experiment)


def test_recipes_have_everything_a_stage_needs(small_config):
    study = load(small_config)
    data = json.loads(recipes.data_recipe(study, "raw", 30, "t00-01"))
    assert (data["n_clusters"], data["unit_norm"], data["part"]["params"]["noise"]) == (3, False, 0.2)
    clusters = json.loads(recipes.part_recipe(study, "clusterer", "kmeans", 30, "t00-01", n_clusters=3))
    part = {"kind": "clusterer", "name": "kmeans", "params": {"n_init": 10, "max_iter": 100}}
    assert clusters == {"seed": 1, "n": 30, "block": "t00-01", "n_clusters": 3, "part": part}
    figure = json.loads(recipes.figures_recipe(study, "line"))["fig"]
    assert (figure["x"], figure["y"], figure["methods"]) == ("m", "accuracy", ["fsc", "omp"])
