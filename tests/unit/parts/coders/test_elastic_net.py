import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import ElasticNet

from lssc.kernels import elastic_net
from lssc.parts.coders.elastic_net import code_elastic_net
from lssc.parts.coders.lasso import code_lasso

# Largest violation of the conditions of optimality, relative to mu.
TOLERANCE = 1e-8


def subspaces(n, dim, noise=0.1, seed=0):
    """Points at unit norm near four subspaces of dimension 5."""
    rng = np.random.default_rng(seed)
    points = [rng.standard_normal((n // 4, 5)) @ rng.standard_normal((5, dim)) / 2 for _ in range(4)]
    X = np.concatenate(points) + noise * rng.standard_normal((n, dim))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture(params=["path", "working sets"])
def solver(request, monkeypatch):
    """Code by the path of the lasso, or by working sets, whatever the sizes."""
    if request.param == "working sets":
        monkeypatch.setattr(elastic_net, "MAX_LANDMARKS_BY_GRAM", 0)
        monkeypatch.setattr(elastic_net, "MAX_DIMENSIONS_BY_COORDINATES", 0)
    return request.param


def violation(X, landmarks, codes, gamma, tau):
    """The largest violation of the conditions of optimality over all points and landmarks, relative to mu."""
    L, worst = X[landmarks], 0.0
    for i, c in enumerate(codes.toarray()):
        allowed = landmarks != i
        if not X[i].any():
            continue
        mu = np.abs(L[allowed] @ X[i]).max() / gamma
        r = (L @ (X[i] - c @ L))[allowed]
        c = c[allowed]
        off = np.where(c == 0, np.abs(r) - mu, np.abs(r - mu * (1 - tau) / tau * c - mu * np.sign(c)))
        worst = max(worst, off.max() / mu)
    return worst


@pytest.mark.parametrize(("gamma", "tau"), [(3.0, 0.5), (50.0, 0.9), (200.0, 0.9), (200.0, 0.1), (50.0, 1.0)])
@pytest.mark.parametrize("dim", [8, 40])
def test_codes_are_optimal_over_all_landmarks(gamma, tau, dim, solver):
    X, landmarks = subspaces(240, dim), np.arange(0, 240, 2)
    result = code_elastic_net(X, landmarks, gamma=gamma, tau=tau, n_nonzero=0)
    assert result.info["converged"]
    assert violation(X, landmarks, result.matrix, gamma, tau) < TOLERANCE
    assert (result.matrix.toarray()[landmarks, np.arange(120)] == 0).all()


@pytest.mark.parametrize(("gamma", "tau"), [(10.0, 0.9), (30.0, 0.3)])
def test_codes_agree_with_scikit_learn(gamma, tau, solver):
    X = subspaces(60, 12)
    codes = code_elastic_net(X, np.arange(60), gamma=gamma, tau=tau, relative=False, n_nonzero=0).matrix.toarray()
    for i in range(60):
        others = np.delete(np.arange(60), i)
        # Scikit-learn divides the squared error by the number of coordinates.
        model = ElasticNet(alpha=1 / gamma / 12, l1_ratio=tau, fit_intercept=False, tol=1e-12, max_iter=100_000)
        assert_allclose(codes[i, others], model.fit(X[others].T, X[i]).coef_, atol=1e-7)


def test_relative_gamma_is_relative_to_the_weight_at_which_codes_vanish():
    X, landmarks = subspaces(80, 10), np.arange(80)
    assert code_elastic_net(X, landmarks, gamma=1.0).matrix.nnz == 0
    assert (np.diff(code_elastic_net(X, landmarks, gamma=1.01).matrix.indptr) > 0).all()
    gram = np.abs(X @ X.T)
    np.fill_diagonal(gram, 0)
    relative = code_elastic_net(X, landmarks, gamma=20.0, tau=0.7).matrix
    lam = 20.0 * 0.7 / gram[7].max()
    absolute = code_elastic_net(X, landmarks, gamma=float(lam), tau=0.7, relative=False).matrix
    assert_allclose(relative[7].toarray(), absolute[7].toarray(), atol=1e-9)


def test_equals_the_lasso_without_the_second_penalty(solver):
    X, landmarks = subspaces(200, 40), np.arange(0, 200, 2)
    codes = code_elastic_net(X, landmarks, gamma=15.0, tau=1.0, relative=False, n_nonzero=0).matrix
    assert_allclose(codes.toarray(), code_lasso(X, landmarks, lam=15.0).matrix.toarray(), atol=1e-7)


@pytest.mark.parametrize("choices", [{"MAX_JOINS": 1}, {"MAX_JOINS": 500}, {"LEVEL_RATIO": 1e-9}, {"LOOSE": 0.5}])
def test_working_sets_do_not_change_the_solution(choices, monkeypatch):
    X, landmarks = subspaces(200, 40), np.arange(200)
    expected = code_elastic_net(X, landmarks, gamma=50.0, n_nonzero=0).matrix.toarray()
    for name, value in {"MAX_LANDMARKS_BY_GRAM": 0, "FIRST_PLACES": 4, "POINTS_PER_BLOCK": 7, **choices}.items():
        monkeypatch.setattr(elastic_net, name, value)
    assert_allclose(code_elastic_net(X, landmarks, gamma=50.0, n_nonzero=0).matrix.toarray(), expected, atol=1e-8)


def test_solves_by_the_path_where_newton_fails(monkeypatch):
    X, landmarks = subspaces(200, 40), np.arange(200)
    monkeypatch.setattr(elastic_net, "MAX_LANDMARKS_BY_GRAM", 0)
    monkeypatch.setattr(elastic_net, "solve", lambda *args: False)
    result = code_elastic_net(X, landmarks, gamma=50.0, n_nonzero=0)
    assert result.info["converged"]
    assert violation(X, landmarks, result.matrix, 50.0, 0.9) < TOLERANCE


def test_keeps_the_largest_coefficients(solver):
    X, landmarks = subspaces(120, 40), np.arange(120)
    full = code_elastic_net(X, landmarks, gamma=50.0, n_nonzero=0).matrix.toarray()
    kept = code_elastic_net(X, landmarks, gamma=50.0, n_nonzero=4).matrix.toarray()
    for row, whole in zip(kept, full, strict=True):
        assert_array_equal(np.sort(np.flatnonzero(row)), np.sort(np.argsort(-np.abs(whole))[:4]))
        assert_array_equal(row[row != 0], whole[row != 0])


def test_repeated_and_zero_points_are_coded(solver):
    X = subspaces(120, 40)
    X[5], X[6:9] = 0, X[9]
    result = code_elastic_net(X, np.arange(120), gamma=50.0, n_nonzero=0)
    assert result.info["converged"]
    assert result.matrix[5].nnz == 0
    assert violation(X, np.arange(120), result.matrix, 50.0, 0.9) < TOLERANCE


@pytest.mark.parametrize("scale", [1e-50, 1e50])
def test_codes_do_not_depend_on_the_unit_of_length(scale, solver):
    X, landmarks = subspaces(80, 40), np.arange(0, 80, 2)
    expected = code_elastic_net(X, landmarks, gamma=20.0).matrix.toarray()
    assert_allclose(code_elastic_net(scale * X, landmarks, gamma=20.0).matrix.toarray(), expected, atol=1e-7)


def test_threads_do_not_change_the_codes(solver):
    X, landmarks = subspaces(400, 40), np.arange(400)
    one, two = (code_elastic_net(X, landmarks, gamma=30.0, threads=threads).matrix for threads in (1, 2))
    assert_array_equal(one.indices, two.indices)
    assert_array_equal(one.data, two.data)
