"""Labels depend on points, parameters and random_state alone; `verbose` shows what is done."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

import lssc
from lssc.data.datasets.synthetic import synthetic
from lssc.estimators import inputs
from lssc.kernels import lasso

# Large enough for BLAS to use several threads.
N = 1000
ESTIMATORS = {
    "FSC": lssc.FSC(3, n_landmarks=200, random_state=0),
    "kmedoids": lssc.FSC(3, n_landmarks=200, landmarks="kmedoids", random_state=0),
    "ESC": lssc.ESC(3, n_landmarks=40, t=5, random_state=0),
    "LSC": lssc.LSC(3, n_landmarks=200, random_state=0),
    "EnSC": lssc.EnSC(3, random_state=0),
    "ADSSC": lssc.ADSSC(3, random_state=0),
    "SSC": lssc.SSC(3, random_state=0),
    "SSCOMP": lssc.SSCOMP(3, k=3, random_state=0),
    "SSCADMM": lssc.SSCADMM(3, random_state=0),
    "S5C": lssc.S5C(3, n_landmarks=20, random_state=0),
    "TSC": lssc.TSC(3, q=4, random_state=0),
}
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)


@pytest.fixture(scope="module")
def many():
    return synthetic(N, n_clusters=2, ambient_dim=40, subspace_dim=3, rng=np.random.default_rng(0)).X


def results(estimator, points, blas_threads, n_jobs):
    with threadpool_limits(blas_threads, user_api="blas"):
        model = clone(estimator).set_params(n_jobs=n_jobs).fit(points)
        new = model.transform(points[:300] * 0.5) if hasattr(model, "transform") else None
    return model.labels_, model.embedding_, model.codes_.data, new


@every_estimator
@pytest.mark.parametrize(("blas_threads", "n_jobs"), [(1, None), (1, 2), (2, 1), (2, -1)])
def test_results_do_not_depend_on_the_number_of_threads(estimator, many, blas_threads, n_jobs):
    for array, expected in zip(
        results(estimator, many, blas_threads, n_jobs), results(estimator, many, 1, 1), strict=True
    ):
        assert_array_equal(array, expected)


class Watched(lssc.FSC):
    """Records the threads that BLAS has while parts run."""

    def _run(self, *args, **kwargs):
        self.seen = getattr(self, "seen", []) + blas_threads()
        return super()._run(*args, **kwargs)

    def _embed_new(self, points):
        self.seen += blas_threads()
        return super()._embed_new(points)


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_parts_run_with_one_blas_thread_and_others_with_theirs(X):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        model = Watched(3, n_landmarks=20, random_state=0).fit(X)
        model.predict(X)
        assert blas_threads() == before
    assert len(model.seen) >= 5
    assert set(model.seen) == {1}


def test_threads_of_blas_are_restored_after_an_error(X):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ValueError, match="repeat"):
            lssc.FSC(3, landmarks=[0, 0, 1]).fit(X)
        assert blas_threads() == before


@every_estimator
def test_verbose_prints_every_step(estimator, X, capsys):
    clone(estimator).set_params(verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["selector", "coder", "embedder", "clusterer"]
    assert all(line.startswith(f"[{type(estimator).__name__}] ") and line.endswith(" s") for line in lines)


def test_is_silent_by_default(X, capsys):
    lssc.FSC(3, n_landmarks=20, random_state=0).fit(X).predict(X)
    assert capsys.readouterr().out == ""


def test_verbose_shows_progress_in_many_blocks(X, capsys, monkeypatch):
    """At most ten lines, however many blocks there are."""
    monkeypatch.setattr(lasso, "POINTS_PER_READ", 1)
    model = lssc.FSC(3, n_landmarks=20, random_state=0, verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "%" in line] == [
        f"[FSC] {share}% of the points coded" for share in range(10, 100, 10)
    ]
    assert lines.index("[FSC] 90% of the points coded") < next(i for i, line in enumerate(lines) if "coder" in line)
    monkeypatch.setattr(inputs, "ROWS_PER_BLOCK", 30)
    model.predict(X)
    assert capsys.readouterr().out == "[FSC] 50% of the points coded\n"
