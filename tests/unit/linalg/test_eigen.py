"""The iterative eigensolver against the dense one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lssc.linalg import eigen
from lssc.linalg.eigen import top_eigenpairs


def symmetric(values, seed=0):
    """A matrix with these eigenvalues."""
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))
    return Q * values @ Q.T, Q


SPECTRA = {
    "spread": np.linspace(-1, 1, 400) ** 3,
    "tie at the top": np.concatenate([np.linspace(-0.5, 0.5, 397), [1, 1, 1]]),
    "two values": np.repeat([0.0, 1.0], [396, 4]),
    "all equal": np.ones(50),
    "zero": np.zeros(40),
    "small": np.array([3.0, 2.0, 1.0, 0.5]),
}


@pytest.mark.parametrize("values", SPECTRA.values(), ids=SPECTRA)
@pytest.mark.parametrize("k", [1, 3])
def test_returns_the_largest_eigenpairs(values, k):
    A, _ = symmetric(values)
    found, vectors = top_eigenpairs(A.dot, len(A), k, rng=np.random.default_rng(1))
    assert_allclose(found, np.sort(values)[::-1][:k], atol=1e-8)
    assert_allclose(A @ vectors, vectors * found, atol=1e-7)
    assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-8)


@pytest.mark.parametrize("values", SPECTRA.values(), ids=SPECTRA)
def test_same_rng_gives_same_vectors(values):
    A, _ = symmetric(values)
    one, two = (top_eigenpairs(A.dot, len(A), 3, rng=np.random.default_rng(1))[1] for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_converges_by_blocks_where_arpack_does_not(monkeypatch):
    monkeypatch.setattr(eigen, "MAX_RESTARTS", 1)
    values = np.concatenate([np.linspace(0, 0.98, 297), [0.998, 0.999, 1.0]])
    A, _ = symmetric(values)
    found, vectors = top_eigenpairs(A.dot, 300, 3, rng=np.random.default_rng(1))
    assert_allclose(found, values[::-1][:3], atol=1e-8)
    assert_allclose(A @ vectors, vectors * found, atol=1e-7)
