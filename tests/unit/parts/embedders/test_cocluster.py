import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lssc.kernels.codes import keep_largest
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.embedders.cocluster import embed_cocluster
from lssc.parts.embedders.landmark_svd import embed_landmark_svd, project_codes

PAPER = {
    "top": 0, "power": 1.0, "landmark_degrees": False,
    "vectors_per_cluster": 1, "value_power": 0.0, "scale_rows": False,
}  # fmt: skip


@pytest.fixture
def codes(X):
    return code_lasso(X, np.arange(0, 60, 4), lam=10.0).matrix


def test_paper_embedding_is_special_case(codes, rng):
    paper = embed_landmark_svd(codes, n_clusters=3, rng=rng)
    here = embed_cocluster(codes, n_clusters=3, rng=rng, **PAPER)
    assert_array_equal(here.vectors, paper.vectors)
    assert_array_equal(here.values, paper.values)


def test_agrees_with_dense_computation(codes, rng):
    A = np.abs(codes.toarray())
    for row in A:
        row[np.argsort(-row, kind="stable")[5:]] = 0
    A = A**2
    A /= np.sqrt(A.sum(axis=0))
    A /= np.sqrt(A @ A.sum(axis=0))[:, None]
    U, values, _ = np.linalg.svd(A)
    expected = U[:, :6] * values[:6] ** 4
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    result = embed_cocluster(codes, n_clusters=3, rng=rng)
    assert_allclose(result.values, values[:6], atol=1e-7)
    assert_allclose(result.vectors @ result.vectors.T, expected @ expected.T, atol=1e-6)


@pytest.mark.parametrize("choices", [{}, PAPER, {"top": 2}, {"landmark_degrees": False}], ids=str)
def test_projects_its_own_codes_to_its_own_coordinates(codes, choices, rng):
    embedding = embed_cocluster(codes, n_clusters=2, rng=rng, **choices)
    assert_allclose(project_codes(codes, embedding.projection), embedding.vectors, atol=1e-9)


def test_points_without_code_stay_at_origin(codes, rng):
    codes = sparse.csr_matrix(codes.toarray() * (np.arange(60) != 7)[:, None])
    embedding = embed_cocluster(codes, n_clusters=3, rng=rng)
    assert not embedding.vectors[7].any()
    assert embedding.info["n_uncoded"] == 1


def test_keeps_largest_coefficients_in_order():
    codes = sparse.csr_matrix([[1.0, -3, 2, 0], [0, 0, 0, 0], [5, 5, 5, 1], [0, 4, 0, 0]])
    ends, columns, values = keep_largest(codes.indptr, codes.indices, codes.data, 2)
    kept = sparse.csr_matrix((values, columns, ends), shape=(4, 4)).toarray()
    assert_array_equal(kept, [[0, -3, 2, 0], [0, 0, 0, 0], [5, 5, 0, 0], [0, 4, 0, 0]])
