import json

import pytest

from lssc.report.sweeps import best_settings, sweep_table


def rows(*entries):
    return [{"method": m, "setting": json.dumps(s), "accuracy": a} for m, s, a in entries]


def chosen(table, held=None):
    return {row["method"]: json.loads(row["setting"]) for row in best_settings(table, held or {})}


def test_best_setting_has_the_highest_mean():
    table = rows(
        ("a", {"lam": 1}, 0.9), ("a", {"lam": 2}, 0.8), ("b", {"k": 1}, 0.2),
        ("a", {"lam": 1}, 0.1), ("a", {"lam": 2}, 0.7), ("b", {"k": 2}, 0.3),
    )  # fmt: skip
    assert chosen(table) == {"a": {"lam": 2}, "b": {"k": 2}}


def test_table_has_mean_spread_and_number_of_runs():
    (row,) = best_settings(rows(("a", {"lam": 1}, 0.5), ("a", {"lam": 1}, "0.7")), {})
    assert row["accuracy"] == pytest.approx(0.6)
    assert row["std"] == pytest.approx(0.1)
    assert row["runs"] == 2


def test_first_of_equal_settings_is_chosen():
    table = rows(("a", {"lam": 5}, 0.5), ("a", {"lam": 1}, 0.5), ("a", {"lam": 9}, 0.5))
    assert chosen(table) == {"a": {"lam": 5}}
    assert chosen(table[::-1]) == {"a": {"lam": 9}}


def test_held_parameter_keeps_the_value_of_its_method():
    table = rows(
        ("a", {"lam": 1, "scale": False}, 0.5),
        ("a", {"lam": 2, "scale": True}, 0.9),
        ("a", {"lam": 3, "scale": False}, 0.6),
        ("b", {"lam": 1, "scale": False}, 0.5),
        ("b", {"lam": 2, "scale": True}, 0.9),
    )
    held = {"a": {"scale": False}, "b": {"scale": True}}
    assert chosen(table, held) == {"a": {"lam": 3, "scale": False}, "b": {"lam": 2, "scale": True}}


def test_held_keys_that_were_not_swept_do_not_matter():
    table = rows(("a", {"lam": 1}, 0.5), ("a", {"lam": 2}, 0.9))
    assert chosen(table, {"a": {"scale": True}, "z": {"lam": 7}}) == {"a": {"lam": 2}}


def test_held_float_equals_the_same_whole_number():
    assert chosen(rows(("a", {"lam": 10}, 0.5), ("a", {"lam": 20}, 0.9)), {"a": {"lam": 10.0}}) == {"a": {"lam": 10}}


def test_sweep_table_has_a_row_for_every_method_and_setting():
    table = sweep_table(rows(("a", {"k": 1}, 0.2), ("b", {"k": 1}, 0.5), ("a", {"k": 2}, 0.4), ("a", {"k": 1}, 0.4)))
    assert [(row["method"], row["setting"], row["runs"]) for row in table] == [
        ("a", '{"k": 1}', 2),
        ("b", '{"k": 1}', 1),
        ("a", '{"k": 2}', 1),
    ]
    assert table[0]["accuracy"] == pytest.approx(0.3)


def test_no_rows_give_no_settings():
    assert best_settings([], {"a": {"scale": True}}) == []


@pytest.mark.parametrize(
    ("best", "at_edge"),
    [
        ({"lam": 2, "t": 3}, ""),
        ({"lam": 1, "t": 3}, "lam"),
        ({"lam": 3, "t": 9}, "lam t"),
        # A grid of names, switches or a single value has no edge.
        ({"lam": 2, "t": 3, "metric": "cosine", "k": 7, "on": True}, ""),
    ],
)
def test_best_value_at_the_edge_of_its_grid_is_marked(best, at_edge):
    others = [{**best, "lam": lam, "t": t} for lam in (1, 2, 3) for t in (1, 3, 9)]
    others += [{**best, "metric": "cityblock", "on": False}] if "metric" in best else []
    (row,) = best_settings(rows(("a", best, 0.9), *(("a", other, 0.5) for other in others if other != best)), {})
    assert row["at_edge"] == at_edge


def test_held_parameter_is_never_at_the_edge():
    (row,) = best_settings(rows(("a", {"lam": 1}, 0.5), ("a", {"lam": 2}, 0.9)), {"a": {"lam": 2}})
    assert row["at_edge"] == ""
