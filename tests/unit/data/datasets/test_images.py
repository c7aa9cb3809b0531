from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.data.datasets.images import images
from lssc.errors import InputError
from lssc.linalg.pca import fit_pca, flat_features

# A collection of 30 images of the classes 1, 4 and 7, each 4 paths of 3 places, and 5 features of the same images.
LABELS = np.random.default_rng(1).permutation(np.repeat([1, 4, 7], [13, 9, 8])).astype(np.uint8)
MAPS = np.random.default_rng(2).random((30, 4, 3)).astype(np.float32)
REDUCED = np.random.default_rng(3).random((30, 5)).astype(np.float32)


def features(array):
    return SimpleNamespace(labels=LABELS, rows=array.__getitem__, variances=array.var(axis=0, dtype=float))


def draw(n, array=REDUCED, seed=0, **params):
    rng = np.random.default_rng(seed)
    params = {"dim": 5, **params}
    return images(n, n_clusters=3, collection="c", **params, features=features(array), rng=rng)


@pytest.mark.parametrize(("classes", "n", "each"), [((), 15, 5), ((), 24, 8), ([7, 1], 10, 5), ([4], 3, 3)])
def test_draws_equally_many_distinct_images_of_each_class(classes, n, each):
    points = draw(n, classes=classes)
    assert_array_equal(np.bincount(points.labels), [each] * (n // each))
    assert len(set(points.origin.tolist())) == n
    assert_array_equal(np.sort(classes or [1, 4, 7])[points.labels], LABELS[points.origin])
    assert points.X.dtype == np.float64
    assert_array_equal(points.X, REDUCED[points.origin])


def test_other_rng_draws_other_images():
    assert draw(15).origin.tolist() != draw(15, seed=1).origin.tolist()


def test_images_drawn_do_not_depend_on_their_features():
    assert_array_equal(draw(15).origin, draw(15, MAPS, pca_on="subset", dim=3).origin)


@pytest.mark.parametrize(("classes", "n"), [((), 30), ([1, 7], 21)], ids=str)
def test_takes_all_images_if_n_is_their_number(classes, n):
    assert_array_equal(draw(n, classes=classes).origin, np.flatnonzero(np.isin(LABELS, classes or LABELS)))


@pytest.mark.parametrize(
    ("n", "params", "message"),
    [
        (27, {}, "n=27 needs 9 images of each class, but class 7 has only 8"),
        (18, {"classes": [7, 1]}, "n=18 needs 9 images of each class, but class 7 has only 8"),
        (10, {"classes": [4]}, "n=10 needs 10 images of each class, but class 4 has only 9"),
        (16, {}, "n=16 cannot be divided among the 3 classes of these images"),
        (15, {"dim": 6}, "dim=6 components requested; these images have 5"),
        (3, {"pca_on": "subset", "dim": 5}, "dim=5 principal components from 3 points of 12 features; need at most 3"),
    ],
)
def test_refuses_more_images_or_components_than_there_are(n, params, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        draw(n, MAPS if "pca_on" in params else REDUCED, **params)


@pytest.mark.parametrize("options", [{}, {"path_maximum": False}, {"centre": False}], ids=str)
def test_components_of_a_subset_are_those_of_its_images(options):
    points = draw(15, MAPS, pca_on="subset", dim=4, **options)
    flat = flat_features(MAPS[points.origin], path_maximum=options.get("path_maximum", True))
    expected = fit_pca([flat], dim=4, centre=options.get("centre", True)).project(flat)
    assert_allclose(points.X, expected, atol=1e-12)


def test_whitening_divides_the_first_components_by_their_deviation_over_all_images():
    points = draw(15, whiten=True, dim=2)
    assert_allclose(points.X, (REDUCED / REDUCED.std(axis=0))[points.origin, :2], rtol=1e-5)
    assert_array_equal(points.origin, draw(15).origin)


def test_whitened_components_of_a_subset_have_unit_variance():
    X = draw(15, MAPS, pca_on="subset", dim=4, whiten=True).X
    assert_allclose(X.T @ X / 15, np.eye(4), atol=1e-10)
