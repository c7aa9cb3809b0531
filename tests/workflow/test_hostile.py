"""A real run where folders and texts of config mean something to a shell, Snakemake, a browser or matplotlib."""

import csv
import hashlib
import json
import shutil

import numpy as np
import pytest
from PIL import Image

from tests.conftest import idx_file
from tests.workflow.conftest import REPO, Pipeline

pytestmark = pytest.mark.workflow
HOSTILE = """it's "a" $(touch pwned) `touch pwned`; touch pwned & {wildcards} {n} <script>alert(1)</script> $\\frac$"""
FOLDER = HOSTILE.replace("/", "|")
TITLE = f"{HOSTILE} .. raw:: html"


def files():
    """Name -> content of the four files of a collection of 36 images."""
    rng = np.random.default_rng(3)
    labels, pixels = rng.permutation(np.repeat([0, 1, 2], 12)), rng.integers(256, size=(36, 8, 6))
    arrays = (pixels[:24], labels[:24], pixels[24:], labels[24:])
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    return {f"{name}-ubyte": idx_file(array) for name, array in zip(names, arrays, strict=True)}


def config(folder):
    content = files()
    folder.mkdir()
    for name, raw in content.items():
        (folder / name).write_bytes(raw)
    images = {
        "folder": str(folder),
        "sources": [{"name": "npm", "package": "tiny"}],
        "counts": [12, 12, 12],
        "sha256": {name: hashlib.sha256(raw).hexdigest() for name, raw in content.items()},
        "names": [f"{i} {HOSTILE}"[:99] for i in range(3)],
        "features": {"name": "scattering", "scales": 1, "angles": 2, "side": 8},
        "shard": 36,
    }
    generator = {"name": "images", "collection": "tiny", "dim": 5}
    sizes = {"dataset": "tiny", "n": [36], "m": [9], "trials": 1}
    return {
        "run": ["seen", "tuned"],
        "images": {"tiny": images},
        "datasets": {"tiny": {"label": f"d {HOSTILE}", "generator": generator, "n_clusters": 3, "unit_norm": True}},
        "methods": {
            "mine": {
                "label": f"m {HOSTILE}",
                "selector": "uniform",
                "coder": {"name": "lasso_spams", "lam": 10},
                "embedder": "landmark_svd",
            }
        },
        "experiments": {
            "seen": {
                **sizes,
                "title": TITLE,
                "methods": ["mine"],
                "figures": {"fig": {"x": "m", "y": "accuracy"}},
                "pictures": {"m": 9, "methods": ["mine"]},
            },
            "tuned": {**sizes, "title": TITLE, "sweep": {"mine": {"lam": [3, 10]}}},
        },
    }


def copied(folder):
    folder.mkdir()
    shutil.copy(REPO / "Snakefile", folder)
    for name in ("workflow", "config", "profiles", "envs"):
        shutil.copytree(REPO / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    top = tmp_path_factory.mktemp("hostile")
    # From a path with braces Snakemake does not run at all.
    repo = copied(top / f"repo {FOLDER.replace('{', '(').replace('}', ')')}")
    pipeline = Pipeline(top / f"run {FOLDER}", repo)
    pipeline.config = config(top / f"images {FOLDER}")
    pipeline.finish()
    yield pipeline
    # Whatever the tests did: no name was run.
    assert list(top.rglob("pwned*")) == []
    assert not (REPO / "pwned").exists()


def test_labels_are_in_the_tables_as_they_are(hostile):
    with (hostile.folder / "results/experiments/seen/scores.csv").open(encoding="utf-8", newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == [f"m {HOSTILE}"]
    provenance = json.loads((hostile.folder / "results/experiments/seen/provenance.json").read_text())
    assert provenance["config"]["experiments"]["seen"]["title"] == TITLE


def test_figures_and_pictures_are_drawn(hostile):
    folder = hostile.folder / "results/experiments"
    for name in ("seen/figures/fig", "seen/figures/stages", "seen/pictures/confusion", "tuned/sweep"):
        with Image.open(folder / f"{name}.png") as image:
            assert min(image.size) > 100


def test_the_report_shows_them_escaped(hostile):
    page = (hostile.folder / "results/report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_snakemakes_own_report_holds_no_markup_of_theirs(hostile):
    done = hostile.run("--report", "out.zip")
    assert done.returncode == 0, done.stderr[-4000:]
    shutil.unpack_archive(hostile.folder / "out.zip", hostile.folder / "unpacked")
    page = (hostile.folder / "unpacked/out/report.html").read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "</script> $" not in page


@pytest.mark.parametrize("sign", ["{", ":"])
def test_a_checkout_that_cannot_run_where_it_lies_says_so(tmp_path, sign):
    done = Pipeline(tmp_path / "run", copied(tmp_path / f"a{sign}b")).run("--dry-run")
    assert done.returncode != 0
    assert f"a{sign}b: Snakemake or Python cannot run from a path with {sign!r}; move it" in done.stdout + done.stderr


def test_a_second_run_does_nothing(hostile):
    done = hostile.run()
    assert "Nothing to be done" in done.stdout + done.stderr
