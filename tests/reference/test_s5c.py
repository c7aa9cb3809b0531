"""Agreement with the outputs of the authors' program for S5C; see README.md beside this file."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.kernels.subgradient_search import find_by_subgradient
from lssc.parts.coders.lasso import code_lasso

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def authors():
    with h5py.File(HERE / "authors_s5c.h5") as file, h5py.File(HERE / "authors_unit.h5") as points:
        return {name: data[()] for name, data in file.items()} | {"X": np.ascontiguousarray(points["Y"][()].T)}


@pytest.mark.parametrize("lam", [8, 32])
def test_s5c_landmarks_and_codes_agree(authors, lam):
    X, landmarks = authors["X"], authors[f"s5c_l{lam}_S"]
    chosen, _ = find_by_subgradient(X, len(landmarks), authors["order"][: 2 * len(landmarks)], lam=float(lam))
    assert_array_equal(chosen, landmarks)
    codes = code_lasso(X, landmarks, lam=float(lam)).matrix
    assert_allclose(codes.toarray(), authors[f"s5c_l{lam}_C"].T, atol=1e-6)
