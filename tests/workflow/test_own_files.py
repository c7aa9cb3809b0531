"""A new user's digits, as digits.npy and as a CSV with labels: by Python, by `lssc fit` and by config."""

import csv
import subprocess
import sys

import numpy as np
import pytest
import yaml
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from lssc import FSC
from tests.workflow.conftest import Pipeline, environment

pytestmark = pytest.mark.workflow
SEED, M, LAM = 5, 100, 10.0
CONFIG = {
    "seed": SEED,
    "run": ["own", "blind"],
    "datasets": {
        "my_digits": {"generator": {"name": "file", "path": "digits.csv", "labels": "digit"}, "unit_norm": True},
        "unknown": {
            "generator": {"name": "file", "path": "digits.npy", "centre": True, "dim": 20},
            "n_clusters": 10,
            "unit_norm": True,
        },
    },
    "experiments": {
        "own": {
            "dataset": "my_digits",
            "m": [M],
            "trials": 2,
            "methods": ["fsc_uniform", "fsc_nonuniform", "kmeans"],
            "overrides": {"fsc_uniform": {"params": {"lam": LAM}}},
            "figures": {"accuracy": {"x": "m", "y": "accuracy"}},
        },
        "blind": {
            "dataset": "unknown",
            "n": [301],
            "m": [50],
            "trials": 2,
            "methods": ["fsc_uniform", "kmeans"],
            "figures": {"agreement": {"x": "m", "y": "agreement"}},
        },
    },
}


def write_digits(folder):
    digits = load_digits()
    np.save(folder / "digits.npy", digits.data)
    table = np.column_stack([digits.data, digits.target])
    header = ",".join([*(f"pixel{i}" for i in range(64)), "digit"])
    np.savetxt(folder / "digits.csv", table, "%d", ",", header=header, comments="")


def lssc(folder, *arguments):
    command = [sys.executable, "-m", "lssc.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True)


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    pipeline = Pipeline(tmp_path_factory.mktemp("own"))
    pipeline.config = yaml.safe_load(yaml.safe_dump(CONFIG))
    write_digits(pipeline.folder)
    pipeline.finish()
    return pipeline


def scores(pipeline, experiment):
    return list(csv.DictReader((pipeline.folder / f"results/experiments/{experiment}/scores.csv").open()))


def test_python_command_and_config_give_the_same_labels(own):
    by_python = FSC(10, n_landmarks=M, lam=LAM, random_state=SEED).fit(load_digits().data).labels_
    fit = ["--clusters", 10, "--landmarks", M, "--lam", LAM, "--seed", SEED]
    lssc(own.folder, "fit", "digits.npy", *fit, "--out", "labels.npy")
    lssc(own.folder, "fit", "digits.csv", "--labels", "digit", *fit, "--out", "labels.csv")
    lssc(own.folder, "labels", "own", "fsc_uniform", "--out", "by_config")
    [table] = (own.folder / "by_config").glob("fsc_uniform*.csv")
    trial, row, label = np.loadtxt(table, delimiter=",", skiprows=1, dtype=int).T
    assert_array_equal(row[trial == 0], np.arange(len(by_python)))
    for labels in (
        np.load(own.folder / "labels.npy"),
        np.loadtxt(own.folder / "labels.csv", delimiter=",", skiprows=1, dtype=int)[:, 1],
        label[trial == 0],
    ):
        assert_array_equal(labels, by_python)


def test_own_points_are_scored_and_drawn_beside_other_methods(own):
    rows = scores(own, "own")
    assert [row["method"] for row in rows] == [m for m in CONFIG["experiments"]["own"]["methods"] for _ in range(2)]
    assert {row["n"] for row in rows} == {"1797"}
    assert min(float(row["accuracy"]) for row in rows) > 0.5
    assert (own.folder / "results/experiments/own/figures/accuracy.png").is_file()


def test_points_without_labels_have_sizes_eigengap_and_agreement(own):
    rows = scores(own, "blind")
    for row in rows:
        assert row["accuracy"] == row["nmi"] == row["ari"] == ""
        assert sum(map(int, row["sizes"].split())) == 301
        assert 0 < float(row["agreement"]) <= 1
        assert float(row["share_uncoded"]) == 0
    assert [float(row["eigengap"]) > 0 if row["method"] == "fsc_uniform" else row["eigengap"] for row in rows] == [
        *(True, True, "", "")
    ]
    page = (own.folder / "results/report.html").read_text()
    assert "Points without true labels" in page
    assert rows[0]["sizes"].replace(" ", ", ") in page


def test_a_changed_file_reruns_what_used_it(own, tmp_path):
    subprocess.run(["cp", "-a", f"{own.folder}/.", str(tmp_path / "run")], check=True)
    copied = Pipeline(tmp_path / "run")
    copied.config = own.config
    (copied.folder / "digits.csv").touch()
    assert copied.planned() == {}
    X = np.load(copied.folder / "digits.npy")
    X[3, 5] += 1
    np.save(copied.folder / "digits.npy", X)
    planned = copied.planned()
    assert planned["generate_data"] == planned["code_points"] == 1
    assert "plot_blind" in planned
    assert "plot_own" not in planned
