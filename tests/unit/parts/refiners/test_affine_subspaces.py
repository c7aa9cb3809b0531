import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lssc.errors import InputError
from lssc.linalg.subspaces import label_points
from lssc.metrics import scores
from lssc.parts.refiners.affine_subspaces import refine_affine_subspaces


@pytest.fixture
def planes(rng):
    """600 points near four planes in R^10, off the origin, with labels and noisy coordinates of the clusters."""
    labels = np.repeat(np.arange(4), 150)
    bases = [np.linalg.qr(rng.standard_normal((10, 2)))[0] for _ in range(4)]
    X = np.concatenate([rng.standard_normal((150, 2)) @ basis.T + 0.5 * rng.standard_normal(10) for basis in bases])
    return X + 0.02 * rng.standard_normal(X.shape), labels, np.eye(4)[labels] + 0.5 * rng.standard_normal((600, 4))


def spoiled(labels, rng):
    start = labels.copy()
    start[rng.choice(len(labels), len(labels) // 4, replace=False)] = 0
    return start


@pytest.mark.parametrize("max_points", [200, 20_000])
@pytest.mark.parametrize("within", [0.0, 1.0])
def test_recovers_planes_from_rough_labels(planes, max_points, within, rng):
    X, labels, coordinates = planes
    start = spoiled(labels, rng)
    options = {"within": within, "max_points": max_points}
    refined = refine_affine_subspaces(X, start, n_clusters=4, coordinates=coordinates, rng=rng, **options)
    assert scores(labels, refined.labels)["accuracy"] > 0.97 > scores(labels, start)["accuracy"]
    assert refined.subspaces.bases.shape == (4, 10, 2)


def test_labels_follow_from_subspaces(planes, rng):
    X, labels, coordinates = planes
    refined = refine_affine_subspaces(X, spoiled(labels, rng), n_clusters=4, coordinates=coordinates, rng=rng)
    assert_array_equal(label_points(X, refined.subspaces, within=1.0), refined.labels)
    one_by_one = [label_points(X[i : i + 1], refined.subspaces, within=1.0)[0] for i in range(40)]
    assert_array_equal(one_by_one, refined.labels[:40])


def test_refines_fewer_points_than_dimensions(planes, rng):
    """A hundred points in 300 dimensions: fewer than the coordinates in which starts are compared."""
    X, labels, coordinates = (array[::6] for array in planes)
    wide = np.pad(X, ((0, 0), (0, 290))) @ np.linalg.qr(rng.standard_normal((300, 300)))[0]
    refined = refine_affine_subspaces(wide, labels, n_clusters=4, coordinates=coordinates, rng=rng)
    assert scores(labels, refined.labels)["accuracy"] > 0.97


def test_further_starts_help_where_the_labels_do_not(planes):
    X, labels, coordinates = planes
    lost = np.zeros(600, dtype=int)
    one, five = (
        refine_affine_subspaces(X, lost, n_clusters=4, coordinates=coordinates, starts=s, rng=np.random.default_rng(0))
        for s in (1, 5)
    )
    assert five.info["distance"] < one.info["distance"]
    assert scores(labels, five.labels)["accuracy"] > scores(labels, one.labels)["accuracy"]


@pytest.mark.parametrize("value", ["zero", "equal", "few distinct", "one dimension"])
def test_labels_degenerate_points(value, rng):
    X = {
        "zero": np.zeros((40, 5)),
        "equal": np.ones((40, 5)),
        "few distinct": np.repeat(rng.standard_normal((4, 5)), 10, axis=0),
        "one dimension": rng.standard_normal((40, 1)),
    }[value]
    labels = rng.integers(3, size=40)
    refined = refine_affine_subspaces(X, labels, n_clusters=3, coordinates=rng.standard_normal((40, 3)), rng=rng)
    assert refined.labels.shape == (40,)
    assert set(refined.labels) <= {0, 1, 2}
    assert np.isfinite(refined.subspaces.means).all()


def test_separates_clusters_along_one_axis(rng):
    """Three clusters on one line: their subspaces are all that line, and only distances within it tell them apart."""
    labels = np.repeat([0, 1, 2], 100)
    X = np.zeros((300, 6))
    X[:, 0] = 20.0 * labels + rng.standard_normal(300)
    X += 0.3 * rng.standard_normal(X.shape)
    coordinates = np.eye(3)[labels]
    with_, without = (
        refine_affine_subspaces(X, labels, n_clusters=3, coordinates=coordinates, within=w, rng=rng).labels
        for w in (1.0, 0.0)
    )
    assert_array_equal(with_, labels)
    assert scores(labels, without)["accuracy"] < 0.7


def test_refuses_no_thresholds(planes, rng):
    X, labels, coordinates = planes
    with pytest.raises(InputError, match="thresholds is empty; give at least one"):
        refine_affine_subspaces(X, labels, n_clusters=4, coordinates=coordinates, thresholds=(), rng=rng)
