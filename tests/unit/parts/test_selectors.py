import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from lssc.kernels import farthest_first as farthest
from lssc.kernels.farthest_first import find_exemplars
from lssc.parts.coders.lasso_spams import solve_by_spams
from lssc.parts.sampling import on_sample
from lssc.parts.selectors.farthest_first import select_farthest_first
from lssc.parts.selectors.fasterpam import select_fasterpam
from lssc.parts.selectors.kmedoids import select_kmedoids
from lssc.parts.selectors.kmedoids_full import select_kmedoids_full
from lssc.parts.selectors.uniform import select_uniform


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
def test_farthest_first_is_the_search_over_all_points(D, lam, kept, monkeypatch):
    monkeypatch.setattr(farthest, "MAX_KEPT_CORRELATIONS", kept)
    # Points of different lengths: no two costs are equal.
    X = np.random.default_rng(4).standard_normal((70, D))
    assert find_exemplars(X, 25, lam=lam, first=3)[0].tolist() == search_without_bounds(X, 25, lam, 3)


def test_farthest_first_solves_fewer_lassos_than_a_search_over_all_points():
    X = np.random.default_rng(4).standard_normal((200, 6))
    assert find_exemplars(X, 30, lam=10.0, first=0)[1] < 30 * 200 / 2


def test_farthest_first_starts_at_a_random_point(X):
    starts = {int(select_farthest_first(X, 2, lam=10.0, rng=np.random.default_rng(s)).indices[0]) for s in range(20)}
    assert len(starts) > 10


DEGENERATE = {
    "duplicates": np.repeat(np.random.default_rng(0).standard_normal((4, 5)), 5, axis=0),
    "zero points": np.concatenate([np.zeros((6, 5)), np.random.default_rng(1).standard_normal((14, 5))]),
    "all zero": np.zeros((20, 5)),
    "all the same": np.ones((20, 5)),
    "orthogonal": np.eye(20),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("m", [1, 3, 19, 20])
@pytest.mark.parametrize("first", [0, 7])
def test_farthest_first_never_picks_a_point_twice(name, m, first):
    indices = find_exemplars(DEGENERATE[name], m, lam=10.0, first=first)[0]
    assert indices[0] == first
    assert len(set(indices.tolist())) == m
    assert 0 <= indices.min() <= indices.max() < 20


def test_farthest_first_takes_a_zero_point_or_a_duplicate_last():
    X = np.concatenate([np.eye(5), np.zeros((1, 5))])
    assert find_exemplars(X, 6, lam=10.0, first=0)[0][-1] == 5


every_medoid_selector = pytest.mark.parametrize("select", [select_kmedoids, select_kmedoids_full, select_fasterpam])


@every_medoid_selector
@pytest.mark.parametrize("metric", ["cityblock", "euclidean", "cosine"])
def test_medoids_find_separated_groups(select, metric, rng):
    angles = np.repeat([0.1, 1.7, 3.3, 4.9], 10) + 0.05 * rng.standard_normal(40)
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = select(X, 4, metric=metric, rng=rng)
    assert sorted(found.indices // 10) == [0, 1, 2, 3]


def test_fasterpam_ends_where_no_swap_helps(rng):
    X = rng.standard_normal((25, 2))
    distances = cdist(X, X, "cityblock")
    chosen = select_fasterpam(X, 3, rng=rng).indices
    cost = distances[:, chosen].min(axis=1).sum()
    for i, j in itertools.product(range(3), range(25)):
        swapped = [*np.delete(chosen, i), j]
        assert distances[:, swapped].min(axis=1).sum() >= cost - 1e-5


@every_medoid_selector
def test_medoid_selectors_record_cost_and_convergence(select, X, rng):
    info = select(X, 5, rng=rng).info
    assert info["cost"] > 0
    assert info["sampled"] == 60
    assert info["converged"]


@every_medoid_selector
def test_medoid_selectors_record_that_they_ran_out_of_iterations(select, X, rng):
    assert not select(X, 5, max_iter=1, rng=rng).info["converged"]


@pytest.mark.parametrize("name", DEGENERATE)
@every_medoid_selector
@pytest.mark.parametrize("m", [1, 5, 20])
def test_medoid_selectors_give_m_distinct_points_even_of_duplicates(select, name, m, rng):
    indices = select(DEGENERATE[name], m, rng=rng).indices
    assert len(set(indices.tolist())) == m


def first_points(X, m, *, rng, seen):
    seen.append(X)
    return np.arange(m), {"note": "kept"}


def test_up_to_max_points_all_points_take_part(X, rng):
    seen = []
    found = on_sample(first_points, X, 4, max_points=60, rng=rng, seen=seen)
    assert_array_equal(seen[0], X)
    assert_array_equal(found.indices, np.arange(4))
    assert found.info == {"note": "kept", "sampled": 60}


def test_beyond_max_points_a_sample_takes_part_and_indices_point_into_all_points(X, rng):
    seen = []
    found = on_sample(first_points, X, 4, max_points=20, rng=rng, seen=seen)
    assert len(np.unique(seen[0], axis=0)) == 20
    assert_array_equal(X[found.indices], seen[0][:4])
    assert found.info["sampled"] == 20
    assert found.indices.max() > 4


def test_the_sample_holds_at_least_m_points(X, rng):
    seen = []
    found = on_sample(first_points, X, 30, max_points=20, rng=rng, seen=seen)
    assert len(seen[0]) == len(set(found.indices.tolist())) == 30


@pytest.mark.parametrize("max_points", [20, 60])
def test_repeated_choices_are_filled_up_with_other_points(X, max_points, rng):
    found = on_sample(lambda X, m, rng: (np.array([3, 3, 3, 1]), {}), X, 4, max_points=max_points, rng=rng)
    assert len(set(found.indices.tolist())) == 4


def test_uniform_takes_every_point_about_equally_often(X):
    draws = [select_uniform(X, 15, rng=np.random.default_rng(s)).indices for s in range(400)]
    counts = np.bincount(np.concatenate(draws), minlength=60)
    assert counts.sum() == 6000
    # Mean 100, standard deviation 8.7: five of them on either side.
    assert counts.min() > 56
    assert counts.max() < 144
