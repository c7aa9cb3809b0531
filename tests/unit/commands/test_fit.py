"""`lssc fit` and `lssc predict`: labels, report and model from a file of points; mistakes are one line."""

import io
import os
import re
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lssc as lssc_package
from lssc import FSC, cli
from lssc.commands.fit import METHODS
from lssc.commands.progress import ProgressBar

FIT = ["fit", "points.npy", "--clusters", "3", "--landmarks", "20", "--lam", "10"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, points):
    """A working folder with the points as digits-like images of 3 x 4 pixels, and their labels."""
    monkeypatch.chdir(tmp_path)
    np.save("points.npy", points[0])
    np.save("classes.npy", np.array(["a", "b", "c"])[points[1]])
    return tmp_path


def lssc(*arguments):
    cli.main([str(argument) for argument in arguments])


def refused(*arguments):
    with pytest.raises(SystemExit) as caught:
        lssc(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message.partition(": ")[2]


def test_labels_are_those_of_the_estimator(points, capsys):
    lssc(*FIT, "--seed", 4, "--out", "labels.npy", "--labels", "classes.npy")
    lssc(*FIT, "--seed", 4, "--out", "labels.csv")
    expected = FSC(3, n_landmarks=20, lam=10, random_state=4).fit(points[0]).labels_
    assert_array_equal(np.load("labels.npy"), expected)
    table = np.loadtxt("labels.csv", delimiter=",", skiprows=1, dtype=int)
    assert_array_equal(table, np.column_stack([np.arange(60), expected]))
    said = capsys.readouterr()
    assert re.match(r"60 points in 3 clusters of \d+ to \d+, accuracy \d\.\d{3} in .* s: labels.npy\n", said.out)
    assert "2 of 4: coding points" in said.err


def test_every_estimator_is_a_method():
    assert {"__version__", *METHODS.values()} >= {name for name in lssc_package.__all__ if name[0].isupper()}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_writes_labels_report_and_model(method):
    out = ["--out", "labels.npy", "--report", "out.html", "--model", "model.skops"]
    lssc("fit", "points.npy", "--clusters", 3, "--method", method, *out)
    assert np.load("labels.npy").shape == (60,)
    assert f"clustered by <b>{method}</b>" in Path("out.html").read_text()


def test_other_parameters_can_be_set(points):
    lssc(*FIT, "--set", "unit_norm=false", "--set", "landmarks=kmedoids", "--out", "labels.npy")
    model = FSC(3, n_landmarks=20, lam=10, unit_norm=False, landmarks="kmedoids", random_state=0)
    assert_array_equal(np.load("labels.npy"), model.fit(points[0]).labels_)


def test_report_is_one_page_with_everything_inside():
    lssc(*FIT, "--out", "labels.npy", "--report", "out.html", "--labels", "classes.npy", "--image-shape", "3x4")
    page = Path("out.html").read_text()
    assert "points.npy: 3 clusters" in page
    assert "accuracy <b>" in page
    assert page.count('<img src="data:image/webp;base64,') == 3
    assert "nearest to the centre" in page
    # The value that the rule chose, not its name.
    assert re.search(r"lam = \d", page)
    assert not re.findall(r'(?:src|href)="(?!data:)', page)


def test_report_of_points_that_are_no_images_has_no_examples():
    lssc(*FIT, "--out", "labels.npy", "--report", "out.html")
    page = Path("out.html").read_text()
    assert page.count("<img") == 2
    assert "accuracy" not in page


def test_report_names_the_share_of_points_without_code(capsys):
    lssc(*FIT, "--lam", 1, "--out", "l.npy", "--report", "o.html")
    assert "lssc fit: warning: " in capsys.readouterr().err
    assert "100.0 % of the points have no code" in Path("o.html").read_text()


@pytest.mark.parametrize("suffix", ["skops", "joblib"])
def test_saved_model_labels_points_again(suffix, capsys):
    lssc(*FIT, "--out", "labels.npy", "--model", f"model.{suffix}")
    assert ("runs code" in capsys.readouterr().err) == (suffix == "joblib")
    lssc("predict", f"model.{suffix}", "points.npy", "--out", "again.csv", "--labels", "classes.npy", "--trust")
    again = np.loadtxt("again.csv", delimiter=",", skiprows=1, dtype=int)[:, 1]
    assert_array_equal(again, np.load("labels.npy"))
    assert re.search(r"60 points labelled, accuracy \d\.\d{3}: again.csv", capsys.readouterr().out)


class Trap:
    """Pickled, it would write a file when loaded."""

    def __reduce__(self):
        return os.system, ("touch executed",)


def test_joblib_file_is_not_loaded_without_trust(folder):
    joblib.dump(Trap(), "model.joblib")
    message = refused("predict", "model.joblib", "points.npy", "--out", "again.npy")
    assert message == "model.joblib: loading a joblib file runs code in it; add --trust if you know where it comes from"
    assert not (folder / "executed").exists()


def test_foreign_types_in_a_skops_file_are_refused(folder):
    skops = pytest.importorskip("skops.io")
    skops.dump(io.StringIO, "model.skops")
    assert "_io.StringIO, which is no part of a model of lssc; refused" in refused(
        "predict", "model.skops", "points.npy", "--out", "again.npy"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "none.npy", "--clusters", 3, "--out", "l.npy"], "none.npy: cannot be read: No such file or directory"),
        ([*FIT, "--out", "labels.txt"], "--out labels.txt: must end in .npy or .csv"),
        ([*FIT, "--out", "no/labels.npy"], "--out no/labels.npy: the folder no does not exist"),
        ([*FIT, "--out", "points.npy"], "--out points.npy: is the file of points, which is not overwritten"),
        ([*FIT, "--out", "l.npy", "--model", "m.pkl"], "--model m.pkl: must end in .skops or .joblib"),
        ([*FIT, "--out", "l.npy", "--labels", "y"], "points.npy: holds one array without names, no 'y'; labels can be"),
        ([*FIT, "--out", "l.npy", "--method", "ssc_omp"], "ssc_omp has no parameter 'n_landmarks'"),
        ([*FIT, "--out", "l.npy", "--set", "lamm=3"], "fsc has no parameter 'lamm'; did you mean 'lam'?"),
        ([*FIT, "--out", "l.npy", "--set", "lamm"], "--set lamm: write NAME=VALUE, such as unit_norm=false"),
        ([*FIT, "--out", "l.npy", "--lam", "-1"], "lam="),
        ([*FIT, "--out", "l.npy", "--report", "o.html", "--image-shape", "5x5"], "--image-shape 5x5: must be HxW with"),
        (["fit", "points.npy", "--clusters", 61, "--out", "l.npy"], "n_samples=60 should be >= n_clusters=61."),
        (["predict", "no.skops", "points.npy", "--out", "l.npy"], "no.skops: no such file"),
        (["predict", "points.npy", "points.npy", "--out", "l.npy"], "points.npy: unknown format; a model is a .skops"),
    ],
)
def test_mistake_is_one_line_and_writes_nothing(arguments, message, folder):
    before = sorted(folder.iterdir())
    assert refused(*arguments).startswith(message)
    assert sorted(folder.iterdir()) == before


