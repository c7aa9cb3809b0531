"""The estimator of k-FSC gives the labels of the pipeline."""

import pytest
from numpy.testing import assert_array_equal

from lssc import KFSC
from lssc.estimators.base import one_blas_thread
from lssc.pipeline.stages.apply_method import apply_method
from lssc.pipeline.stages.generate_data import generate_data
from lssc.pipeline.store.artifacts import reading
from lssc.pipeline.trials import make_artifact


@pytest.mark.parametrize("variant", ["full", "minibatch", "landmarks"])
def test_labels_equal_those_of_the_pipeline(variant, tmp_path):
    model = KFSC(3, dim=4, variant=variant, landmarks=50, passes=2, random_state=5)
    files = {name: tmp_path / f"{name}.h5" for name in ("data", "clusters")}
    common = {"seed": 5, "n": 300, "n_clusters": 3, "block": "t00-00"}
    data = {"kind": "dataset", "name": "synthetic", "params": {"noise": 0.05}}
    name, params = model._parts(300)["method"]
    part = {"kind": "method", "name": name, "params": params}
    # Stages pin BLAS by environment variables, which come too late here.
    with one_blas_thread():
        make_artifact(generate_data, inputs={}, out=files["data"], recipe={**common, "part": data, "unit_norm": True})
        inputs = {"data": files["data"]}
        make_artifact(apply_method, inputs=inputs, out=files["clusters"], recipe={**common, "m": 0, "part": part})
    with reading(files["data"]) as points, reading(files["clusters"]) as clusters:
        assert_array_equal(model.fit(points.array(0, "X")).labels_, clusters.array(0, "labels"))
