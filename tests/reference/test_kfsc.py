"""Agreement with the k-FSC author's own program; see README.md beside this file."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.linalg.block_codes import Atoms
from lssc.linalg.factorization import factorize, nearest_blocks
from lssc.metrics import scores

K, LAM = 5, 0.3


def load(file, name):
    with h5py.File(Path(__file__).with_name(file)) as data:
        return np.ascontiguousarray(data[name][()].T)


@pytest.fixture(scope="module")
def X():
    return load("authors_unit.h5", "Y")


@pytest.fixture(scope="module")
def start():
    return Atoms(load("authors_kfsc.h5", "start_D"), K)


def blocks(rows):
    return rows.reshape(K, -1, rows.shape[1])


def test_rounds_without_momentum_agree(X, start):
    ours = factorize(X, start, lam=LAM, max_iter=20, tol=0.0, momentum=0.0)
    assert_allclose(ours.objectives, load("authors_kfsc.h5", "plain_loss"), rtol=1e-5)
    assert_allclose(ours.atoms.rows, load("authors_kfsc.h5", "plain_D"), atol=1e-5)
    assert_array_equal(nearest_blocks(X, blocks(ours.atoms.rows)), load("authors_kfsc.h5", "plain_labels"))


def test_rounds_with_momentum_come_to_the_same_objective(X, start):
    ours, theirs = factorize(X, start, lam=LAM, max_iter=100, tol=0.0), load("authors_kfsc.h5", "momentum_loss")
    assert_allclose(ours.objectives, theirs, rtol=0.01)
    assert ours.objectives[-1] == pytest.approx(theirs[-1], rel=1e-3)
    labels = nearest_blocks(X, blocks(ours.atoms.rows))
    assert scores(load("authors_kfsc.h5", "momentum_labels"), labels)["accuracy"] > 0.95


@pytest.mark.parametrize("run", ["plain", "momentum"])
def test_labels_of_the_same_dictionary_agree(X, run):
    dictionary = blocks(load("authors_kfsc.h5", f"{run}_D"))
    assert_array_equal(nearest_blocks(X, dictionary), load("authors_kfsc.h5", f"{run}_labels"))