def test_damaged_or_unable_model_is_one_line(folder):
    (folder / "model.skops").write_bytes(b"PK\x03\x04 nonsense")
    assert "model.skops: no model, or cut short or damaged" in refused(
        "predict", "model.skops", "points.npy", "--out", "l.npy"
    )
    lssc("fit", "points.npy", "--clusters", 3, "--method", "ssc_omp", "--out", "l.npy", "--model", "omp.skops")
    assert "SSCOMP labels no new points; fit with --method fsc" in refused(
        "predict", "omp.skops", "points.npy", "--out", "l.npy"
    )


def test_points_of_another_width_are_one_line(points):
    lssc(*FIT, "--out", "l.npy", "--model", "model.skops")
    np.save("narrow.npy", points[0][:, :5])
    assert refused("predict", "model.skops", "narrow.npy", "--out", "l.npy").startswith("narrow.npy: X has 5 features")


def test_row_with_a_missing_value_is_named(points):
    X = points[0].copy()
    X[17, 2] = np.nan
    np.save("points.npy", X)
    message = refused(*FIT, "--out", "l.npy")
    assert message == "points.npy: row 17 has a missing value (NaN) in column 2; fill it or remove the row"


def test_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    message = refused(*FIT, "--out", "l.npy", "--model", "m.skops")
    assert "pip install 'lssc[files]'" in message


def test_number_of_clusters_can_be_estimated(points, capsys):
    lssc("fit", "points.npy", "--clusters", "auto", "--landmarks", 20, "--lam", 10, "--out", "l.npy")
    said = capsys.readouterr()
    assert [line.split(":")[0] for line in said.err.splitlines()] == [f"{step} of 4" for step in range(1, 5)]
    model = FSC(None, n_landmarks=20, lam=10, random_state=0).fit(points[0])
    assert f"60 points in {model.n_clusters_} clusters" in said.out


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_bar_is_drawn_on_a_terminal():
    bar = ProgressBar(4, Terminal())
    bar.begin("choosing landmarks")
    bar.begin("coding points")
    bar.update(0.4)
    assert re.fullmatch(r"\[#{8} {16}\] 2 of 4: coding points 40%, \d+ s", bar.line())
    bar.close()
