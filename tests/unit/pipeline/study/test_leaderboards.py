"""Leaderboards: every method on every dataset, within a time limit."""

import csv
import json

import pytest
from tests.conftest import REPO, changed, merge_configs, parse, problems_of

from lssc.pipeline.snakemake.resources import seconds
from lssc.pipeline.study.load import load
from lssc.pipeline.study.recipes import figures_recipe, fragment, part_recipe
from lssc.pipeline.study.results import figures_of, judged, results_of
from lssc.report.outline import outline
from lssc.report.sweeps import best_settings

BOARD = {
    "datasets": {"plain": {"n": 30, "m": 6, "title": "Plain"}, "raw": {"n": 60, "m": 9, "ranked": False}},
    "stream": "board",
    "trials": 2,
    "time_limit": 5,
    "memory_limit": 900,
}


@pytest.fixture
def config(small_config):
    small_config["experiments"]["board"] = json.loads(json.dumps(BOARD))
    small_config["run"] = ["board"]
    for id, parameters in {"fsc": "tuned", "omp": "published"}.items():
        small_config["methods"][id]["parameters"] = parameters
    return small_config


def test_methods_that_state_how_parameters_were_chosen_run_on_every_dataset(config):
    runs = {(run.method.id, run.dataset, run.n, run.m) for run in load(config).experiments["board"].runs()}
    assert runs == {("fsc", "plain", 30, 6), ("fsc", "raw", 60, 9), ("omp", "plain", 30, 30), ("omp", "raw", 60, 60)}


def test_leaderboard_may_name_its_methods(config):
    config["experiments"]["board"]["methods"] = ["esc"]
    assert {run.method.id for run in load(config).experiments["board"].runs()} == {"esc"}


def test_sweep_on_several_datasets_chooses_one_setting_and_ranks_nothing(config):
    config["experiments"]["board"]["sweep"] = {"fsc": {"lam": [5, 10]}}
    planned = load(config).experiments["board"]
    assert planned.is_sweep
    assert not planned.is_leaderboard
    runs = {(run.method.setting["lam"], run.dataset, run.n, run.m) for run in planned.runs()}
    assert runs == {(lam, *size) for lam in (5, 10) for size in (("plain", 30, 6), ("raw", 60, 9))}
    assert outline(load(config), "board")["size"].startswith("plain, raw, ")


def test_number_of_points_defaults_to_all_images(image_config):
    image_config["experiments"]["board"] = {
        **BOARD,
        "datasets": {"two": {"m": 5}, "every": {"m": 6}},
        "methods": ["fsc"],
    }
    sizes = {grid.dataset: grid.ns for grid in load(image_config).experiments["board"].grids}
    assert sizes == {"two": (24,), "every": (36,)}


def test_limits_are_part_of_the_recipe_of_their_stream_only(config):
    study = load(config)
    coder = next(slug for kind, slug in study.parts if kind == "coder")
    recipe = json.loads(part_recipe(study, "coder", coder, 30, "board00-01"))
    assert (recipe["time_limit"], recipe["memory_limit"]) == (5, 900)
    assert "time_limit" not in json.loads(part_recipe(study, "coder", coder, 30, "t00-01"))


def test_figures_are_the_ranks_and_one_per_dataset(config):
    study = load(config)
    specs = json.loads(figures_recipe(study, "board"))
    assert list(specs) == ["ranks", "on_plain", "on_raw"]
    assert specs["ranks"]["datasets"] == {"plain": "Plain"}
    assert specs["on_raw"]["parameters"] == {"fsc": "tuned", "omp": "published"}
    assert len(figures_of(study, "board")) == 9
    assert judged(study) == []


