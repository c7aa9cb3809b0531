import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.data.datasets.synthetic import synthetic
from lssc.linalg.coherence import penalties
from lssc.linalg.scaling import unit_rows
from lssc.parts.coders import admm, admm_modified
from lssc.parts.coders.admm import code_admm
from lssc.parts.coders.admm_modified import code_admm_modified
from lssc.parts.coders.lasso import code_lasso


def test_modified_admm_converges_to_the_lasso_objective(X):
    lam = penalties(X.T, 20.0)[0]

    def objective(codes):
        return np.abs(codes).sum(axis=1) + lam / 2 * ((X - codes @ X) ** 2).sum(axis=1)

    found = code_admm_modified(X, np.arange(60), alpha=20.0, max_iter=3000, tol=0.0).matrix.toarray()
    exact = code_lasso(X, np.arange(60), lam=lam).matrix.toarray()
    assert_allclose(objective(found), objective(exact), atol=1e-6)


def plain_modified_admm(X, alpha, max_iter, tol=0.0):
    """The authors' iteration with the n x n inverse: codes, most iterations and largest last gap."""
    mu1, mu2 = penalties(X.T, alpha)
    A = np.linalg.inv(mu1 * X @ X.T + mu2 * np.eye(len(X)))
    codes, iterations, gap = [], 0, 0.0
    for own in np.split(np.arange(len(X)), range(64, len(X), 64)):
        C, L = np.zeros((2, len(X), len(own)))
        for iteration in range(1, max_iter + 1):
            Z = A @ (mu1 * X @ X[own].T + mu2 * C - L)
            T = Z + L / mu2
            C = np.sign(T) * np.maximum(np.abs(T) - 1 / mu2, 0)
            C[own, np.arange(len(own))] = 0
            L = L + mu2 * (Z - C)
            change = np.abs(Z - C).max()
            if iteration % 5 == 0 and change <= tol:
                break
        codes.append(C.T)
        iterations, gap = max(iterations, iteration), max(gap, change)
    return np.concatenate(codes), iterations, gap


@pytest.mark.parametrize("block", [1, 16, 64])
@pytest.mark.parametrize("iterations", [1, 37])
def test_modified_admm_does_not_depend_on_the_block(X, block, iterations, monkeypatch):
    monkeypatch.setattr(admm_modified, "COLUMNS_PER_BLOCK", block)
    found = code_admm_modified(X, np.arange(60), alpha=20.0, max_iter=iterations, tol=0.0).matrix
    assert_allclose(found.toarray(), plain_modified_admm(X, 20.0, iterations)[0], atol=1e-10)


def generator(seed):
    return np.random.default_rng(seed)


