"""The numbers that figures show, and figures of every shape of experiment."""

import json

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from PIL import Image

from lssc.report import style
from lssc.report.curves import curve_rows, distinct_bands, plot_curves, summary
from lssc.report.inlining import inlined
from lssc.report.step_times import plot_step_times, step_times
from lssc.report.style import read_scores, save
from lssc.report.sweep_figure import plot_sweep
from lssc.report.sweeps import best_settings
from lssc.report.tables import as_csv

SHOWN = {"few": "Few", "all": "All"}
SPEC = {"x": "m", "y": "accuracy", "methods": list(SHOWN), "ms": [10, 30], "order": SHOWN, "title": "n = 30"}


def score(method, m, trial, accuracy, full=False):
    return {"method": method, "label": method.title(), "n": 30, "m": m, "trial": trial, "full_data": full,
            "accuracy": accuracy, "cpu_seconds": 0.5}  # fmt: skip


@pytest.fixture
def scores():
    few = [score("few", m, trial, m / 100 + trial / 10) for m in (10, 30) for trial in (0, 1)]
    return pd.DataFrame([*few, score("all", 30, 0, 0.9, full=True), score("other", 10, 0, 0.1)])


def test_full_data_methods_are_drawn_at_every_m(scores):
    table = summary(curve_rows(scores, SPEC), SPEC).set_index(["method", "m"])
    assert table.loc[("all", 10), "mean"] == table.loc[("all", 30), "mean"] == 0.9
    assert table.loc[("few", 10), "mean"] == pytest.approx(0.15)
    assert table.loc[("few", 30), "mean"] == pytest.approx(0.35)
    assert table.loc[("few", 10), "std"] == pytest.approx(0.1 / 2**0.5)
    assert table["trials"].to_dict()[("few", 30)] == 2


def test_only_the_methods_of_the_figure_are_shown(scores):
    assert set(curve_rows(scores, SPEC)["method"]) == {"few", "all"}


def test_legend_shows_where_trials_are_fewer(scores):
    axes = plot_curves(scores, SPEC).axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["Few", "All (1 trial)"]


def lines_of(figure):
    """Label -> (colour, marker) of each method's line."""
    lines = figure.axes[0].get_legend().get_lines()
    return {line.get_label(): (line.get_color(), line.get_marker()) for line in lines}


def test_every_method_has_a_look_of_its_own_whatever_else_is_shown(scores):
    order = {f"m{i}": f"M{i}" for i in range(25)}
    rows = pd.concat([scores[scores["method"] == "few"].assign(method=id, label=order[id]) for id in order])
    spec = {**SPEC, "order": order, "methods": list(order)}
    looks = lines_of(plot_curves(rows, spec))
    assert len(set(looks.values())) == len({colour for colour, _ in looks.values()}) == 25
    some = ["m3", "m20"]
    assert lines_of(plot_curves(rows, {**spec, "methods": some})) == {order[id]: looks[order[id]] for id in some}


@pytest.mark.parametrize(("ms", "marker"), [([10], "s"), ([10, 30], "None")])
def test_flat_line_has_a_marker_only_where_it_is_a_point(scores, ms, marker):
    spec = {**SPEC, "ms": ms, "methods": ["all"]}
    assert lines_of(plot_curves(scores, spec))["All"][1] == marker


def test_bands_are_drawn_where_they_do_not_overlap():
    means = {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.9, "e": 0.2}
    table = pd.DataFrame(
        [{"method": id, "m": m, "mean": mean, "std": 0.05} for id, mean in means.items() for m in (1, 2)]
    )
    assert distinct_bands(table, {"x": "m", "order": means}) == {"a", "b", "d", "e"}


def test_lines_are_drawn_for_methods_without_a_band(scores):
    rows = pd.concat([scores[scores["method"] == "few"].assign(method=id, label=id) for id in "abcd"])
    axes = plot_curves(rows, {**SPEC, "order": dict(zip("abcd", "abcd", strict=True)), "methods": list("abcd")}).axes[0]
    assert len(axes.collections) == 2
    assert len(axes.get_legend().get_lines()) == 4


