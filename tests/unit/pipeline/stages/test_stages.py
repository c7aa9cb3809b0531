"""Stages report inputs and parameters that they cannot work with in one line."""

import numpy as np
import pytest

from lssc.errors import InputError
from lssc.pipeline.stages.code_points import code_points
from lssc.pipeline.stages.generate_data import generate_data
from lssc.pipeline.store.artifacts import Record, writing
from lssc.pipeline.trials import make_artifact

N = 12


def recipe(kind, name, **params):
    part = {"kind": kind, "name": name, "params": params}
    return {"seed": 1, "n": N, "n_clusters": 2, "block": "t00-00", "part": part}


def test_code_points_reports_singular_matrix(tmp_path):
    arrays = {"data": {"X": 0.1 * np.eye(1, 4).repeat(N, axis=0)}, "landmarks": {"indices": np.arange(N)}}
    inputs = {name: tmp_path / f"{name}.h5" for name in arrays}
    for name, path in inputs.items():
        with writing(path) as writer:
            writer.add(0, Record(arrays[name]))
    wrong = recipe("coder", "admm_modified", alpha=1.7e308, plain=True)
    with pytest.raises(InputError, match=r"^admm_modified cannot work with its input and parameters in trial 0: "):
        make_artifact(code_points, inputs=inputs, out=tmp_path / "out.h5", recipe=wrong)


@pytest.mark.parametrize("noise", [1e155, 1.7e308])
@pytest.mark.parametrize("unit_norm", [True, False])
def test_generate_data_refuses_points_too_large_for_compiled_code(tmp_path, noise, unit_norm):
    made = {"unit_norm": unit_norm, **recipe("dataset", "synthetic", noise=noise)}
    with pytest.raises(InputError, match=r"'synthetic' returned values that are not finite, or beyond 1e\+100"):
        make_artifact(generate_data, inputs={}, out=tmp_path / "data.h5", recipe=made)