def subspaces(n, dim):
    """n points near three random subspaces, at unit norm."""
    drawn = synthetic(-(-n // 3) * 3, n_clusters=3, ambient_dim=dim, subspace_dim=min(dim, 4), rng=generator(0))
    return unit_rows(drawn.X)[:n]


@pytest.mark.parametrize(("n", "dim"), [(255, 16), (256, 6), (257, 17), (300, 1), (400, 33), (70, 90)])
@pytest.mark.parametrize("alpha", [5.0, 60.0, 800.0])
def test_modified_admm_agrees_with_a_plain_iteration(n, dim, alpha):
    """Sizes around the kernel's tiles; with and without convergence; few and many nonzeros."""
    X = subspaces(n, dim)
    codes = code_admm_modified(X, np.arange(n), alpha=alpha, max_iter=57, tol=1e-3)
    expected, iterations, gap = plain_modified_admm(X, alpha, 57, 1e-3)
    assert_allclose(codes.matrix.toarray(), expected, atol=1e-10)
    assert codes.info["n_iter"] == iterations
    assert codes.info["gap"] == pytest.approx(gap, rel=1e-6)
    assert codes.matrix.has_canonical_format
    assert (codes.matrix.data != 0).all()


def test_gap_ignores_duals_at_their_bound():
    X = np.array([[1.0, 0.0], [10.0, 0.0], [0.3, 1.0]])
    gap = code_admm_modified(X, np.arange(3), alpha=20.0, max_iter=15, tol=0.0).info["gap"]
    assert gap == pytest.approx(plain_modified_admm(X, 20.0, 15)[2], rel=1e-6)


def test_modified_admm_is_bitwise_repeatable(monkeypatch):
    X = subspaces(300, 16)
    codes = []
    for block in (64, 64, 7):
        monkeypatch.setattr(admm_modified, "COLUMNS_PER_BLOCK", block)
        codes.append(code_admm_modified(X, np.arange(300), alpha=20.0, max_iter=80, tol=0.0).matrix.toarray())
    assert_array_equal(codes[0], codes[1])
    assert_array_equal(codes[0], codes[2])


@pytest.mark.parametrize("code", [code_admm, code_admm_modified])
def test_records_convergence(X, code):
    hasty = code(X, np.arange(60), alpha=20.0, max_iter=3, tol=1e-12).info
    patient = code(X, np.arange(60), alpha=20.0, max_iter=5000, tol=1e-3).info
    assert not hasty["converged"]
    assert hasty["n_iter"] <= 3
    assert patient["converged"]
    assert patient["gap"] <= 1e-3
    assert patient["n_iter"] < 5000


def test_admm_makes_max_iter_less_one_iterations(X):
    assert code_admm(X, np.arange(60), alpha=20.0, max_iter=8, tol=0.0).info["n_iter"] == 7
    assert code_admm(X, np.arange(60), alpha=20.0, max_iter=1, tol=0.0).info["n_iter"] == 1


def both_products(X, **params):
    return [code_admm(X, np.arange(len(X)), products=products, **params) for products in ("dense", "low_rank")]


def degenerate():
    """Points of different norms, some of them zero, duplicate or opposite."""
    X = subspaces(280, 8) * generator(2).uniform(0.1, 3, size=(280, 1))
    X[10:13] = 0
    X[20:40], X[40:50] = X[0], -X[60:70]
    return X


FEW = [generator(1).standard_normal((n, dim)) for n in (1, 2, 3) for dim in (1, 2, 20)]


@pytest.mark.parametrize("X", [degenerate(), np.zeros((3, 2)), *FEW], ids=lambda X: str(X.shape))
def test_both_admms_agree_with_plain_ones_on_few_or_degenerate_points(X):
    codes = code_admm_modified(X, np.arange(len(X)), alpha=30.0, max_iter=100, tol=0.0)
    expected, _, gap = plain_modified_admm(X, 30.0, 100)
    assert_allclose(codes.matrix.toarray(), expected, atol=1e-10)
    assert codes.info["gap"] == pytest.approx(gap, rel=1e-6, abs=1e-15)
    dense, low_rank = both_products(X, alpha=30.0, max_iter=100, tol=1e-12)
    assert_allclose(low_rank.matrix.toarray(), dense.matrix.toarray(), atol=1e-9)
    assert low_rank.info["gap"] == pytest.approx(dense.info["gap"], rel=1e-6, abs=1e-15)


@pytest.mark.parametrize(("n", "dim"), [(257, 16), (256, 6), (150, 1), (70, 90), (130, 200)])
@pytest.mark.parametrize("alpha", [5.0, 60.0, 800.0])
@pytest.mark.parametrize("tol", [1e-12, 3e-3, 0.05])
def test_low_rank_products_agree_with_dense_ones(n, dim, alpha, tol):
    """More and fewer points than dimensions; with and without convergence; few and many nonzeros."""
    dense, low_rank = both_products(subspaces(n, dim), alpha=alpha, max_iter=60, tol=tol)
    assert_allclose(low_rank.matrix.toarray(), dense.matrix.toarray(), atol=1e-10)
    assert low_rank.info == {**dense.info, "gap": pytest.approx(dense.info["gap"], rel=1e-6)}
    assert low_rank.matrix.has_canonical_format


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_of_columns_stop_together(block, monkeypatch):
    """Alone, some columns would stop early, others late."""
    X = np.concatenate([np.eye(6, 8), subspaces(90, 8), np.tile(np.eye(1, 8), (20, 1))])
    monkeypatch.setattr(admm, "COLUMNS_PER_BLOCK", block)
    dense, low_rank = both_products(X, alpha=20.0, max_iter=2000, tol=1e-3)
    assert 1 < dense.info["n_iter"] < 1999
    assert low_rank.info == {**dense.info, "gap": pytest.approx(dense.info["gap"], rel=1e-6)}
    assert_allclose(low_rank.matrix.toarray(), dense.matrix.toarray(), atol=1e-10)


def test_low_rank_products_allocate_no_square_matrix():
    X, n = subspaces(1500, 8), 1500
    code_admm(X[:10], np.arange(10), alpha=10.0, products="low_rank")
    tracemalloc.start()
    code_admm(X, np.arange(n), alpha=10.0, max_iter=3, products="low_rank")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n**2 / 2


@pytest.mark.parametrize(("n", "dim"), [(257, 16), (70, 90)])
@pytest.mark.parametrize("alpha", [5.0, 800.0])
def test_plain_modified_admm_agrees_with_the_kernel(n, dim, alpha):
    X = subspaces(n, dim)
    kernel, plain = (
        code_admm_modified(X, np.arange(n), alpha=alpha, max_iter=43, tol=0.0, plain=plain) for plain in (False, True)
    )
    assert_allclose(plain.matrix.toarray(), kernel.matrix.toarray(), atol=1e-10)
    assert plain.info == {**kernel.info, "gap": pytest.approx(kernel.info["gap"], rel=1e-6)}


def test_plain_modified_admm_stops_when_no_column_moves():
    X, gap, n_iter = subspaces(100, 8), np.inf, 0
    while gap > 1e-2:
        n_iter += 1
        gap = code_admm_modified(X, np.arange(100), alpha=20.0, max_iter=n_iter, tol=0.0).info["gap"]
    stopped = code_admm_modified(X, np.arange(100), alpha=20.0, tol=1e-2, plain=True)
    assert stopped.info == {"n_iter": n_iter, "gap": pytest.approx(gap, rel=1e-6), "converged": True}
    expected = plain_modified_admm(X, 20.0, n_iter)[0]
    assert_allclose(stopped.matrix.toarray(), expected, atol=1e-10)