@pytest.mark.parametrize("y", ["accuracy", "cpu_seconds"])
def test_figures_are_the_same_files_every_time(scores, y, tmp_path):
    for name in ("one", "two"):
        save(plot_curves(scores, {**SPEC, "y": y}), tmp_path / f"{name}.pdf", tmp_path / f"{name}.png")
    for end in ("pdf", "png"):
        assert (tmp_path / f"one.{end}").read_bytes() == (tmp_path / f"two.{end}").read_bytes()


def timed(method, m, trial, seconds, full=False):
    stages = dict(zip(("select", "code", "embed", "cluster"), seconds, strict=True))
    spent = {f"{stage}_cpu_seconds": value for stage, value in stages.items()}
    return {**score(method, m, trial, 0.5, full), **spent, "cpu_seconds": sum(seconds)}


@pytest.fixture
def times():
    few = [timed("few", m, trial, (0.1 * m, 0.2, 0.1, 0)) for m in (10, 30) for trial in (0, 1)]
    return pd.DataFrame([timed("all", 30, 0, (0, 600, 0, 0), full=True), *few])


def test_step_times_are_means_at_the_largest_size_in_the_order_of_the_methods_table(times):
    smaller = pd.DataFrame([{**timed("few", 30, 0, (9, 9, 9, 9)), "n": 20}])
    table = step_times(pd.concat([times, smaller]), SPEC)
    assert list(table["method"]) == ["few", "all"]
    assert list(table["m"]) == [30, 30]
    assert list(table["trials"]) == [2, 1]
    assert table["select_cpu_seconds"].tolist() == pytest.approx([3, 0])
    assert table["cpu_seconds"].tolist() == pytest.approx([3.3, 600])


