import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from lssc.linalg.doubly_stochastic import make_doubly_stochastic
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.embedders.doubly_stochastic import embed_doubly_stochastic


@pytest.fixture
def codes(X):
    return code_lasso(X, np.arange(60), lam=10.0).matrix


def embed(codes, eta=1.0, **params):
    return embed_doubly_stochastic(codes, n_clusters=3, eta=eta, rng=np.random.default_rng(0), **params)


def test_vectors_are_the_top_eigenvectors_of_the_affinity(codes):
    A = make_doubly_stochastic(sparse.csr_matrix(abs(codes)), 1.0).matrix.toarray()
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    found = embed(codes, scale_rows=False)
    assert found.info["converged"]
    assert_allclose(found.values, values[::-1][:3], atol=1e-7)
    assert_allclose(found.values[0], 1, atol=1e-7)
    assert_allclose(np.abs(found.vectors.T @ vectors[:, ::-1][:, :3]), np.eye(3), atol=1e-5)


def test_signs_of_the_codes_do_not_matter(codes):
    assert_allclose(embed(-codes).vectors, embed(codes).vectors, atol=1e-9)


def test_order_of_the_points_does_not_matter(codes):
    order = np.random.default_rng(1).permutation(60)
    vectors, permuted = embed(codes).vectors, embed(sparse.csr_matrix(codes[order][:, order])).vectors
    assert_allclose(permuted @ permuted.T, (vectors @ vectors.T)[np.ix_(order, order)], atol=1e-5)


def test_rows_have_unit_length(codes):
    assert_allclose(np.linalg.norm(embed(codes).vectors, axis=1), 1)


def test_needs_codes_by_all_points(codes):
    with pytest.raises(ValueError, match="codes are 60 x 20; embedder 'doubly_stochastic' needs selector 'all'"):
        embed(sparse.csr_matrix(codes[:, :20]))
