"""A run on a table from a local folder, without a network; and the tables of config, as their sources give them."""

import csv
import hashlib
import json

import h5py
import numpy as np
import pytest
import yaml

from lssc.errors import InputError
from lssc.pipeline.stages.fetch_table import fetch
from lssc.pipeline.study import recipes
from lssc.pipeline.study.load import load
from tests.workflow.conftest import REPO, Pipeline

pytestmark = pytest.mark.workflow
N = 90


@pytest.fixture
def pipeline(tmp_path):
    """Three classes of 30 points in a file of the user's."""
    rng = np.random.default_rng(4)
    X = np.repeat(np.eye(3), N // 3, axis=0) @ rng.normal(size=(3, 5)) * 9 + rng.normal(size=(N, 5)) + 100
    rows = "".join(f"{','.join(map(repr, x.tolist()))},{'abc'[i // 30]}\n" for i, x in enumerate(X))
    (tmp_path / "own").mkdir()
    (tmp_path / "own/made.dat").write_text(rows)
    pipeline = Pipeline(tmp_path / "run")
    pipeline.config |= {
        "run": ["made", "landmarks"],
        "tables": {
            "made": {
                "folder": str(tmp_path / "own"),
                "sources": [],
                "reader": "text",
                "counts": [30, 30, 30],
                "columns": 5,
                "sha256": {"made.dat": hashlib.sha256(rows.encode()).hexdigest()},
            }
        },
        "datasets": {
            "made": {"generator": {"name": "table", "table": "made", "standardise": True}, "unit_norm": True},
        },
    }
    pipeline.config["experiments"]["made"] = {
        "dataset": "made",
        "n": "all",
        "m": [10],
        "trials": 2,
        "methods": ["fsc_uniform", "kmeans"],
    }
    pipeline.config["experiments"]["landmarks"] = {"n": [50], "m": [10], "trials": 1, "methods": ["fsc_uniform"]}
    return pipeline


def test_table_of_a_local_folder_is_fetched_once_and_scored(pipeline):
    jobs = pipeline.finish()
    assert jobs["fetch_table"] == 1
    folder = pipeline.folder / "results/experiments/made"
    rows = list(csv.DictReader((folder / "scores.csv").open()))
    assert [(row["method"], row["n"]) for row in rows] == [*[("fsc_uniform", "90")] * 2, *[("kmeans", "90")] * 2]
    assert max(float(row["accuracy"]) for row in rows) > 0.9
    assert (
        json.loads((folder / "provenance.json").read_text())["images"]["made"]["source"] == "a folder named in config"
    )
    with h5py.File(pipeline.folder / "results/made/n90/t00-01/data.h5") as file:
        np.testing.assert_allclose(np.linalg.norm(file["trial_000/X"], axis=1), 1)
    pipeline.config["datasets"]["made"]["generator"]["whiten"] = True
    planned = pipeline.planned()
    assert planned["generate_data"] == 1
    assert "fetch_table" not in planned


def test_wrong_table_is_reported_in_one_line_and_other_experiments_finish(pipeline):
    path = pipeline.folder.parent / "own/made.dat"
    path.write_text(path.read_text().replace(",a", ",b", 1))
    done = pipeline.run()
    assert done.returncode != 0
    [line] = [line.strip() for line in done.stderr.splitlines() if "table made: " in line]
    assert line.startswith(f"table made: {path.parent}: made.dat: its SHA-256 is ")
    assert (pipeline.folder / "results/experiments/landmarks/scores.csv").is_file()
    assert not (pipeline.folder / "data/made/points.h5").exists()


CONFIG = yaml.safe_load((REPO / "config/config.yaml").read_text())


@pytest.mark.parametrize("table", CONFIG["tables"])
def test_sources_of_config_give_its_tables(table, tmp_path):
    recipe = json.loads(recipes.table_recipe(load(CONFIG), table))
    try:
        _, fetched = fetch(recipe, tmp_path)
    except InputError as error:
        # A wrong file is an error, a missing network is not.
        if any(word in str(error) for word in ("SHA-256", "counts in config", "columns in config", "has no")):
            raise
        pytest.skip(str(error))
    assert fetched.X.shape == (sum(recipe["counts"]), recipe["columns"])
    assert np.isfinite(fetched.X).all()