def test_description_of_a_leaderboard_is_a_config_of_its_own(config):
    study = load(config)
    again = load(json.loads(fragment(study, "board", shown=True)))
    assert results_of(again, "board") == results_of(study, "board")
    assert [entry["title"] for entry in outline(again, "board")["leaderboard"]["datasets"]] == ["Plain", "raw"]


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("experiments.board.datasets", {"plan": {"n": 30, "m": 6}},
         "{at}: unknown dataset 'plan'; did you mean 'plain'?"),
        ("experiments.board.datasets.plain", {"n": 30}, "{at}.m: missing"),
        ("experiments.board.datasets.plain.n", 31, "{at}: 31 must be a multiple of n_clusters=3"),
        ("experiments.board.datasets.plain.m", 40,
         "{at}: 40 landmarks requested from n=30 points; need m <= n"),
        ("experiments.board.datasets.plain", {"m": 6},
         "{at}.n: missing; only a dataset from a file, of a table or of all images may leave it out"),
        ("experiments.board.n", [30], "{at}: not for an experiment with `datasets`; remove one of them"),
        ("experiments.board.overrides", {"fsc": {"dataset": "raw"}},
         "{at}.fsc.dataset: a leaderboard runs every method on every dataset; remove it"),
        ("experiments.board.stream", "t",
         "experiments.board.time_limit: 5, but 'grid' has none on the same stream 't'; "
         "give one of them another stream"),
        ("methods.fsc.parameters", "oracle", '{at}: "oracle" must be one of published, tuned, automatic'),
        ("methods", {"esc": {"label": "E", "method": "kmeans"}},
         "experiments.board.methods: missing; name the methods to run, or give methods the key `parameters`"),
    ],
)  # fmt: skip
def test_mistake_is_one_line(config, key, value, line):
    if key == "methods":
        config["experiments"] = {"board": config["experiments"]["board"]}
    assert problems_of(changed(config, key, value)) == [f"config: {line.format(at=key)}"]


def leaderboard_config(paper_config, name="leaderboard"):
    return merge_configs(paper_config, parse((REPO / f"config/{name}.yaml").read_text()))


@pytest.mark.parametrize("name", ["leaderboard", "leaderboard_small"])
def test_every_method_of_the_leaderboard_runs_within_a_limit(paper_config, name):
    study = load(leaderboard_config(paper_config, name))
    board = study.experiments["leaderboard"]
    assert {method.id for method in board.methods} >= {"fsc_uniform", "ssc_omp", "fsc_refined", "kmeans"}
    assert all(method.parameters for method in board.methods)
    assert set(board.limits) == {"time_limit", "memory_limit"}
    assert board.block >= board.trials, "trials of another block would run although one was stopped"


def test_leaderboard_reports_no_data_that_parameters_were_chosen_on(paper_config):
    board = load(leaderboard_config(paper_config)).experiments["leaderboard"]
    tuning = load(leaderboard_config(paper_config, "leaderboard_tuning")).experiments["leaderboard_tuning"]
    shared = {grid.dataset for grid in board.grids} & {grid.dataset for grid in tuning.grids}
    assert shared == {"synthetic"}
    assert board.stream != tuning.stream


def test_tuned_methods_have_the_best_setting_of_the_kept_sweep(paper_config):
    board = load(leaderboard_config(paper_config)).experiments["leaderboard"]
    tuning = load(leaderboard_config(paper_config, "leaderboard_tuning")).experiments["leaderboard_tuning"]
    kept = list(csv.DictReader((REPO / "docs/results/leaderboard_tuning/sweep.csv").open()))
    swept = {(method.id, json.dumps(dict(method.setting))) for method in tuning.methods}
    assert {(row["method"], row["setting"]) for row in kept} == swept
    best = {row["method"]: json.loads(row["setting"]) for row in best_settings(kept, {})}
    # A-DSSC has the least eta at which graphs are connected: no accuracy decides.
    assert {method.id for method in board.methods if method.parameters == "tuned"} == {*best, "adssc"}
    for method in board.methods:
        assert {key: method.value(key) for key in best.get(method.id, {})} == best.get(method.id, {}), method.id


def test_expected_seconds_are_at_most_the_time_limit_of_all_trials(config):
    study = load(changed(config, "experiments.board.datasets.plain.n", 3_000_000))
    run = next(run for run in study.experiments["board"].runs() if run.method.id == "omp")
    assert seconds(study, "code_points", run.wildcards) == 2 * 5
