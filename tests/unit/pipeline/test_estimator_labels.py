"""Estimators give the labels of the pipeline for the same points, parameters and seed."""

import pytest
from numpy.testing import assert_array_equal

import lssc
from lssc.estimators.base import one_blas_thread
from lssc.pipeline.stages.cluster_points import cluster_points
from lssc.pipeline.stages.code_points import code_points
from lssc.pipeline.stages.embed_points import embed_points
from lssc.pipeline.stages.generate_data import generate_data
from lssc.pipeline.stages.select_landmarks import select_landmarks
from lssc.pipeline.store.artifacts import reading
from lssc.pipeline.trials import make_artifact

N, K, SEED = 300, 3, 5
# The stages in order: the artifact that each makes, the kind of part it runs, and the artifacts it reads.
STAGES = {
    "landmarks": (select_landmarks, "selector", ["data"]),
    "codes": (code_points, "coder", ["data", "landmarks"]),
    "embedding": (embed_points, "embedder", ["codes"]),
    "labels": (cluster_points, "clusterer", ["embedding"]),
}
# The points are at unit norm already; scaled again, their last bits could change.
COMMON = {"n_clusters": K, "unit_norm": False, "random_state": SEED}


class CentresFSC(lssc.FSC):
    """FSC with centres of K-means as landmarks."""

    def _parts(self, n):
        return {**super()._parts(n), "selector": ("kmeans", {"centres": True})}


ESTIMATORS = {
    "FSC": lssc.FSC(n_landmarks=40, lam=10.0, **COMMON),
    "FSC_kmedoids": lssc.FSC(n_landmarks=40, landmarks="kmedoids", scale_rows=True, lam=20.0, **COMMON),
    "FSC_centres": CentresFSC(n_landmarks=40, lam=10.0, **COMMON),
    "ESC": lssc.ESC(n_landmarks=30, lam=10.0, t=5, **COMMON),
    "LSC": lssc.LSC(n_landmarks=40, **COMMON),
    "LSC_uniform": lssc.LSC(n_landmarks=40, landmarks="uniform", r=3, **COMMON),
    "EnSC": lssc.EnSC(**COMMON),
    "ADSSC": lssc.ADSSC(**COMMON),
    "ADSSC_elastic": lssc.ADSSC(eta1=0.1, eta2=0.01, eta3=0.1, **COMMON),
    "SSC": lssc.SSC(lam=5.0, **COMMON),
    "SSCOMP": lssc.SSCOMP(k=3, **COMMON),
    "S5C": lssc.S5C(n_landmarks=40, **COMMON),
    "TSC": lssc.TSC(q=4, **COMMON),
    "SSCADMM": lssc.SSCADMM(**COMMON),
    "SSCADMM_original": lssc.SSCADMM(modified=False, n_init=3, **COMMON),
}


def run_stages(folder, estimator):
    """Run the stages of the estimator's method on trial 0; the artifacts."""
    files = {name: folder / f"{name}.h5" for name in ("data", *STAGES)}
    common = {"seed": SEED, "n": N, "n_clusters": K, "block": "t00-00"}
    drawn = {"kind": "dataset", "name": "synthetic", "params": {"noise": 0.05}}
    make_artifact(generate_data, inputs={}, out=files["data"], recipe={**common, "part": drawn, "unit_norm": True})
    for made, (stage, kind, inputs) in STAGES.items():
        name, params = estimator._parts(N)[kind]
        part = {"kind": kind, "name": name, "params": params}
        recipe = {**common, "m": estimator._n_landmarks(N), "part": part}
        make_artifact(stage, inputs={name: files[name] for name in inputs}, out=files[made], recipe=recipe)
    return files


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)
def test_labels_equal_those_of_the_stages(estimator, tmp_path):
    # Stages pin BLAS by environment variables, which come too late here.
    with one_blas_thread():
        files = run_stages(tmp_path, estimator)
    with reading(files["data"]) as data:
        model = estimator.fit(data.array(0, "X"))
    for file, array, ours in (
        ("landmarks", "indices", model.landmark_indices_),
        ("codes", "codes_data", model.codes_.data),
        ("embedding", "vectors", model.embedding_),
        ("labels", "labels", model.labels_),
    ):
        with reading(files[file]) as artifact:
            assert_array_equal(ours, artifact.array(0, array))
