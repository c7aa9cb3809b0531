import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import linear_sum_assignment, minimize

from lssc.errors import InputError
from lssc.linalg import doubly_stochastic
from lssc.linalg.doubly_stochastic import make_doubly_stochastic


def affinities(n, nonzeros, seed=0):
    """Random nonnegative entries, so many in each row, none on the diagonal."""
    rng = np.random.default_rng(seed)
    K = np.zeros((n, n))
    for i in range(n):
        K[i, rng.choice(np.delete(np.arange(n), i), nonzeros, replace=False)] = rng.exponential(0.1, nonzeros)
    return sparse.csr_matrix(K)


@pytest.mark.parametrize("eta", [1e-3, 0.01, 0.1, 1.0, 100.0])
@pytest.mark.parametrize(("n", "nonzeros"), [(7, 2), (60, 8), (300, 20)])
def test_rows_and_columns_sum_to_one(n, nonzeros, eta):
    A = make_doubly_stochastic(affinities(n, nonzeros), eta).matrix
    assert A.data.min() > 0
    assert_allclose(A.sum(axis=0), 1, atol=1e-7)
    assert_allclose(A.sum(axis=1), 1, atol=1e-7)


@pytest.mark.parametrize("eta", [1e-3, 0.01, 0.1, 1.0, 100.0])
def test_no_doubly_stochastic_matrix_has_a_lower_objective(eta):
    """The objective falls in no direction: doubly stochastic matrices are averages of permutations."""
    K = affinities(120, 9)
    A = make_doubly_stochastic(K, eta).matrix.toarray()
    gradient = eta * A - K.toarray()
    best = gradient[linear_sum_assignment(gradient)].sum()
    assert (gradient * A).sum() <= best + 1e-6


@pytest.mark.parametrize("eta", [0.02, 0.3])
def test_agrees_with_a_dense_quadratic_program(eta):
    n, K = 6, affinities(6, 3)
    # One of the sums follows from the others.
    sums = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])[:-1]
    result = minimize(
        lambda a: eta / 2 * a @ a - K.toarray().ravel() @ a,
        np.full(n * n, 1 / n),
        jac=lambda a: eta * a - K.toarray().ravel(),
        bounds=[(0, None)] * n**2,
        constraints={"type": "eq", "fun": lambda a: sums @ a - 1, "jac": lambda a: sums},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert_allclose(make_doubly_stochastic(K, eta).matrix.toarray().ravel(), result.x, atol=1e-5)


def test_has_entries_where_the_codes_have_none():
    # No row uses the last column, and the last row is empty.
    K = affinities(40, 5).tolil()
    K[:, -1], K[-1] = 0, 0
    A = make_doubly_stochastic(sparse.csr_matrix(K), 0.05).matrix
    assert_allclose(A[:, [39]].sum(), 1, atol=1e-7)
    assert_allclose(A.sum(axis=1), 1, atol=1e-7)


def test_order_of_the_points_does_not_matter():
    K, order = affinities(80, 6), np.random.default_rng(1).permutation(80)
    A = make_doubly_stochastic(K, 0.03).matrix
    permuted = make_doubly_stochastic(sparse.csr_matrix(K[order][:, order]), 0.03).matrix
    assert_allclose(permuted.toarray(), A[order][:, order].toarray(), atol=1e-7)


def test_symmetric_affinities_give_a_symmetric_matrix():
    K = affinities(50, 6)
    A = make_doubly_stochastic(sparse.csr_matrix(K + K.T), 0.05).matrix.toarray()
    assert_allclose(A, A.T, atol=1e-8)


def test_zero_affinities_give_the_uniform_matrix():
    assert_allclose(make_doubly_stochastic(sparse.csr_matrix((5, 5)), 0.1).matrix.toarray(), 0.2, atol=1e-9)


def test_refuses_a_matrix_that_is_not_sparse(monkeypatch):
    monkeypatch.setattr(doubly_stochastic, "MAX_ENTRIES_PER_ROW", 10)
    with pytest.raises(InputError, match=r"eta=100 spreads the affinity over .* of 3,600 pairs; use a smaller eta"):
        make_doubly_stochastic(affinities(60, 8), 100.0)


def test_makes_no_square_array():
    n = 4000
    K = affinities(n, 10)
    tracemalloc.start()
    make_doubly_stochastic(K, 0.02)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n * 8 / 4
