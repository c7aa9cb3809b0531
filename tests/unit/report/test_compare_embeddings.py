"""Two methods beside each other, trial by trial."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest

from lssc.errors import ConfigError
from lssc.pipeline.store.artifacts import Record, writing
from lssc.pipeline.study import recipes, results
from lssc.pipeline.study.load import load
from lssc.report.stages.compare_embeddings import agreement, largest_sine


def stored(folder, vectors, values, labels):
    """The files of a method, two trials each."""
    files = folder / "embedding.h5", folder / "labels.h5"
    folder.mkdir()
    with writing(files[0]) as embedding, writing(files[1]) as clusters:
        for trial in (0, 1):
            embedding.add(trial, Record({"vectors": vectors, "values": values}))
            clusters.add(trial, Record({"labels": labels}))
    return [str(file) for file in files]


@pytest.fixture
def pair(tmp_path, rng):
    vectors, labels = np.linalg.qr(rng.standard_normal((30, 3)))[0], np.repeat([0, 1, 2], 10)
    one = stored(tmp_path / "one", vectors, np.array([1, 0.9, 0.8]), labels)
    # The same space by other coordinates, one value and one label changed.
    turned = vectors @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    other = stored(tmp_path / "two", turned, np.array([1, 0.9, 0.7]), np.where(np.arange(30) == 4, 2, (labels + 1) % 3))
    return {"n": 30, "m": 9, "block": "t00-01", "one": one, "two": other}


def test_the_same_space_in_other_coordinates_is_the_same_space(pair):
    first, second = agreement(pair)
    assert first["sine"] < 1e-12
    assert first["coordinates"] > 0.01
    assert first["values"] == pytest.approx(0.1)
    assert first["labels"] == pytest.approx(29 / 30)
    assert {**second, "trial": 0} == first


def test_the_stage_writes_a_row_for_every_trial(pair, tmp_path):
    out = tmp_path / "agreement.csv"
    command = [
        sys.executable,
        "-m",
        "lssc.report.stages.compare_embeddings",
        "--recipe",
        json.dumps([pair]),
        "--out",
        out,
    ]
    subprocess.run(command, check=True)
    assert [row["trial"] for row in csv.DictReader(out.open())] == ["0", "1"]


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, np.pi / 2])
def test_the_sine_is_that_of_the_largest_angle(angle):
    one = np.eye(5)[:, :2]
    two = np.column_stack([np.eye(5)[:, 0], np.cos(angle) * np.eye(5)[:, 1] + np.sin(angle) * np.eye(5)[:, 4]])
    assert largest_sine(one, two) == pytest.approx(np.sin(angle), abs=1e-15)


def test_a_study_knows_which_files_to_compare(small_config):
    small_config["methods"]["mine"] = {**small_config["methods"]["fsc"], "embedder": "explicit"}
    small_config["experiments"]["line"] |= {"methods": ["fsc", "mine"], "compare": ["fsc", "mine"]}
    study = load(small_config)
    pairs = json.loads(recipes.compare_recipe(study, "line"))
    assert [(pair["m"], pair["block"]) for pair in pairs] == [
        (6, "t00-01"),
        (6, "t02-02"),
        (9, "t00-01"),
        (9, "t02-02"),
    ]
    assert pairs[0]["two"] == [path.replace("landmark_svd", "explicit") for path in pairs[0]["one"]]
    assert any(path.endswith("line/agreement.csv") for path in results.results_of(study, "line"))


WRONG = [
    (["fsc"], '["fsc"] must have 2 entries'),
    (["fsc", "nix"], "'nix' is not run by the experiment; known: esc, fsc, omp"),
    (["fsc", "omp"], "'fsc' and 'omp' must run on the same trials, dataset and m"),
]


@pytest.mark.parametrize(("methods", "line"), WRONG)
def test_methods_that_cannot_be_compared_are_refused(small_config, methods, line):
    small_config["experiments"]["line"]["compare"] = methods
    with pytest.raises(ConfigError, match=r"^config: experiments\.line\.compare: ") as error:
        load(small_config)
    assert line in str(error.value)
