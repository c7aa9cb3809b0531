import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

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


def test_refuses_codes_that_are_not_square(rng):
    with pytest.raises(ValueError, match=r"5 x 3; affinity needs selector 'all'"):
        embed_affinity(sparse.csr_matrix((5, 3)), n_clusters=2, rng=rng)
