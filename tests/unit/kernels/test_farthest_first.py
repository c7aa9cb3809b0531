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