def test_bars_fill_the_axis_and_show_the_total(times):
    axes = plot_step_times(times, SPEC).axes[0]
    ends = [bar.get_x() + bar.get_width() for bar in axes.containers[-1]]
    assert ends == pytest.approx([100, 100])
    assert [text.get_text() for text in axes.texts[-2:]] == ["3.3 s", "600 s"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Few", "All (1 trial)"]
    assert axes.get_title() == "n = 30; m = 30, mean over 2 trials"


def test_method_of_zero_seconds_has_an_empty_bar():
    axes = plot_step_times(pd.DataFrame([timed("few", 10, 0, (0, 0, 0, 0))]), SPEC).axes[0]
    assert [bar.get_width() for bars in axes.containers for bar in bars] == [0] * 4


SWEEPS = {
    "one number": [{"lam": 5}, {"lam": 10}],
    "one value": [{"lam": 5}],
    "zero among the numbers": [{"noise": 0}, {"noise": 10}],
    "names": [{"metric": "cityblock"}, {"metric": "cosine"}],
    "switch only": [{"scale_rows": True}, {"scale_rows": False}],
    "dataset only": [{"dataset": "unit"}, {"dataset": "unit_raw"}],
    "two numbers and a dataset": [
        {"dataset": d, "lam": lam, "t": t} for d in ("a", "a_raw") for lam in (1, 2) for t in (3, 4)
    ],
}


def swept(method, setting, accuracy=0.5):
    return {"method": method, "label": method, "dataset": setting.get("dataset", "a"), "setting": json.dumps(setting),
            "accuracy": accuracy}  # fmt: skip


def drawn_sweep(rows):
    datasets = {row["dataset"]: row["dataset"].upper() for row in rows}
    return plot_sweep(pd.DataFrame(rows), pd.DataFrame(best_settings(rows, {})), datasets)


@pytest.mark.parametrize("settings", SWEEPS.values(), ids=SWEEPS)
def test_every_sweep_that_config_allows_can_be_drawn(settings, tmp_path):
    rows = [swept("esc", setting, 0.5 + i / 100) for i, setting in enumerate(settings)]
    assert json.loads(best_settings(rows, {})[0]["setting"]) == settings[-1]
    save(drawn_sweep(rows), tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").stat().st_size > 1000


def test_best_setting_at_the_edge_of_the_grid_has_a_white_star():
    inside = drawn_sweep([swept("a", {"k": k}, accuracy) for k, accuracy in ((1, 0.1), (2, 0.9), (3, 0.2))])
    edge = drawn_sweep([swept("a", {"k": k}, k / 10) for k in (1, 2, 3)])
    stars = [figure.axes[0].lines[-1].get_markerfacecolor() for figure in (inside, edge)]
    assert stars == ["black", "white"]
    names = [[text.get_text() for text in figure.legends[0].get_texts()][1:] for figure in (inside, edge)]
    assert names == [["best"], ["best", "best, at the edge of the grid"]]


def test_methods_with_different_parameters_share_a_sweep_figure():
    figure = drawn_sweep([swept("a", {"k": 2}), swept("b", {"t": 2})])
    assert [axes.get_title() for axes in figure.axes][:2] == ["a", "b"]


def test_dataset_has_one_colour_in_all_panels_of_a_sweep():
    rows = [swept(m, {"dataset": d, "lam": lam}) for m in ("esc", "fsc") for d in ("unit", "raw") for lam in (1, 2)]
    figure = drawn_sweep(rows)
    legend = {handle.get_label(): handle.get_color() for handle in figure.legends[0].legend_handles}
    for axes in figure.axes[:2]:
        assert [line.get_color() for line in axes.lines[:2]] == [legend["UNIT"], legend["RAW"]]
    assert legend["UNIT"] != legend["RAW"]


def test_mean_of_several_datasets_is_named_as_such():
    figure = drawn_sweep([{**swept("a", {"k": k}), "dataset": d} for k in (1, 2, 3) for d in ("unit", "raw")])
    assert figure.legends[0].get_texts()[0].get_text() == "mean of 2 datasets"
    assert len(figure.axes[0].lines) == 2


# Formulas, a legend's own sign for what to leave out, and what a reader of tables takes for numbers or nothing.
HOSTILE = ["$\\frac$", "costs $5 or $6", "\\alpha {x} ^ & %", "_hidden", "NA", "007", "True", "<b> é 中 \U0001f600"]


@pytest.fixture
def hostile_scores(tmp_path):
    """A table as the workflow writes it, with labels that other programs take for something else."""
    rows = [{**timed("few", 10, trial, (0.1, 0.2, 0.1, 0)), "method": f"m{i}" if i else "nan", "label": label,
             "setting": json.dumps({"lam": 1})} for i, label in enumerate(HOSTILE) for trial in (0, 1)]  # fmt: skip
    (tmp_path / "scores.csv").write_text(as_csv(rows), encoding="utf-8")
    return read_scores(tmp_path / "scores.csv")


def texts(axes):
    return [text.get_text().replace("\\$", "$").removeprefix("\u200b") for text in axes]


@pytest.mark.filterwarnings("ignore:Glyph")
def test_labels_are_drawn_literally(hostile_scores, tmp_path):
    title = "_$\\frac$"
    order = dict(zip(dict.fromkeys(hostile_scores["method"]), HOSTILE, strict=True))
    spec = {**SPEC, "methods": list(order), "order": order, "title": title}
    curve, stages = plot_curves(hostile_scores, spec), plot_step_times(hostile_scores, spec)
    assert texts(curve.axes[0].get_legend().get_texts()) == HOSTILE
    assert texts(stages.axes[0].get_yticklabels()) == HOSTILE
    best = pd.DataFrame(best_settings(hostile_scores.to_dict("records"), {}))
    sweep = plot_sweep(hostile_scores.assign(dataset="a"), best, {"a": title})
    assert texts(axes.title for axes in sweep.axes[: len(HOSTILE)]) == HOSTILE
    assert texts(sweep.legends[0].get_texts())[0] == title
    for figure, end in ((curve, "pdf"), (stages, "png"), (sweep, "png")):
        save(figure, tmp_path / f"x.{end}")


def test_figure_of_too_many_pixels_is_drawn_smaller(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "MOST_PIXELS", 10_000)
    save(plt.figure(figsize=(4, 2)), tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as image:
        assert 5_000 < image.width * image.height < 15_000


def test_so_many_pixels_are_taken_without_a_warning():
    assert style.MOST_PIXELS < Image.MAX_IMAGE_PIXELS


def test_figure_too_large_for_an_image_is_drawn_smaller(tmp_path):
    figure = plt.figure(figsize=(1, 400))
    save(figure, tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as image:
        assert max(image.size) < 65_536
    assert inlined(tmp_path / "x.png").height > 1000
