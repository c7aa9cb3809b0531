import numpy as np
import pytest
from numpy.testing import assert_allclose

from lssc import coherence
from lssc.coders import admm_modified
from lssc.coders.admm import code_admm
from lssc.coders.admm_modified import code_admm_modified
from lssc.coders.lasso import code_lasso
from lssc.coherence import penalties


def test_the_penalties_scale_with_the_least_coherent_point(X):
    similarity = np.abs(X @ X.T)
    np.fill_diagonal(similarity, 0)
    assert penalties(X.T, 20.0) == pytest.approx((20 / similarity.max(axis=1).min(), 20))


@pytest.mark.parametrize("chunk", [1, 7, 59, 60])
def test_the_penalties_do_not_depend_on_the_chunk(X, chunk, monkeypatch):
    expected = penalties(X.T, 20.0)
    monkeypatch.setattr(coherence, "CHUNK", chunk)
    assert penalties(X.T, 20.0) == pytest.approx(expected)


def test_zero_points_do_not_change_the_penalties(X):
    assert penalties(np.concatenate([X, np.zeros((3, X.shape[1]))]).T, 20.0) == pytest.approx(penalties(X.T, 20.0))


@pytest.mark.parametrize("X", [np.zeros((3, 4)), np.eye(4), np.ones((1, 4))], ids=["zero", "orthogonal", "alone"])
def test_points_without_coherence_leave_alpha_as_it_is(X):
    assert penalties(X.T, 20.0) == (20.0, 20.0)


def test_modified_admm_comes_close_to_the_lasso_objective(X):
    lam = penalties(X.T, 20.0)[0]

    def objective(codes):
        return np.abs(codes).sum(axis=1) + lam / 2 * ((X - codes @ X) ** 2).sum(axis=1)

    found = code_admm_modified(X, np.arange(60), alpha=20.0, max_iter=3000, tol=0.0).matrix.toarray()
    exact = code_lasso(X, np.arange(60), lam=lam).matrix.toarray()
    assert_allclose(objective(found), objective(exact), atol=1e-6)


def dense_modified_admm(X, alpha, iterations):
    """The authors' iteration written plainly, with the n x n inverse."""
    Y = X.T
    mu1, mu2 = penalties(Y, alpha)
    A = np.linalg.inv(mu1 * Y.T @ Y + mu2 * np.eye(len(X)))
    C, L = np.zeros((len(X), len(X))), np.zeros((len(X), len(X)))
    for _ in range(iterations):
        Z = A @ (mu1 * Y.T @ Y + mu2 * C - L)
        T = Z + L / mu2
        C = np.sign(T) * np.maximum(np.abs(T) - 1 / mu2, 0)
        np.fill_diagonal(C, 0)
        L = L + mu2 * (Z - C)
    return C.T


@pytest.mark.parametrize("block", [1, 16, 64])
@pytest.mark.parametrize("iterations", [1, 37])
def test_modified_admm_is_the_plain_iteration_whatever_the_block(X, block, iterations, monkeypatch):
    monkeypatch.setattr(admm_modified, "BLOCK", block)
    found = code_admm_modified(X, np.arange(60), alpha=20.0, max_iter=iterations, tol=0.0).matrix
    assert_allclose(found.toarray(), dense_modified_admm(X, 20.0, iterations), atol=1e-10)


@pytest.mark.parametrize("code", [code_admm, code_admm_modified])
def test_the_stopping_rule_is_recorded(X, code):
    hasty = code(X, np.arange(60), alpha=20.0, max_iter=3, tol=1e-12).info
    patient = code(X, np.arange(60), alpha=20.0, max_iter=5000, tol=1e-3).info
    assert not hasty["converged"]
    assert hasty["n_iter"] <= 3
    assert patient["converged"]
    assert patient["gap"] <= 1e-3
    assert patient["n_iter"] < 5000


def test_admm_makes_one_iteration_less_than_its_limit_as_its_authors_do(X):
    assert code_admm(X, np.arange(60), alpha=20.0, max_iter=8, tol=0.0).info["n_iter"] == 7
    assert code_admm(X, np.arange(60), alpha=20.0, max_iter=1, tol=0.0).info["n_iter"] == 1
