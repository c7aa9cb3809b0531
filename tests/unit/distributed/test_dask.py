"""Fits on Dask arrays: the labels of the fit in memory, whatever the chunks, the scheduler and the workers' fate."""

import contextlib
import os
import signal
import threading

import dask
import numpy as np
import pytest
from dask import array as da
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import lssc
from lssc.distributed import blocks, points
from lssc.distributed.memory import LostWorkersWarning
from lssc.estimators.base import UncodedPointsWarning

ROWS_PER_BLOCK = 100
CHUNKS = [(37,), (600,), (1, 199, 400)]
MODELS = {
    "FSC": lssc.FSC(3, n_landmarks=40, lam=20.0, random_state=0),
    "medoids": lssc.FSC(3, n_landmarks=40, landmarks="kmedoids", random_state=0),
    "rows, in any order": lssc.FSC(3, landmarks=[599, *range(0, 390, 10)], random_state=0),
    "affine, own lengths": lssc.FSC(3, n_landmarks=40, affine=True, unit_norm=False, random_state=0),
    "centres": lssc.FSC(3, n_landmarks=40, landmarks="kmeans", random_state=0),
    "number of clusters": lssc.FSC(None, n_landmarks=60, random_state=0),
    "refined": lssc.RefinedFSC(3, n_landmarks=40, random_state=0),
    "refined from a sample": lssc.RefinedFSC(3, n_landmarks=40, max_points=300, random_state=0),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(200, 3)) @ rng.normal(size=(3, 12)) for _ in range(3)])
    return rng.permutation(X + rng.normal(scale=0.2, size=X.shape))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks, and more points than any sample."""
    monkeypatch.setattr(points, "ROWS_PER_BLOCK", ROWS_PER_BLOCK)


@contextlib.contextmanager
def two_processes():
    from distributed import Client, LocalCluster

    workers = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GB", "host": "127.0.0.1"}
    with LocalCluster(dashboard_address=None, **workers) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def client():
    """Two processes on this machine."""
    with two_processes() as client:
        yield client


def in_memory(model, X):
    return clone(model).fit(X)


@every_model
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_labels_are_those_of_the_fit_in_memory(model, X, chunks, scheduler):
    expected = in_memory(model, X)
    with dask.config.set(scheduler=scheduler):
        fitted = clone(model).fit(da.from_array(X, chunks=(*chunks, -1) if len(chunks) == 1 else (chunks, -1)))
        assert isinstance(fitted.labels_, da.Array)
        assert_array_equal(fitted.labels_.compute(), expected.labels_)
        assert_array_equal(fitted.landmark_indices_, expected.landmark_indices_)
        assert fitted.n_clusters_ == expected.n_clusters_
        # Codes are in single precision.
        assert_allclose(np.abs(fitted.embedding_.compute()), np.abs(expected.embedding_), atol=1e-4)
        assert fitted.inertia_ == pytest.approx(expected.inertia_, rel=1e-4)


@every_model
def test_labels_are_the_same_on_two_processes(model, X, client):
    fitted = clone(model).fit(da.from_array(X, chunks=(130, -1)))
    assert_array_equal(fitted.labels_.compute(), in_memory(model, X).labels_)


@pytest.mark.parametrize("chunks", [37, 100, 600])
def test_coordinates_do_not_depend_on_chunks_to_the_last_bit(X, chunks):
    with dask.config.set(scheduler="synchronous"):
        one, other = (
            clone(MODELS["FSC"]).fit(da.from_array(X, chunks=(size, -1))).embedding_.compute() for size in (100, chunks)
        )
    assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["FSC", "refined"])
def test_new_points_are_labelled_when_they_are_computed(X, name):
    expected = in_memory(MODELS[name], X)
    with dask.config.set(scheduler="synchronous"):
        fitted = clone(MODELS[name]).fit(da.from_array(X, chunks=(130, -1)))
        new = da.from_array(X[::3], chunks=(70, 5))
        with pytest.warns(UserWarning, match="columns in 3 chunks"):
            labels, vectors = fitted.predict(new), fitted.transform(new)
        assert isinstance(labels, da.Array)
        assert labels.shape == (200,)
        assert vectors.shape == (200, expected.embedding_.shape[1])
        assert_array_equal(labels.compute(), expected.predict(X[::3]))
        assert_allclose(np.abs(vectors.compute()), np.abs(expected.transform(X[::3])), atol=1e-4)


def test_model_of_an_array_in_memory_labels_a_dask_array(X):
    model = in_memory(MODELS["refined"], X)
    with dask.config.set(scheduler="synchronous"):
        new = da.from_array(X, chunks=(70, -1))
        assert_array_equal(model.predict(new).compute(), model.predict(X))
        assert_allclose(model.score_samples(new).compute(), model.score_samples(X))


@pytest.mark.parametrize("name", ["FSC", "refined from a sample", "medoids"])
def test_client_gets_no_array_of_all_rows(X, name, monkeypatch):
    largest = []

    def watched(task, compute=blocks.compute):
        result = compute(task)
        arrays = result if isinstance(result, tuple) else (result,)
        largest.extend(max(array.shape, default=0) for array in arrays if isinstance(array, np.ndarray))
        return result

    monkeypatch.setattr(blocks, "compute", watched)
    model = clone(MODELS[name]).set_params(lam=10.0)
    model.fit(da.from_array(X, chunks=(130, -1)))
    assert largest
    assert max(largest) < 100


# A cluster for each: after a kill, Dask does not always start another worker.
@pytest.mark.slow
@pytest.mark.parametrize(("name", "after"), [("FSC", 0.0), ("refined", 0.05), ("FSC", 0.2)])
def test_killed_worker_changes_nothing_but_time(X, name, after):
    """SIGKILL at several moments of the fit; Dask makes the lost blocks again."""
    expected = in_memory(MODELS[name], X).labels_
    with two_processes() as client:
        victim = min(client.run(os.getpid).values())
        kill = threading.Timer(after, os.kill, (victim, signal.SIGKILL))
        kill.start()
        for _ in range(3):
            labels = clone(MODELS[name]).fit(da.from_array(X, chunks=(37, -1))).labels_.compute()
            assert_array_equal(labels, expected)
        kill.join()


@pytest.mark.slow
def test_killed_worker_loses_no_results_of_a_fit(X):
    with two_processes() as client:
        fitted = clone(MODELS["FSC"]).fit(da.from_array(X, chunks=(37, -1)))
        os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)
        assert_array_equal(fitted.labels_.compute(), in_memory(MODELS["FSC"], X).labels_)


@pytest.mark.slow
def test_worker_out_of_memory_is_told_which_chunks_fit(monkeypatch):
    from distributed import Client, KilledWorker, LocalCluster

    monkeypatch.setattr(points, "ROWS_PER_BLOCK", 1_000_000)
    workers = {"n_workers": 1, "threads_per_worker": 1, "memory_limit": "400MB", "host": "127.0.0.1"}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(dashboard_address=None, **workers) as cluster,
        Client(cluster),
        pytest.warns(LostWorkersWarning, match=r"chunks of at most \d+ MB fit: X.rechunk"),
        pytest.raises(KilledWorker),
    ):
        MODELS["FSC"].fit(da.random.default_rng(0).random((6_000_000, 12), chunks=(6_000_000, -1)))


def test_tasks_are_named_by_their_step(X, client):
    clone(MODELS["refined"]).fit(da.from_array(X, chunks=(130, -1)))
    names = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))
    assert {"code_points", "lower_gram", "coordinates", "best_start", "search_sample"} <= names


@pytest.mark.parametrize("scheduler", ["synchronous", "processes"])
def test_codes_in_files_give_the_same_labels(X, scheduler, tmp_path, client):
    model = clone(MODELS["FSC"]).set_params(spill=tmp_path / "codes")
    with dask.config.set(scheduler="synchronous" if scheduler == "synchronous" else client):
        fitted = model.fit(da.from_array(X, chunks=(130, -1)))
        assert_array_equal(fitted.labels_.compute(), in_memory(MODELS["FSC"], X).labels_)
    assert len(list((tmp_path / "codes").rglob("codes-*.h5"))) == len(X) // ROWS_PER_BLOCK


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: da.from_array(X, chunks=(130, -1))[:, 0], "Found array with dim 1, while FSC expected 2."),
        (lambda X: da.from_array(X, chunks=(130, -1)).astype(complex), "Complex data not supported"),
        (lambda X: da.from_array(X, chunks=(130, -1))[:1], "Found array with 1 sample"),
        (lambda X: (x := da.from_array(X, chunks=(130, -1)))[x[:, 0] > 0], "chunks of unknown size; call X.compute"),
        (lambda X: da.from_array(np.where(np.arange(600)[:, None] == 457, np.nan, X), chunks=(130, -1)),
         "X holds nan at row 457, column 0"),
    ],
    ids=["one dimension", "complex", "one point", "unknown", "nan"],
)  # fmt: skip
def test_mistake_is_one_line(X, make, message):
    with dask.config.set(scheduler="synchronous"), pytest.raises(ValueError, match=message):
        clone(MODELS["FSC"]).fit(make(X))


def test_wrong_number_of_columns_is_reported_at_once(X):
    model = in_memory(MODELS["FSC"], X)
    with pytest.raises(ValueError, match="X has 5 features, but FSC is expecting 12 features as input"):
        model.predict(da.ones((10, 5)))


@pytest.mark.parametrize("model", [lssc.SSC(3), lssc.ESC(3), lssc.FSC(3, landmarks="farthest_first")], ids=str)
def test_method_that_needs_all_points_says_so(X, model):
    with pytest.raises(ValueError, match="needs all points in memory; FSC and RefinedFSC take Dask arrays"):
        model.fit(da.from_array(X, chunks=(130, -1)))


def test_points_without_codes_are_counted(X):
    model = clone(MODELS["FSC"]).set_params(lam=1.05)
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.warns(UncodedPointsWarning, match="of 600 points have no code"),
    ):
        model.fit(da.from_array(X, chunks=(130, -1)))
