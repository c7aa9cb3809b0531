"""A real run whose folders, labels and titles hold signs that shells, Snakemake, browsers and matplotlib interpret."""

import csv
import hashlib
import json
import shutil

import pytest
from PIL import Image

from tests.workflow.conftest import Pipeline, copy_checkout

pytestmark = pytest.mark.workflow
UNUSUAL = """it's "a" $(touch executed) `touch executed`; & {wildcards} {n} <script>alert(1)</script> $\\frac$ 100 %"""
FOLDER = UNUSUAL.replace("/", "|")


def config(folder, files):
    folder.mkdir()
    for name, raw in files.items():
        (folder / name).write_bytes(raw)
    images = {
        "folder": str(folder),
        "sources": [],
        "counts": [14, 12, 10],
        "sha256": {name: hashlib.sha256(raw).hexdigest() for name, raw in files.items()},
        "names": [f"{i} {UNUSUAL}"[:99] for i in range(3)],
        "features": {"name": "scattering", "scales": 1, "angles": 2, "side": 8},
        "shard": 36,
    }
    generator = {"name": "images", "collection": "tiny", "dim": 5}
    coder = {"name": "lasso_spams", "lam": 10}
    sizes = {"title": UNUSUAL, "dataset": "tiny", "n": [36], "m": [9], "trials": 1}
    figures = {"figures": {"fig": {"x": "m", "y": "accuracy"}}, "pictures": {"m": 9, "methods": ["mine"]}}
    return {
        "run": ["seen", "tuned"],
        "images": {"tiny": images},
        "datasets": {"tiny": {"label": UNUSUAL, "generator": generator, "n_clusters": 3, "unit_norm": True}},
        "methods": {"mine": {"label": UNUSUAL, "selector": "uniform", "coder": coder, "embedder": "landmark_svd"}},
        "experiments": {
            "seen": {**sizes, "methods": ["mine"], **figures},
            "tuned": {**sizes, "sweep": {"mine": {"lam": [3, 10]}}},
        },
    }


@pytest.fixture(scope="module")
def unusual(tmp_path_factory, tiny_files):
    top = tmp_path_factory.mktemp("unusual")
    # Snakemake cannot run from a path with braces.
    checkout = copy_checkout(top / f"repo {FOLDER.replace('{', '(').replace('}', ')')}")
    pipeline = Pipeline(top / f"run {FOLDER}", checkout)
    pipeline.config = config(top / f"images {FOLDER}", tiny_files)
    pipeline.finish()
    yield pipeline
    assert list(top.rglob("executed*")) == []


def test_tables_and_figures_show_labels_as_they_are(unusual):
    folder = unusual.folder / "results/experiments"
    with (folder / "seen/scores.csv").open(encoding="utf-8", newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == [UNUSUAL]
    provenance = json.loads((folder / "seen/provenance.json").read_text())
    assert provenance["config"]["experiments"]["seen"]["title"] == UNUSUAL
    for name in ("seen/figures/fig", "seen/figures/stages", "seen/pictures/confusion", "tuned/sweep"):
        with Image.open(folder / f"{name}.png") as image:
            assert min(image.size) > 100


def test_pages_escape_labels(unusual):
    page = (unusual.folder / "results/report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    done = unusual.run("--report", "out.zip")
    assert done.returncode == 0, done.stderr[-4000:]
    shutil.unpack_archive(unusual.folder / "out.zip", unusual.folder / "unpacked")
    page = (unusual.folder / "unpacked/out/report.html").read_text(encoding="utf-8")
    assert "alert(1)" in page
    assert "<script>alert" not in page
    assert "</script> $" not in page


@pytest.mark.parametrize("sign", ["{", ":"])
def test_refuses_to_run_from_a_path_that_snakemake_cannot_handle(tmp_path, sign):
    done = Pipeline(tmp_path / "run", copy_checkout(tmp_path / f"a{sign}b")).run("--dry-run")
    assert done.returncode != 0
    assert f"a{sign}b: Snakemake or Python cannot run from a path with {sign!r}; move it" in done.stdout + done.stderr


def test_second_run_does_nothing(unusual):
    done = unusual.run()
    assert "Nothing to be done" in done.stdout + done.stderr
