import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from lssc.errors import InputError
from lssc.linalg.scaling import unit_rows
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.embedders.affinity import embed_affinity


@pytest.mark.parametrize("scale_codes", [True, False])
@pytest.mark.parametrize("scale_rows", [True, False])
def test_embeds_like_a_dense_solver(X, scale_codes, scale_rows, rng):
    codes = code_lasso(X, np.arange(60), lam=10.0).matrix
    C = np.abs(codes.toarray())
    if scale_codes:
        C = C / C.max(axis=1, keepdims=True)
    W = C + C.T
    degree = W.sum(axis=1)
    values, vectors = np.linalg.eigh(W / np.sqrt(np.outer(degree, degree)))
    expected = vectors[:, -3:]
    found = embed_affinity(codes, n_clusters=3, scale_codes=scale_codes, scale_rows=scale_rows, rng=rng)
    if scale_rows:
        expected = unit_rows(expected)
    assert_allclose(found.values, values[::-1][:3], atol=1e-8)
    assert_allclose(found.vectors @ found.vectors.T, expected @ expected.T, atol=1e-6)


def test_codes_by_some_points_fill_their_columns(X, rng):
    rows = rng.permutation(60)[:15]
    codes = code_lasso(X, rows, lam=10.0).matrix
    square = np.zeros((60, 60))
    square[:, rows] = codes.toarray()
    expected = embed_affinity(sparse.csr_matrix(square), n_clusters=3, rng=np.random.default_rng(0))
    found = embed_affinity(codes, n_clusters=3, landmark_indices=rows, rng=np.random.default_rng(0))
    assert_allclose(found.vectors, expected.vectors, atol=1e-10)


def test_columns_in_another_order_change_nothing(X, rng):
    order = rng.permutation(60)
    codes = code_lasso(X, np.arange(60), lam=10.0).matrix
    expected = embed_affinity(codes, n_clusters=3, rng=np.random.default_rng(0))
    found = embed_affinity(codes[:, order], n_clusters=3, landmark_indices=order, rng=np.random.default_rng(0))
    assert_allclose(found.vectors, expected.vectors, atol=1e-10)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (None, "codes are 5 x 3; the landmarks must be rows of X"),
        ([0, 1], "2 landmark_indices for codes of 3 columns"),
        ([0, 1, 5], "landmark_indices from 0 to 5; rows of X are 0 to 4"),
        ([0, 1, 1], "repeat a point"),
    ],
)
def test_refuses_codes_whose_points_it_does_not_know(rows, message, rng):
    with pytest.raises(InputError, match=message):
        embed_affinity(sparse.csr_matrix((5, 3)), n_clusters=2, landmark_indices=rows, rng=rng)
