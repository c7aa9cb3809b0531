"""K-medoids against a plain search and other programs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from lssc.data.datasets.synthetic import synthetic
from lssc.kernels import kmedoids as medoids
from lssc.kernels.kmedoids import METRICS, find_medoids
from lssc.linalg.scaling import unit_rows
from lssc.parts.selectors.fasterpam import select_fasterpam
from lssc.parts.selectors.kmedoids import select_kmedoids
from lssc.parts.selectors.kmedoids_full import select_kmedoids_full

every_metric = pytest.mark.parametrize("metric", METRICS)
# Fewer and more points than a tile, and features than a test.
every_shape = pytest.mark.parametrize("shape", [(30, 3), (64, 16), (150, 7), (130, 150)])


def distances(X, metric):
    """All pairwise distances; the cosine distance of a zero point is 1 to others and 0 to zero points."""
    found = np.nan_to_num(cdist(X, X, metric), nan=1.0)
    zero = ~X.any(axis=1)
    found[np.ix_(zero, zero)] = 0
    return found


def cost(X, chosen, metric="cityblock"):
    return distances(X, metric)[:, chosen].min(axis=1).sum()


def search(X, m, metric, max_iter=100, seed=0):
    return find_medoids(X, m, metric=metric, max_iter=max_iter, rng=np.random.default_rng(seed))


def plain_search(D, m, rng):
    """The same search on a distance matrix, each swap judged by the full cost."""
    chosen, near = [], np.ones(len(D))
    for draw in rng.random(m):
        chosen.append(int(np.searchsorted(np.cumsum(near), draw * near.sum(), side="right")))
        near = D[:, chosen].min(axis=1)
    order, best, settled = rng.permutation(len(D)), near.sum(), False
    while not settled:
        before = best
        for candidate in order:
            trials = [[*chosen[:i], int(candidate), *chosen[i + 1 :]] for i in range(m)]
            costs = [D[:, trial].min(axis=1).sum() for trial in trials]
            if min(costs) < best * (1 - medoids.MIN_SWAP_SAVING):
                best, chosen = min(costs), trials[int(np.argmin(costs))]
        settled = before - best <= medoids.MIN_ROUND_SAVING * before
    return chosen


@every_metric
# The last has medoids in two tiles. With only two points a medoid, swaps cost the same and rounding decides.
@pytest.mark.parametrize(("n", "m"), [(90, 1), (90, 2), (90, 7), (90, 30), (250, 70)])
def test_search_agrees_with_a_plain_one(metric, n, m):
    X = np.random.default_rng(m).standard_normal((n, 5))
    expected = plain_search(distances(X, metric), m, np.random.default_rng(0))
    assert search(X, m, metric)[0].tolist() == expected


@every_metric
@every_shape
@pytest.mark.parametrize("m", [1, 2, 20])
def test_cost_agrees_with_the_medoids(metric, shape, m):
    X = np.random.default_rng(1).standard_normal(shape)
    chosen, info = search(X, m, metric)
    assert_allclose(info["cost"], cost(X, chosen, metric), rtol=1e-5)


@every_metric
@every_shape
@pytest.mark.parametrize("m", [2, 20])
def test_tracks_nearest_and_second_nearest_medoids(metric, shape, m, rng):
    X = rng.standard_normal(shape)
    tiles, unit = medoids._make_tiles(X, metric)
    state = medoids._make_state(len(X), m, tiles.shape[1])
    medoids._seed_medoids(tiles, METRICS[metric], rng.random(m), state)
    for _ in range(3):
        D = distances(X, metric)[:, state.medoids]
        expected = np.sort(D, axis=1)
        assert_allclose(state.to_near * unit, expected[:, 0], rtol=1e-5, atol=1e-5)
        assert_allclose(state.to_next * unit, expected[:, 1], rtol=1e-5)
        assert_array_equal(np.stack([state.near, state.next], axis=1), np.argsort(D, axis=1)[:, :2])
        medoids._run_round(tiles, METRICS[metric], m, rng.permutation(len(X)), state)


def test_finds_nearly_the_best_choice(rng):
    X = rng.standard_normal((16, 3))
    best = min(cost(X, list(chosen)) for chosen in itertools.combinations(range(16), 3))
    assert best <= min(cost(X, search(X, 3, "cityblock", seed=s)[0]) for s in range(3)) <= 1.02 * best


@pytest.mark.parametrize("m", [20, 150])
def test_cost_is_below_alternation_and_close_to_fasterpam(m):
    X = unit_rows(synthetic(1500, n_clusters=5, rng=np.random.default_rng(m)).X)
    ours, alternation, fasterpam = (
        np.mean([cost(X, select(X, m, rng=np.random.default_rng(s)).indices) for s in range(2)])
        for select in (select_kmedoids, select_kmedoids_full, select_fasterpam)
    )
    assert ours <= alternation
    assert ours <= 1.03 * fasterpam


@every_metric
def test_every_point_can_be_a_medoid(metric, rng):
    X = rng.standard_normal((70, 4))
    found = select_kmedoids(X, 70, metric=metric, rng=rng)
    assert_array_equal(found.indices, np.arange(70))
    assert found.info["cost"] == 0
    assert found.info["converged"]


@every_metric
@given(st.integers(0, 1000), st.integers(1, 5))
def test_medoids_of_duplicates_are_distinct_points(metric, seed, m):
    rng = np.random.default_rng(seed)
    base = np.concatenate([rng.standard_normal((4, 3)), np.zeros((1, 3))])
    X = rng.permutation(np.repeat(base, 30, axis=0))
    chosen, info = search(X, m, metric, seed=seed)
    assert len(np.unique(X[chosen], axis=0)) == m
    assert_allclose(info["cost"], cost(X, chosen, metric), rtol=1e-5, atol=1e-4)


@every_metric
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_equal_points_have_one_medoid(metric, value, rng):
    chosen, info = search(np.full((80, 4), value), 5, metric)
    assert len(chosen) == 1
    assert info == {"cost": 0.0, "n_iter": 1, "converged": True}
    assert len(set(select_kmedoids(np.full((80, 4), value), 5, metric=metric, rng=rng).indices.tolist())) == 5


@every_metric
@pytest.mark.parametrize("unit", [2.0**-400, 2.0**400])
def test_medoids_do_not_depend_on_scale(metric, unit, rng):
    X = rng.standard_normal((200, 6))
    chosen, info = search(X, 9, metric)
    again, scaled = search(unit * X, 9, metric)
    assert_array_equal(again, chosen)
    assert_allclose(scaled["cost"], info["cost"] * (1 if metric == "cosine" else unit))


@pytest.mark.parametrize("metric", ["cityblock", "euclidean"])
def test_cost_does_not_depend_on_the_origin(metric, rng):
    X = rng.standard_normal((200, 6))
    assert_allclose(search(X + 1e8, 9, metric)[1]["cost"], search(X, 9, metric)[1]["cost"], rtol=1e-5)


def test_medoids_do_not_depend_on_memory_layout(rng):
    X = rng.standard_normal((200, 6))
    expected = search(X, 9, "cityblock")
    locked = X.copy()
    locked.setflags(write=False)
    for same in (np.asfortranarray(X), locked, np.repeat(X, 2, axis=1)[:, ::2]):
        chosen, info = search(same, 9, "cityblock")
        assert_array_equal(chosen, expected[0])
        assert info == expected[1]


def test_more_rounds_do_not_raise_the_cost():
    X = np.random.default_rng(3).standard_normal((2000, 4))
    found = [search(X, 40, "cityblock", max_iter=rounds)[1] for rounds in (1, 2, 100)]
    assert [info["cost"] for info in found] == sorted((info["cost"] for info in found), reverse=True)
    assert [info["converged"] for info in found] == [False, False, True]
    assert found[-1]["n_iter"] > 2


def test_sample_of_many_points_costs_little_more(rng):
    X = rng.standard_normal((3000, 4))
    found = select_kmedoids(X, 30, max_points=1000, rng=rng)
    assert found.info["sampled"] == 1000
    assert cost(X, found.indices) < 1.1 * cost(X, select_kmedoids(X, 30, rng=rng).indices)
