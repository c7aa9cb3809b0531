"""A small leaderboard: a slow method is stopped, and a new method runs alone."""

import csv

import pytest

from tests.workflow.conftest import Pipeline, copy_checkout, facts, shared_run

pytestmark = pytest.mark.workflow
FOLDER = "results/experiments/leaderboard"
CONFIG = {
    "run": ["leaderboard"],
    "block": 2,
    "experiments": {
        "leaderboard": {
            "title": "tiny leaderboard",
            "stream": "board",
            "trials": 2,
            "time_limit": 1,
            "datasets": {"synthetic": {"n": 100, "m": 20}, "synthetic_raw": {"n": 1200, "m": 20, "title": "As drawn"}},
            # On 1,200 points, SSC-ADMM takes many times the limit.
            "methods": ["fsc_uniform", "kmeans", "ssc_admm"],
        }
    },
}
NEW_METHOD = '''"""Every point in its own cluster, in turn."""

import numpy as np

from lssc.parts.registry import component
from lssc.types import Array, Clusters


@component("method", "in_turn")
def in_turn(X: Array, *, n_clusters: int, first: int = 0) -> Clusters:
    """Label points 0, 1, ... in turn."""
    return Clusters((np.arange(len(X)) + first) % n_clusters)
'''


def board(folder, config=CONFIG, repo=None):
    pipeline = Pipeline(folder, repo) if repo else Pipeline(folder)
    pipeline.config = config
    return pipeline


@pytest.fixture(scope="module")
def finished_board(tmp_path_factory):
    return board(shared_run(tmp_path_factory, "leaderboard", lambda folder: board(folder).finish()))


def rows(pipeline, file):
    return list(csv.DictReader((pipeline.folder / FOLDER / file).open()))


def test_slow_method_is_stopped_and_ranks_last(finished_board):
    table = {row["method"]: row for row in rows(finished_board, "figures/on_synthetic_raw.csv")}
    assert [table["ssc_admm"][key] for key in ("stopped", "accuracy", "rank")] == ["1 CPU s", "", "3"]
    assert all(table[id]["stopped"] == "" and float(table[id]["accuracy"]) > 0 for id in ("fsc_uniform", "kmeans"))
    on_few_points = {row["method"]: row for row in rows(finished_board, "figures/on_synthetic.csv")}
    assert on_few_points["ssc_admm"]["stopped"] == ""


def test_steps_after_a_stopped_one_do_not_run(finished_board):
    for name in ("codes", "embedding", "labels"):
        (path,) = finished_board.folder.glob(f"results/synthetic_raw/n1200/*/all-m1200/**/{name}.h5")
        trials = facts(path)
        assert len(trials) == 2
        assert all(trial["stopped"] == "1 CPU s" and "seconds" not in trial for trial in trials.values())


def test_score_table_says_which_runs_were_stopped(finished_board):
    stopped = [(r["dataset"], r["method"], r["trial"]) for r in rows(finished_board, "scores.csv") if r["stopped"]]
    assert stopped == [("synthetic_raw", "ssc_admm", "0"), ("synthetic_raw", "ssc_admm", "1")]


def test_report_shows_ranks_and_a_table_for_each_dataset(finished_board):
    page = (finished_board.folder / "results/report.html").read_text()
    assert "As drawn <small>n = 1,200, K = 5, m = 20</small>" in page
    assert '<td class="num">&gt; 1</td>' in page
    assert "rank of each method by mean accuracy" in page


def test_second_run_does_nothing(finished_board):
    assert finished_board.planned() == {}


def test_new_method_of_one_file_and_one_entry_runs_alone(finished_board, tmp_path):
    repo = copy_checkout(tmp_path / "repo")
    (repo / "workflow/lssc/parts/methods/in_turn.py").write_text(NEW_METHOD)
    entry = CONFIG["experiments"]["leaderboard"]
    entry = {**entry, "methods": [*entry["methods"], "mine"]}
    mine = {"label": "Mine", "parameters": "published", "method": {"name": "in_turn", "first": 1}}
    config = {**CONFIG, "methods": {"mine": mine}, "experiments": {"leaderboard": entry}}
    pipeline = board(finished_board.folder, config, repo)
    new = {"apply_method": 2, "score_labels": 2}
    report = dict.fromkeys(("describe_experiment", "gather_scores", "plot_leaderboard", "write_report"), 1)
    assert pipeline.planned() == {**new, **report}
