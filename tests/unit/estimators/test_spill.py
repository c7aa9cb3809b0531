"""Fits whose codes and coordinates go to files."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import lssc

MODELS = [
    lssc.FSC(3, n_landmarks=20, random_state=0),
    lssc.FSC(None, n_landmarks=20, landmarks="kmedoids", random_state=0),
    lssc.RefinedFSC(3, n_landmarks=20, max_points=30, random_state=0),
]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("lssc.parts.coding.NUMBERS_PER_BLOCK", 7 * 12)


@pytest.mark.parametrize("model", MODELS, ids=["FSC", "medoids", "refined"])
@pytest.mark.parametrize("threads", [1, 2])
def test_labels_are_those_of_the_fit_in_memory(X, model, threads, tmp_path, small_blocks, monkeypatch):
    # Imported on use: the library's tests run where only the core is installed.
    import h5py

    expected = clone(model).fit(X)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["X"] = X
        # Larger than memory: coordinates and labels go to files, too.
        monkeypatch.setattr("lssc.types.MAX_IN_MEMORY", 40)
        fitted = clone(model).set_params(spill=tmp_path / "spilled", n_jobs=threads).fit(file["X"])
    assert_array_equal(fitted.labels_, expected.labels_)
    assert isinstance(fitted.labels_, np.memmap)
    assert isinstance(fitted.embedding_, np.memmap)
    assert not hasattr(fitted, "codes_")
    assert len(list((tmp_path / "spilled").rglob("codes-*.h5"))) == -(-len(X) // 7)
    assert_array_equal(fitted.predict(X), expected.predict(X))


def test_later_fit_does_not_change_the_results_of_an_earlier_one(X, tmp_path, monkeypatch):
    import h5py  # noqa: F401

    monkeypatch.setattr("lssc.types.MAX_IN_MEMORY", 40)
    model = clone(MODELS[0]).set_params(spill=tmp_path)
    first = clone(model).fit(X)
    before = first.labels_.copy()
    clone(model).fit(X[::-1].copy())
    assert_array_equal(first.labels_, before)
