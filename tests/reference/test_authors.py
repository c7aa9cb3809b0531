"""Agreement with the outputs of the baseline authors' own programs; see README.md beside this file."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lssc.kernels.farthest_first import find_exemplars
from lssc.linalg.coherence import penalties
from lssc.parts.coders.admm import code_admm
from lssc.parts.coders.admm_modified import code_admm_modified
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.coders.lasso_spams import solve_by_spams
from lssc.parts.coders.omp import code_omp
from lssc.parts.embedders import affinity
from lssc.parts.embedders.landmark_svd import embed_landmark_svd
from lssc.parts.embedders.neighbours import embed_neighbours, nearest_neighbours

K, N = 5, 150
EVERY_POINT = np.arange(N)


def load(kind):
    """Everything in one of the two files, with the points as rows X. Codes are columns: transpose them."""
    with h5py.File(Path(__file__).with_name(f"authors_{kind}.h5")) as file:
        given = {name: data[()] for name, data in file.items()} | {k: float(v) for k, v in file.attrs.items()}
    return {**given, "kind": kind, "X": np.ascontiguousarray(given["Y"].T)}


@pytest.fixture(scope="module", params=["unit", "raw"])
def authors(request):
    return load(request.param)


@pytest.fixture(scope="module")
def unit():
    return load("unit")


def projector(vectors):
    return vectors @ vectors.T


@pytest.mark.parametrize("lam", [10, 50])
def test_fsc_codes_agree(authors, lam):
    codes = code_lasso(authors["X"], authors["fsc_idx"], lam=float(lam)).matrix
    assert_allclose(codes.toarray(), authors[f"fsc_l{lam}_C"].T, atol=1e-6)


@pytest.mark.parametrize("solver", ["gram", "svd"])
@pytest.mark.parametrize("lam", [10, 50])
def test_fsc_embedding_and_singular_values_agree(authors, lam, solver, rng):
    codes = code_lasso(authors["X"], authors["fsc_idx"], lam=float(lam)).matrix
    embedding = embed_landmark_svd(codes, n_clusters=K, solver=solver, rng=rng)
    assert_allclose(projector(embedding.vectors), projector(authors[f"fsc_l{lam}_P"]), atol=1e-6)
    assert_allclose(embedding.values, authors[f"fsc_l{lam}_sv"].ravel()[:K], atol=1e-6)


def test_admm_penalties_follow_the_authors_coherence(authors):
    assert penalties(authors["X"].T, 20.0) == pytest.approx((20 / authors["mu"], 20))
    assert penalties(authors["X"].T, 20.0)[0] == pytest.approx(authors["mod_a20_lambda"])


@pytest.mark.parametrize("alpha", [20, 800])
def test_admm_stops_with_the_same_codes(authors, alpha):
    codes = code_admm(authors["X"], EVERY_POINT, alpha=float(alpha)).matrix
    assert_allclose(codes.toarray(), authors[f"jhu_a{alpha}_C"].T, atol=1e-6)


def test_affinity_of_admm_codes_agrees(authors, rng, monkeypatch):
    graphs, original = [], affinity.spectral_embedding

    def keep(W, *args, **kwargs):
        graphs.append(W)
        return original(W, *args, **kwargs)

    monkeypatch.setattr(affinity, "spectral_embedding", keep)
    affinity.embed_affinity(sparse.csr_matrix(authors["jhu_a20_C"].T), n_clusters=K, rng=rng)
    assert_allclose(graphs[0].toarray(), authors["jhu_a20_W"], atol=1e-6)


@pytest.mark.parametrize("alpha", [20, 800])
def test_embedding_of_admm_codes_agrees(authors, alpha, rng):
    codes = code_admm(authors["X"], EVERY_POINT, alpha=float(alpha)).matrix
    vectors = affinity.embed_affinity(codes, n_clusters=K, rng=rng).vectors
    # Rows at unit length; V V' forgets the signs of the eigenvectors.
    assert_allclose(projector(vectors), projector(authors[f"jhu_a{alpha}_rownormV"]), atol=1e-6)


@pytest.mark.parametrize(("kind", "iterations"), [("unit", 140), ("raw", 200)])
def test_modified_admm_takes_the_same_steps(kind, iterations):
    authors = load(kind)
    codes = code_admm_modified(authors["X"], EVERY_POINT, alpha=20.0, max_iter=iterations, tol=0.0).matrix
    assert_allclose(codes.toarray(), authors["mod_a20_C"].T, atol=1e-9)


def test_modified_admm_converges_to_the_authors_limit_and_to_the_lasso_solution(unit):
    codes = code_admm_modified(unit["X"], EVERY_POINT, alpha=20.0, max_iter=20_000, tol=0.0).matrix.toarray()
    assert_allclose(codes, unit["mod_a20_Cconv"].T, atol=1e-4)
    exact = code_lasso(unit["X"], EVERY_POINT, lam=unit["mod_a20_lambda"]).matrix.toarray()
    assert_allclose(codes, exact, atol=1e-4)


@pytest.mark.parametrize("k", [3, 6])
def test_omp_chooses_the_same_atoms_with_the_same_coefficients(authors, k):
    codes = code_omp(authors["X"], EVERY_POINT, k=k).matrix.toarray()
    expected = authors[f"omp_k{k}_C"].T
    assert_array_equal(codes != 0, expected != 0)
    assert_allclose(codes, expected, atol=1e-9)


@pytest.mark.parametrize("lam", [10.0, 50.0])
def test_each_exemplar_has_the_largest_cost_of_its_step(authors, lam):
    X, chosen = authors["X"], find_exemplars(authors["X"], 40, lam=lam, first=0)[0]
    assert chosen[0] == 0
    for step in range(1, len(chosen)):
        costs = lasso_costs(X, chosen[:step], lam)
        left = np.setdiff1d(EVERY_POINT, chosen[:step])
        assert chosen[step] in left
        assert costs[chosen[step]] >= costs[left].max() - 1e-8


@pytest.mark.parametrize("lam", [10.0, 50.0])
def test_exemplars_of_the_authors_have_the_largest_cost_too(authors, lam):
    """The same check on their exemplars: that it is the right cost, not only our own."""
    chosen = authors[f"esc_l{lam:.0f}_T"]
    for step in range(2, len(chosen)):
        costs = lasso_costs(authors["X"], chosen[:step], lam)
        assert costs[chosen[step]] >= costs[np.setdiff1d(EVERY_POINT, chosen[:step])].max() - 1e-6


def lasso_costs(X, chosen, lam):
    codes = solve_by_spams(X, np.asfortranarray(X[chosen].T), lam).toarray()
    return np.abs(codes).sum(axis=1) + lam / 2 * ((X - codes @ X[chosen]) ** 2).sum(axis=1)


@pytest.mark.parametrize("lam", [10, 50])
def test_esc_codes_agree(authors, lam):
    exemplars = authors[f"esc_l{lam}_T"]
    codes = code_lasso(authors["X"], exemplars, lam=float(lam), exclude_self=False).matrix.toarray()
    # The authors give every exemplar the code 1 - 1/lambda, which is right at unit norm only.
    compared = EVERY_POINT if authors["kind"] == "unit" else np.setdiff1d(EVERY_POINT, exemplars)
    assert_allclose(codes[compared], authors[f"esc_l{lam}_C"].T[compared], atol=1e-6)


@pytest.mark.parametrize("lam", [10, 50])
def test_esc_neighbours_agree(unit, lam, rng, monkeypatch):
    graphs = []

    def keep(codes, t):
        graphs.append(nearest_neighbours(codes, t))
        return graphs[0]

    monkeypatch.setattr("lssc.parts.embedders.neighbours.nearest_neighbours", keep)
    embed_neighbours(sparse.csr_matrix(unit[f"esc_l{lam}_C"].T), n_clusters=K, t=3, rng=rng)
    assert_array_equal(graphs[0].toarray(), unit[f"esc_l{lam}_W"])
