import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from lssc.kernels.gram import add_lower_gram


def test_product_agrees_with_scipy():
    A = sparse.random(200, 30, density=0.2, format="csr", random_state=0)
    gram = np.zeros((30, 30))
    add_lower_gram(A.indptr, A.indices, A.data, gram)
    assert_allclose(gram, np.tril((A.T @ A).toarray()), atol=1e-12)
