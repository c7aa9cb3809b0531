"""Tables and figures of leaderboards: means, ranks, the front, and tests on ranks."""

import numpy as np
import pandas as pd
import pytest

from lssc.report.leaderboard import Ranks, board, critical_difference, friedman_p, ranks, ranks_table
from lssc.report.leaderboard_cells import HEADS, board_cells
from lssc.report.leaderboard_figures import plot_board, plot_ranks

METHODS = {"slow": "published", "fast": "tuned", "poor": "automatic"}
SPEC = {"dataset": "one", "parameters": METHODS, "title": "One, n = 90", "datasets": {"one": "One", "two": "Two"}}


def scores(**stopped):
    """Two datasets, three methods, two trials; `one=["slow"]` stops that method on dataset one."""
    values = {"slow": (0.9, 20.0), "fast": (0.8, 1.0), "poor": (0.7, 5.0)}
    rows = []
    for dataset in ("one", "two"):
        for method, (accuracy, seconds) in values.items():
            for trial in (0, 1):
                row = {"dataset": dataset, "n": 90, "m": 9, "trial": trial, "method": method, "label": method.upper()}
                row |= {"accuracy": accuracy + 0.02 * trial, "nmi": 0.5, "ari": 0.4, "peak_mb": 100 + trial}
                row |= {"cpu_seconds": seconds, "stopped": None}
                if method in stopped.get(dataset, ()):
                    row |= dict.fromkeys(("accuracy", "nmi", "ari", "peak_mb", "cpu_seconds"), np.nan) | {
                        "stopped": "60 CPU s"
                    }
                rows.append(row)
    return pd.DataFrame(rows)


def test_board_has_means_over_trials_best_first():
    table = board(scores(), SPEC)
    assert table["method"].tolist() == ["slow", "fast", "poor"]
    assert table["rank"].tolist() == [1, 2, 3]
    np.testing.assert_allclose(table["accuracy"], [0.91, 0.81, 0.71])
    assert table["peak_mb"].tolist() == [101, 101, 101]
    assert table["parameters"].tolist() == ["published", "tuned", "automatic"]


def test_front_holds_methods_that_no_faster_one_beats():
    assert board(scores(), SPEC).set_index("method")["front"].to_dict() == {"slow": True, "fast": True, "poor": False}


def test_stopped_method_ranks_last_and_has_no_means():
    table = board(scores(one=["slow"]), SPEC).set_index("method")
    assert table["rank"].to_dict() == {"fast": 1, "poor": 2, "slow": 3}
    assert np.isnan(table.loc["slow", "accuracy"])
    assert not table.loc["slow", "front"]


def test_method_with_one_stopped_trial_counts_as_stopped():
    table = scores()
    table.loc[0, ["accuracy", "cpu_seconds", "stopped"]] = [np.nan, np.nan, "60 CPU s"]
    row = board(table, SPEC).set_index("method").loc["slow"]
    assert np.isnan(row["accuracy"])
    assert row["rank"] == 3


def test_stopped_methods_share_the_last_ranks():
    table = board(scores(one=["slow", "poor"]), SPEC).set_index("method")
    assert table["rank"].to_dict() == {"fast": 1, "poor": 2.5, "slow": 2.5}


def test_table_without_stopped_runs_needs_no_column_for_them():
    assert board(scores().drop(columns="stopped"), SPEC)["stopped"].isna().all()


def test_mean_ranks_count_the_datasets_of_the_figure_only():
    both = ranks(scores(two=["slow"]), SPEC)
    assert both.mean.droplevel("label").to_dict() == {"fast": 1.5, "slow": 2, "poor": 2.5}
    one = ranks(scores(two=["slow"]), {**SPEC, "datasets": {"one": "One"}})
    assert one.mean.droplevel("label").to_dict() == {"slow": 1, "fast": 2, "poor": 3}


def test_critical_difference_agrees_with_the_published_example():
    # Demsar (2006), section 3.2.2: 4 classifiers on 14 datasets.
    assert critical_difference(4, 14) == pytest.approx(2.569 * np.sqrt(20 / 84), abs=2e-3)


def test_friedman_test_finds_methods_that_always_rank_alike():
    same = np.tile([[1.0], [2.0], [3.0]], 10)
    assert friedman_p(same) < 0.001
    rng = np.random.default_rng(0)
    assert friedman_p(np.column_stack([rng.permutation(3) for _ in range(10)])) > 0.05
    assert np.isnan(friedman_p(same[:, :1]))


def test_groups_are_the_largest_runs_within_the_critical_difference():
    mean = pd.Series([1.0, 1.5, 2.5, 4.0])
    assert Ranks(pd.DataFrame(), mean, 0.01, difference=1.5).groups == [(0, 2), (2, 3)]
    assert Ranks(pd.DataFrame(), mean, 0.01, difference=0.1).groups == []
    assert Ranks(pd.DataFrame(), mean, 0.01, difference=9).groups == [(0, 3)]


def test_rank_table_has_a_column_for_each_dataset():
    table = ranks_table(ranks(scores(), SPEC), SPEC)
    assert list(table) == [
        "method",
        "label",
        "parameters",
        "mean_rank",
        "One",
        "Two",
        "critical_difference",
        "friedman_p",
    ]


def test_cells_show_the_limit_of_a_stopped_method(tmp_path):
    board(scores(one=["slow"]), SPEC).to_csv(tmp_path / "one.csv", index=False)
    rows = pd.read_csv(tmp_path / "one.csv", dtype=str, keep_default_na=False).to_dict("records")
    cells = board_cells(rows)
    assert cells[0] == ["1", "FAST ○", "tuned", "0.810 ± 0.014", "0.500", "0.400", "1", "101"]
    assert cells[2] == ["3", "SLOW", "published", "–", "–", "–", "> 60", "–"]
    assert {len(row) for row in cells} == {len(HEADS)}


def test_cells_show_a_limit_of_memory_and_a_refusal_in_their_columns():
    empty = dict.fromkeys(("parameters", "front", "accuracy_std"), "") | {"rank": "2", "label": "A"}
    assert board_cells([{**empty, "stopped": "8,000 MB"}])[0][-2:] == ["–", "> 8,000"]
    assert board_cells([{**empty, "stopped": "refused"}])[0][-2:] == ["refused", "–"]


def test_figure_lists_methods_from_best_to_worst_and_stopped_ones_last():
    figure = plot_board(board(scores(one=["slow"]), SPEC), SPEC)
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["○ FAST  0.810", "POOR  0.710", "SLOW (> 60 CPU s)"]


def test_figure_draws_methods_that_take_no_measurable_time():
    table = board(scores(), SPEC).assign(cpu_seconds=0.0)
    assert plot_board(table, SPEC).axes[0].get_xlim()[0] > 0


def test_rank_figure_labels_each_method_with_its_mean_rank():
    figure = plot_ranks(ranks(scores(), SPEC), SPEC)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["SLOW  1.0", "FAST  2.0", "POOR  3.0"]
