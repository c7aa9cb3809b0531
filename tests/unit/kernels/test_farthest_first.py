import numpy as np
import pytest

from lssc.kernels import farthest_first
from lssc.kernels.farthest_first import find_exemplars
from lssc.parts.coders.lasso_spams import solve_by_spams


def costs(X, chosen, lam):
    codes = solve_by_spams(X, np.asfortranarray(X[chosen].T), lam).toarray()
    return np.abs(codes).sum(axis=1) + lam / 2 * ((X - codes @ X[chosen]) ** 2).sum(axis=1)


def search_without_bounds(X, m, lam, first):
    chosen = [first]
    while len(chosen) < m:
        cost = costs(X, np.array(chosen), lam)
        cost[chosen] = -np.inf
        chosen.append(int(cost.argmax()))
    return chosen


@pytest.mark.parametrize("kept", [0, 2**27])
@pytest.mark.parametrize("lam", [3.0, 30.0])
@pytest.mark.parametrize("D", [6, 40])
def test_finds_the_exemplars_of_a_search_over_all_points(D, lam, kept, monkeypatch):
    monkeypatch.setattr(farthest_first, "MAX_KEPT_CORRELATIONS", kept)
    # Points of different lengths: no two costs are equal.
    X = np.random.default_rng(4).standard_normal((70, D))
    assert find_exemplars(X, 25, lam=lam, first=3)[0].tolist() == search_without_bounds(X, 25, lam, 3)


def test_solves_fewer_lassos_than_a_search_over_all_points():
    X = np.random.default_rng(4).standard_normal((200, 6))
    assert find_exemplars(X, 30, lam=10.0, first=0)[1] < 30 * 200 / 2


def test_takes_a_zero_point_last():
    X = np.concatenate([np.eye(5), np.zeros((1, 5))])
    assert find_exemplars(X, 6, lam=10.0, first=0)[0][-1] == 5


def test_chooses_the_same_points_however_costs_are_rounded():
    # At unit length, all points that no exemplar represents cost the same, up to rounding.
    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    expected = find_exemplars(X, 60, lam=3.0, first=7)[0].tolist()
    for _ in range(5):
        rotation = np.linalg.qr(rng.standard_normal((20, 20)))[0]
        assert find_exemplars(X @ rotation, 60, lam=3.0, first=7)[0].tolist() == expected


def test_chooses_the_first_of_points_that_cost_the_same():
    assert find_exemplars(np.eye(6), 4, lam=10.0, first=2)[0].tolist() == [2, 0, 1, 3]
    order = np.array([5, 4, 3, 2, 1, 0])
    assert find_exemplars(np.eye(6), 4, lam=10.0, first=2, order=order)[0].tolist() == [2, 5, 4, 3]


def test_order_decides_between_equal_costs_only():
    X = np.random.default_rng(4).standard_normal((200, 6))
    order = np.random.default_rng(5).permutation(200)
    chosen = find_exemplars(X, 30, lam=10.0, first=3)[0].tolist()
    assert find_exemplars(X, 30, lam=10.0, first=3, order=order)[0].tolist() == chosen


@pytest.mark.parametrize("lam", [1e3, 1e15])
def test_chooses_no_point_twice(lam):
    X = np.repeat(np.random.default_rng(4).standard_normal((5, 3)), 8, axis=0)
    assert len(set(find_exemplars(X, 40, lam=lam, first=0)[0].tolist())) == 40
