"""Stages on more numbers than memory holds give the results of those that hold all of them."""

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc import types
from lssc.parts import coding
from lssc.pipeline.stages.cluster_points import cluster_points
from lssc.pipeline.stages.code_points import code_points
from lssc.pipeline.stages.embed_points import embed_points
from lssc.pipeline.stages.generate_data import generate_data
from lssc.pipeline.stages.refine_labels import refine_labels
from lssc.pipeline.stages.score_labels import score_labels
from lssc.pipeline.stages.select_landmarks import select_landmarks
from lssc.pipeline.store.artifacts import StoredCodes, reading
from lssc.pipeline.trials import make_artifact

N, M = 90, 12
# Stage, its output, its part and parameters, its inputs, more of its recipe.
STEPS = [
    (generate_data, "data", ("dataset", "synthetic", {"subspace_dim": 2, "noise": 0.02}), [], {"unit_norm": True}),
    (select_landmarks, "landmarks", ("selector", "uniform", {}), ["data"], {"m": M}),
    (code_points, "codes", ("coder", "lasso", {"lam": 10}), ["data", "landmarks"], {}),
    (embed_points, "embedding", ("embedder", "cocluster", {}), ["codes"], {}),
    (cluster_points, "labels", ("clusterer", "kmeans", {}), ["embedding"], {}),
    (
        refine_labels,
        "refined",
        ("refiner", "affine_subspaces", {"max_points": 40}),
        ["data", "embedding", "labels"],
        {},
    ),
]


def run(folder, coder=STEPS[2][2], **recipe_of_codes):
    """All stages, as their files by name."""
    folder.mkdir()
    files = {}
    for stage, makes, (kind, name, params), inputs, more in STEPS:
        kind, name, params = coder if stage is code_points else (kind, name, params)
        more = more | (recipe_of_codes if stage is code_points else {})
        recipe = {"seed": 1, "n": N, "n_clusters": 3, "block": "t00-00", **more}
        recipe["part"] = {"kind": kind, "name": name, "params": params}
        files[makes] = folder / f"{makes}.h5"
        make_artifact(stage, inputs={i: files[i] for i in inputs}, out=files[makes], recipe=recipe)
    recipe = {"seed": 1, "n": N, "n_clusters": 3, "block": "t00-00"}
    make_artifact(score_labels, inputs=dict(files), out=folder / "scores.h5", recipe=recipe, reuse=False)
    return files | {"scores": folder / "scores.h5"}


def arrays(path):
    with reading(path) as reader:
        return reader.record(0).arrays, reader.facts(0)


@pytest.fixture
def streamed(tmp_path, monkeypatch):
    whole = run(tmp_path / "whole")
    monkeypatch.setattr(types, "MAX_IN_MEMORY", N - 1)
    monkeypatch.setattr(coding, "NUMBERS_PER_BLOCK", 7 * 16)
    monkeypatch.setattr("lssc.pipeline.store.artifacts.SPARSE_ROWS_PER_BLOCK", 11)
    return whole, run(tmp_path / "streamed")


def test_results_are_the_same(streamed):
    whole, blocks = streamed
    codes = [arrays(files["codes"])[0] for files in streamed]
    assert_array_equal(codes[1]["codes_indptr"], codes[0]["codes_indptr"])
    assert_array_equal(codes[1]["codes_indices"], codes[0]["codes_indices"])
    assert_allclose(codes[1]["codes_data"], codes[0]["codes_data"], rtol=1e-6)
    vectors = [arrays(files["embedding"])[0]["vectors"] for files in streamed]
    assert_allclose(vectors[1], vectors[0], atol=1e-4)
    for made in ("labels", "refined"):
        assert_array_equal(arrays(blocks[made])[0]["labels"], arrays(whole[made])[0]["labels"])
    scores = [arrays(files["scores"])[1]["scores"] for files in streamed]
    assert [s["accuracy"] for s in scores] == [scores[0]["accuracy"]] * 2
    assert scores[0]["accuracy"] > 0.9


def test_codes_take_eight_bytes_a_nonzero_and_are_read_by_rows(streamed):
    with reading(streamed[1]["codes"]) as reader:
        stored = reader.codes(0, "codes")
        assert isinstance(stored, StoredCodes)
        assert stored[slice(11, 22)].shape == (11, M)
        matrix = reader.csr(0, "codes")
        assert_array_equal(stored[slice(11, 22)].toarray(), matrix[11:22].toarray())
    with h5py.File(streamed[1]["codes"]) as file:
        assert [file[f"trial_000/codes_{part}"].dtype for part in ("data", "indices")] == [np.float32, np.int32]


def test_facts_cover_all_blocks(streamed):
    whole, blocks = (arrays(files["codes"])[1] for files in streamed)
    assert blocks["n_uncoded"] == whole["n_uncoded"]
    assert blocks["converged"] is True
    assert blocks["n_unsolved"] == 0
    assert blocks["seconds"] > 0
    assert blocks["peak_mb"] > 10
    assert set(whole) <= set(blocks)


def test_part_under_limits_holds_its_result(tmp_path, monkeypatch):
    """The limit ends the part, which must therefore do its work before it returns."""
    monkeypatch.setattr(types, "MAX_IN_MEMORY", N - 1)
    files = run(tmp_path / "limited", time_limit=60)
    assert arrays(files["codes"])[0]["codes_data"].dtype == np.float64


def test_coder_that_looks_at_all_points_gets_all_of_them(tmp_path, monkeypatch):
    """The width of an anchor graph is a mean over all points: blocks of them would have other widths."""
    coder = ("coder", "anchor_graph", {"exclude_self": False})
    whole = arrays(run(tmp_path / "whole", coder)["codes"])[0]
    monkeypatch.setattr(types, "MAX_IN_MEMORY", N - 1)
    monkeypatch.setattr(coding, "NUMBERS_PER_BLOCK", 7 * 16)
    streamed = arrays(run(tmp_path / "streamed", coder)["codes"])[0]
    assert_allclose(streamed["codes_data"], whole["codes_data"], rtol=1e-9)
