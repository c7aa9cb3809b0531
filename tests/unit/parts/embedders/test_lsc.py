import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from lssc.parts.clusterers.kmeans import cluster_kmeans
from lssc.parts.coders.anchor_graph import code_anchor_graph
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.embedders.landmark_svd import embed_codes, project_codes
from lssc.parts.embedders.lsc import embed_lsc


@pytest.fixture
def codes(X):
    return code_anchor_graph(X, np.arange(0, 60, 4), exclude_self=False).matrix


def test_agrees_with_the_equations(codes, rng):
    """Chen and Cai: left singular vectors 2 to K + 1 of Z D^-1/2, rows at unit norm."""
    Z = codes.toarray() / np.sqrt(codes.toarray().sum(axis=0))
    U, values, _ = np.linalg.svd(Z)
    # The first vector says nothing: it is constant.
    assert_allclose(U[:, 0], U[0, 0])
    assert values[0] == pytest.approx(1)
    plain = embed_lsc(codes, n_clusters=3, scale_rows=False, rng=rng)
    assert_allclose(plain.values, values[1:4], atol=1e-9)
    assert_allclose(plain.vectors @ plain.vectors.T, U[:, 1:4] @ U[:, 1:4].T, atol=1e-9)
    assert_allclose(plain.spectrum, values[:4], atol=1e-9)
    scaled = embed_lsc(codes, n_clusters=3, rng=rng).vectors
    assert_allclose(scaled, plain.vectors / np.linalg.norm(plain.vectors, axis=1, keepdims=True), atol=1e-9)


def test_projects_its_own_codes_to_its_own_coordinates(codes, rng):
    embedding = embed_lsc(codes, n_clusters=3, rng=rng)
    assert_allclose(project_codes(codes, embedding.projection), embedding.vectors, atol=1e-9)


def test_takes_codes_of_any_sign_and_scale(X, rng):
    codes = code_lasso(X, np.arange(0, 60, 4), lam=10.0).matrix
    one = embed_lsc(codes, n_clusters=3, rng=rng)
    assert_allclose(embed_lsc(-7 * codes, n_clusters=3, rng=rng).vectors, one.vectors, atol=1e-9)


def test_leaves_out_the_constant_even_if_others_have_the_same_value(rng):
    """Three components have singular value 1 three times; two vectors that separate them are left."""
    blocks = sparse.block_diag([rng.random((8, 4)) for _ in range(3)], format="csr")
    embedding = embed_lsc(blocks, n_clusters=3, rng=rng)
    assert_allclose(embedding.values[:2], 1)
    assert embedding.values[2] < 0.9
    labels = cluster_kmeans(embedding.vectors[:, :2], n_clusters=3, rng=rng).labels
    assert len(set(zip(labels, np.repeat(np.arange(3), 8), strict=True))) == 3


def test_both_solvers_leave_out_the_first_vector(codes, rng):
    gram, svd = (
        embed_codes(codes, 3, drop_first=True, scale_rows=False, solver=solver, rng=rng) for solver in ("gram", "svd")
    )
    assert_allclose(gram.vectors, svd.vectors, atol=1e-7)
    A = np.abs(codes.toarray())
    U = np.linalg.svd(A / np.sqrt(A @ A.sum(axis=0))[:, None])[0]
    assert_allclose(gram.vectors @ gram.vectors.T, U[:, 1:4] @ U[:, 1:4].T, atol=1e-9)
