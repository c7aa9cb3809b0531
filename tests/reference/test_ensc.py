"""Agreement with the EnSC authors' own program; see README.md beside this file."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lssc.parts.coders.elastic_net import code_elastic_net
from lssc.parts.embedders.neighbours import embed_neighbours, nearest_neighbours

EVERY_POINT = np.arange(150)


def load(file, name):
    with h5py.File(Path(__file__).with_name(file)) as data:
        return np.ascontiguousarray(data[name][()].T)


@pytest.fixture(scope="module")
def X():
    return load("authors_unit.h5", "Y")


def objectives(X, codes, gamma, tau):
    gram = np.abs(X @ X.T)
    np.fill_diagonal(gram, 0)
    lam = gamma * tau / gram.max(axis=1)
    penalties = tau * np.abs(codes).sum(axis=1) + (1 - tau) / 2 * (codes**2).sum(axis=1)
    return penalties + lam / 2 * ((X - codes @ X) ** 2).sum(axis=1)


@pytest.mark.parametrize(("gamma", "tau"), [(50, 0.9), (200, 0.9)])
def test_ensc_codes_agree_or_have_a_lower_objective(X, gamma, tau):
    theirs = load("authors_ensc.h5", f"ensc_g{gamma}_t{100 * tau:.0f}_C")
    ours = code_elastic_net(X, EVERY_POINT, gamma=float(gamma), tau=tau).matrix.toarray()
    # Their solver stops at D nonzeros.
    finished = (theirs != 0).sum(axis=1) < X.shape[1]
    assert finished.sum() > 20
    assert_allclose(ours[finished], theirs[finished], atol=1e-8)
    assert (objectives(X, ours, gamma, tau) <= objectives(X, theirs, gamma, tau) + 1e-9).all()


def test_ensc_neighbours_agree(rng, monkeypatch):
    graphs = []

    def keep(codes, t):
        graphs.append(nearest_neighbours(codes, t))
        return graphs[0]

    monkeypatch.setattr("lssc.parts.embedders.neighbours.nearest_neighbours", keep)
    codes = sparse.csr_matrix(load("authors_ensc.h5", "ensc_g50_t90_C"))
    embed_neighbours(codes, n_clusters=5, t=3, rng=rng)
    assert_array_equal((graphs[0] + graphs[0].T).toarray(), load("authors_ensc.h5", "ensc_W"))
