"""Stages report inputs and parameters that they cannot work with in one line."""

import numpy as np
import pytest

from lssc.errors import DamagedArtifact, InputError
from lssc.pipeline.stages.code_points import code_points
from lssc.pipeline.stages.embed_points import embed_points
from lssc.pipeline.stages.generate_data import generate_data
from lssc.pipeline.store.artifacts import Record, reading, writing
from lssc.pipeline.trials import make_artifact

N = 12


def recipe(kind, name, **params):
    part = {"kind": kind, "name": name, "params": params}
    return {"seed": 1, "n": N, "n_clusters": 2, "block": "t00-00", "part": part}


def write(path, **arrays):
    with writing(path) as writer:
        writer.add(0, Record({name: np.asarray(array) for name, array in arrays.items()}))
    return path


@pytest.fixture
def inputs(tmp_path):
    X = np.random.default_rng(0).normal(size=(N, 4))
    data = write(tmp_path / "data.h5", X=X, labels=np.zeros(N, dtype=int))
    return {"data": data, "landmarks": write(tmp_path / "landmarks.h5", indices=np.arange(N))}


@pytest.mark.parametrize(
    ("wrong", "problem"), [(N, "not from 0 to 11"), (-1, "not from 0 to 11"), (3, "needs .* or more, each once")]
)
def test_code_points_refuses_landmarks_that_are_no_points_or_repeat(inputs, tmp_path, wrong, problem):
    write(inputs["landmarks"], indices=[wrong, *range(1, N)])
    with pytest.raises(DamagedArtifact, match=rf"landmarks\.h5: .*{problem}"):
        make_artifact(code_points, inputs=inputs, out=tmp_path / "out.h5", recipe=recipe("coder", "lasso", lam=10.0))


def test_code_points_reports_singular_matrix(inputs, tmp_path):
    write(inputs["data"], X=0.1 * np.eye(1, 4).repeat(N, axis=0), labels=np.zeros(N, dtype=int))
    wrong = recipe("coder", "admm_modified", alpha=1.7e308, plain=True)
    with pytest.raises(InputError, match=r"^admm_modified cannot work with its input and parameters in trial 0: "):
        make_artifact(code_points, inputs=inputs, out=tmp_path / "out.h5", recipe=wrong)


def test_embed_points_refuses_codes_of_more_landmarks_than_points(inputs, tmp_path):
    codes = tmp_path / "codes.h5"
    make_artifact(code_points, inputs=inputs, out=codes, recipe=recipe("coder", "lasso", lam=10.0))
    with reading(codes) as reader:
        arrays = {**reader.record(0).arrays, "codes_shape": np.array([N, N + 1])}
    write(codes, **arrays)
    with pytest.raises(DamagedArtifact, match="codes of 13 landmarks, which cannot be embedded"):
        make_artifact(
            embed_points, inputs={"codes": codes}, out=tmp_path / "out.h5", recipe=recipe("embedder", "affinity")
        )


@pytest.mark.parametrize("noise", [1e155, 1.7e308])
@pytest.mark.parametrize("unit_norm", [True, False])
def test_generate_data_refuses_points_too_large_for_compiled_code(tmp_path, noise, unit_norm):
    made = {"unit_norm": unit_norm, **recipe("dataset", "synthetic", noise=noise)}
    with pytest.raises(InputError, match=r"'synthetic' returned values that are not finite, or beyond 1e\+100"):
        make_artifact(generate_data, inputs={}, out=tmp_path / "data.h5", recipe=made)
