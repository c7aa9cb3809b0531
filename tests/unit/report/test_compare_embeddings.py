"""Agreement of two methods, trial by trial."""

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


def write_method(folder, vectors, values, labels):
    """The files of a method, two trials each."""
    files = folder / "embedding.h5", folder / "labels.h5"
    folder.mkdir()
    with writing(files[0]) as embedding, writing(files[1]) as clusters:
        for trial in (0, 1):
            embedding.add(trial, Record({"vectors": vectors, "values": values}))
            clusters.add(trial, Record({"labels": labels}))
    return files


PAIR = {"n": 30, "m": 9, "block": "t00-01"}


@pytest.fixture
def files(tmp_path, rng):
    """Two methods: the same space in other coordinates, one value and one label changed."""
    vectors, labels = np.linalg.qr(rng.standard_normal((30, 3)))[0], np.repeat([0, 1, 2], 10)
    turned = vectors @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    one = write_method(tmp_path / "one", vectors, np.array([1, 0.9, 0.8]), labels)
    changed = np.where(np.arange(30) == 4, 2, (labels + 1) % 3)
    return [*one, *write_method(tmp_path / "two", turned, np.array([1, 0.9, 0.7]), changed)]


def test_agreement_of_one_space_in_two_sets_of_coordinates(files):
    first, second = agreement(PAIR, *files)
    assert first["sine"] < 1e-12
    assert first["coordinates"] > 0.01
    assert first["values"] == pytest.approx(0.1)
    assert first["labels"] == pytest.approx(29 / 30)
    assert {**second, "trial": 0} == first


def test_stage_writes_a_row_for_every_pair_and_trial(files, tmp_path):
    out = tmp_path / "agreement.csv"
    pairs = json.dumps([PAIR, {**PAIR, "m": 12}])
    command = [sys.executable, "-m", "lssc.report.stages.compare_embeddings", "--pairs", pairs]
    subprocess.run([*command, "--files", *files, *files[2:], *files[:2], "--out", out], check=True)
    rows = [(row["m"], row["trial"]) for row in csv.DictReader(out.open())]
    assert rows == [("9", "0"), ("9", "1"), ("12", "0"), ("12", "1")]


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, np.pi / 2])
def test_largest_sine_is_that_of_the_largest_angle(angle):
    one = np.eye(5)[:, :2]
    two = np.column_stack([np.eye(5)[:, 0], np.cos(angle) * np.eye(5)[:, 1] + np.sin(angle) * np.eye(5)[:, 4]])
    assert largest_sine(one, two) == pytest.approx(np.sin(angle), abs=1e-15)


def test_files_to_compare_follow_the_pairs(small_config):
    small_config["methods"]["mine"] = {**small_config["methods"]["fsc"], "embedder": "explicit"}
    small_config["experiments"]["line"] |= {"methods": ["fsc", "mine"], "compare": ["fsc", "mine"]}
    study = load(small_config)
    pairs, files = json.loads(recipes.compare_recipe(study, "line")), results.compared_files(study, "line")
    assert [(pair["m"], pair["block"]) for pair in pairs] == [(m, b) for m in (6, 9) for b in ("t00-01", "t02-02")]
    assert len(files) == 4 * len(pairs)
    for place, pair in enumerate(pairs):
        four = files[4 * place : 4 * place + 4]
        assert all(f"/{pair['block']}/uniform-m{pair['m']}/" in path for path in four)
        assert four[2:] == [path.replace("landmark_svd", "explicit") for path in four[:2]]
        assert [path.rpartition("/")[2] for path in four] == ["embedding.h5", "labels.h5"] * 2
    assert any(path.endswith("line/agreement.csv") for path in results.results_of(study, "line"))


def test_methods_in_other_blocks_cannot_be_compared(small_config):
    small_config["methods"]["mine"] = {**small_config["methods"]["fsc"], "embedder": "explicit"}
    line = small_config["experiments"]["line"]
    line |= {"methods": ["fsc", "mine"], "overrides": {"mine": {"block": 1}}}
    blocks = [(run.method.id, str(run.block)) for run in load(small_config).experiments["line"].runs() if run.m == 6]
    assert blocks == [("fsc", "t00-01"), ("fsc", "t02-02"), *[("mine", f"t0{i}-0{i}") for i in range(3)]]
    line["compare"] = ["fsc", "mine"]
    with pytest.raises(ConfigError, match="must run on the same trials in the same blocks"):
        load(small_config)


WRONG = [
    (["fsc"], '["fsc"] must have 2 entries'),
    (["fsc", "nix"], "'nix' is not run by the experiment; known: esc, fsc, omp"),
    (["fsc", "omp"], "'fsc' and 'omp' must run on the same trials in the same blocks, dataset and m"),
]


@pytest.mark.parametrize(("methods", "line"), WRONG)
def test_refuses_methods_that_cannot_be_compared(small_config, methods, line):
    small_config["experiments"]["line"]["compare"] = methods
    with pytest.raises(ConfigError, match=r"^config: experiments\.line\.compare: ") as error:
        load(small_config)
    assert line in str(error.value)
