import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lssc.kernels.subgradient_search import find_by_subgradient
from lssc.parts.coders.lasso import code_lasso
from lssc.parts.selectors.s5c import select_s5c


def plain_search(X, m, order, lam):
    """The rounds of the paper, with a lasso of one point at a time."""
    chosen, rounds = [], 0
    for i in order:
        rounds += 1
        r = X[i].copy()
        others = [j for j in chosen if j != i]
        if others:
            r -= code_lasso(X[i][None], X[others], lam=lam).matrix.toarray()[0] @ X[others]
        products = X @ r
        gain = np.maximum(np.abs(products) - 1 / lam, 0) ** 2
        gain[[i, *chosen]] = 0
        if gain.max() > 0:
            chosen.append(int(gain.argmax()))
        if len(chosen) == m:
            break
    return chosen, rounds


@pytest.mark.parametrize("lam", [1.5, 4.0, 30.0])
@pytest.mark.parametrize("m", [1, 6, 20])
def test_agrees_with_the_rounds_of_the_paper(X, lam, m, rng):
    order = rng.permutation(60)[: 2 * m]
    expected, rounds = plain_search(X, m, order, lam)
    chosen, n_rounds = find_by_subgradient(X, m, order, lam=lam)
    assert_array_equal(chosen, expected)
    assert n_rounds == rounds


def test_adds_none_where_points_are_represented():
    """Two directions need two landmarks; the rest are random."""
    X = np.repeat(np.eye(2), 10, axis=0)
    landmarks = select_s5c(X, 8, lam=2.0, rng=np.random.default_rng(0))
    assert landmarks.info["n_random"] > 0
    assert landmarks.info["n_rounds"] == 16
    assert len(set(landmarks.indices)) == 8


def test_draws_other_points_with_other_seeds(X):
    found = {tuple(select_s5c(X, 5, lam=10.0, rng=np.random.default_rng(s)).indices) for s in range(10)}
    assert len(found) > 5


def test_more_rounds_than_points_repeat_them(X):
    landmarks = select_s5c(X[:20], 19, lam=10.0, rng=np.random.default_rng(0))
    assert len(set(landmarks.indices)) == 19
