"""From pixels to points: scattering, feature files, principal components, and the images that a trial draws."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lssc.data.datasets.images import images
from lssc.data.features import scattering as module
from lssc.data.features.scattering import padded_to, scattering
from lssc.errors import InputError
from lssc.linalg.pca import fit_pca, flat_features
from lssc.parts.registry import find
from lssc.pipeline.stages.reduce_features import reduce_features
from lssc.pipeline.store.artifacts import reading, writing
from lssc.pipeline.store.features import ONLY, Features, feature_record

# A collection of 30 images of the classes 1, 4 and 7, each 4 paths of 3 places.
LABELS = np.random.default_rng(1).permutation(np.repeat([1, 4, 7], [13, 9, 8])).astype(np.uint8)
MAPS = np.random.default_rng(2).random((30, 4, 3)).astype(np.float32)
REDUCTION = {"path_maximum": True, "centre": True, "dim": 5}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Features with the given rows in files that end at the given places; they stay open."""
    folder = tmp_path_factory.mktemp("features")
    with contextlib.ExitStack() as stack:

        def keep(rows, labels, ends=()):
            files = []
            for first, last in zip([0, *ends], [*ends, len(rows)], strict=True):
                path = folder / f"{len(list(folder.iterdir()))}.h5"
                with writing(path) as writer:
                    writer.add(ONLY, feature_record(rows[first:last], labels[first:last], {}))
                files.append(stack.enter_context(reading(path)))
            return Features(files)

        yield keep


@pytest.fixture(scope="module")
def shards(kept):
    return kept(MAPS, LABELS, ends=[7, 21])


@pytest.fixture(scope="module")
def reduced(kept, shards):
    return kept(reduce_features(shards, **REDUCTION)[1], LABELS)


def rows_of(points):
    return np.random.default_rng(points).normal(size=(points, 6)) @ np.diag([5, 4, 3, 2, 1, 0.5]) + 3


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize(("n", "dim"), [(40, 1), (40, 6), (6, 6), (4, 3)])
def test_principal_components_are_the_right_singular_vectors(n, dim, centre):
    X = rows_of(n)
    mean = X.mean(axis=0) if centre else np.zeros(6)
    _, s, Vt = np.linalg.svd(X - mean)
    pca = fit_pca([X], dim=dim, centre=centre)
    assert_allclose(pca.mean, mean)
    assert_allclose(pca.variances, np.pad(s**2 / n, (0, 6))[:dim], atol=1e-10)
    # The last component of as many centred points as dimensions has no variance, and so no direction.
    told = dim - (n <= dim and centre)
    assert_allclose(np.abs(Vt[:told] @ pca.axes[:, :told]), np.eye(told), atol=1e-7)
    assert_allclose(pca.axes.T @ pca.axes, np.eye(dim), atol=1e-10)


def test_all_components_keep_all_distances():
    X = rows_of(20)
    Y = fit_pca([X], dim=6, centre=True).project(X)
    assert_allclose(Y.mean(axis=0), 0, atol=1e-12)
    assert_allclose(Y @ Y.T, (X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T, atol=1e-9)


@pytest.mark.parametrize("centre", [True, False])
@given(ends=st.sets(st.integers(1, 39), max_size=5))
def test_principal_components_do_not_depend_on_blocks(centre, ends):
    X = rows_of(40)
    one = fit_pca([X], dim=4, centre=centre)
    many = fit_pca(np.split(X, sorted(ends)), dim=4, centre=centre)
    assert_allclose(many.project(X), one.project(X), atol=1e-9)
    assert_allclose(many.variances, one.variances, atol=1e-9)


@pytest.mark.parametrize(("n", "dim", "most"), [(40, 7, 6), (5, 6, 5)])
def test_more_components_than_there_can_be_are_refused(n, dim, most):
    wanted = f"dim={dim} principal components from {n} images of 6 features; need at most {most}"
    with pytest.raises(InputError, match=f"^{wanted}$"):
        fit_pca([rows_of(n)], dim=dim, centre=True)


def test_flat_features_are_the_maps_one_after_another():
    flat = flat_features(MAPS, path_maximum=False)
    assert flat.dtype == np.float64
    assert_array_equal(flat[3], np.concatenate(list(MAPS[3])))


def test_a_path_is_divided_by_its_own_maximum_in_each_image():
    maps = MAPS.copy()
    maps[2, 1] = 0
    maps.setflags(write=False)
    flat = flat_features(maps, path_maximum=True).reshape(maps.shape)
    assert_array_equal(flat[2, 1], 0)  # a path without any answer
    assert_allclose(flat[5, 3], maps[5, 3] / maps[5, 3].max(), rtol=1e-6)
    assert_array_equal(np.delete(flat.reshape(-1, 3), 2 * 4 + 1, axis=0).max(axis=1), 1)


@given(ends=st.sets(st.integers(1, 29), max_size=4), wanted=st.lists(st.integers(0, 29), max_size=40))
def test_rows_come_in_the_order_asked_for_however_they_lie_in_files(kept, ends, wanted):
    features = kept(MAPS, LABELS, ends=sorted(ends))
    wanted = np.array(wanted, dtype=np.int64)
    assert_array_equal(features.rows(wanted), MAPS[wanted])
    assert_array_equal(features.labels, LABELS)
    assert [len(block) for block in features.blocks()] == np.diff([0, *sorted(ends), 30]).tolist()


def test_features_tell_other_content_apart(kept, shards):
    assert shards.content == kept(MAPS, LABELS, ends=[7, 21]).content
    assert shards.content != kept(MAPS, LABELS[::-1], ends=[7, 21]).content
    assert shards.content != kept(MAPS + 1, LABELS, ends=[7, 21]).content


@pytest.fixture(scope="module")
def digits():
    return np.random.default_rng(4).integers(256, size=(5, 28, 28), dtype=np.uint8)


def test_scattering_gives_217_paths_of_16_places(digits):
    maps = scattering(digits)
    assert maps.shape == (5, 217, 16)
    assert maps.dtype == np.float32


def test_scattering_does_not_depend_on_the_images_beside_it(digits, monkeypatch):
    together = scattering(digits)
    alone = np.concatenate([scattering(digits[i : i + 1]) for i in range(5)])
    monkeypatch.setattr(module, "IMAGES_PER_BATCH", 2)
    assert_allclose(alone, together, atol=1e-6)
    assert_allclose(scattering(digits), together, atol=1e-6)


def test_the_first_path_is_the_local_average_and_the_others_see_no_constant():
    maps = scattering(np.full((1, 32, 32), 51, dtype=np.uint8))
    assert_allclose(maps[0, 0], 51 / 255, rtol=1e-4)
    assert_allclose(maps[0, 1:], 0, atol=1e-3)


@pytest.mark.parametrize(("height", "width", "side"), [(28, 28, 32), (3, 5, 8), (4, 4, 4), (1, 2, 4)])
def test_images_are_centred_on_a_square_of_zeros(height, width, side):
    pixels = np.full((2, height, width), 255, dtype=np.uint8)
    padded = padded_to(pixels, side)
    assert padded.shape == (2, side, side)
    assert padded.dtype == np.float32
    assert_array_equal(np.unique(padded), [0, 1] if side > height else [1])
    for axis, size in ((1, height), (2, width)):
        inside = np.flatnonzero(padded[0].any(axis=2 - axis))
        assert len(inside) == size
        assert inside[0] in (side - 1 - inside[-1], side - 2 - inside[-1])


@pytest.mark.parametrize(("scales", "angles", "side"), [(1, 1, 2), (2, 3, 8), (2, 2, 11), (3, 2, 8)])
def test_an_image_has_as_many_features_as_told(scales, angles, side):
    pixels, params = np.zeros((1, 2, 2), dtype=np.uint8), {"scales": scales, "angles": angles, "side": side}
    assert scattering(pixels, **params).size == find("features", "scattering").width(**params)


def test_images_larger_than_the_square_are_refused():
    with pytest.raises(InputError, match="images of 28 x 20 pixels do not fit a square of side=27"):
        padded_to(np.zeros((1, 28, 20), dtype=np.uint8), 27)


def draw(n, features, seed=0, n_clusters=3, **params):
    rng = np.random.default_rng(seed)
    return images(n, n_clusters=n_clusters, collection="c", **params, features=features, rng=rng)


@pytest.mark.parametrize(("classes", "n", "each"), [((), 15, 5), ((), 24, 8), ([7, 1], 10, 5), ([4], 3, 3)])
def test_every_class_has_as_many_distinct_images(reduced, classes, n, each):
    points = draw(n, reduced, classes=classes)
    assert_array_equal(np.bincount(points.labels), [each] * (n // each))
    assert len(set(points.origin.tolist())) == n


@pytest.mark.parametrize("classes", [[1, 7], [7, 1]], ids=str)
def test_points_are_the_features_and_classes_of_the_images_they_come_from(reduced, classes):
    points = draw(10, reduced, classes=classes)
    assert points.X.dtype == np.float64
    assert_array_equal(points.X, next(reduced.blocks())[points.origin])
    assert_array_equal(np.array([1, 7])[points.labels], LABELS[points.origin])


def test_the_same_rng_draws_the_same_images_and_another_others(reduced):
    one, two, other = draw(15, reduced), draw(15, reduced), draw(15, reduced, seed=1)
    assert_array_equal(one.origin, two.origin)
    assert_array_equal(one.X, two.X)
    assert one.origin.tolist() != other.origin.tolist()


def test_all_reductions_of_a_collection_show_the_same_images(reduced, shards):
    """What features are made of images must not change which images a trial draws."""
    assert_array_equal(draw(15, reduced).origin, draw(15, shards, pca_on="subset", dim=3).origin)


@pytest.mark.parametrize(("classes", "n"), [((), 30), ([1, 7], 21)], ids=str)
def test_all_images_are_taken_if_n_is_their_number(reduced, classes, n):
    points = draw(n, reduced, classes=classes)
    assert_array_equal(points.origin, np.flatnonzero(np.isin(LABELS, classes or LABELS)))


@pytest.mark.parametrize(
    ("classes", "n", "said"),
    [
        ((), 27, "9 images of each class, but class 7 has only 8"),
        ([7, 1], 18, "9 images of each class, but class 7 has only 8"),
        ([4], 10, "10 images of each class, but class 4 has only 9"),
    ],
)
def test_more_images_than_a_class_has_are_refused(reduced, classes, n, said):
    with pytest.raises(InputError, match=f"^n={n} needs {said}$"):
        draw(n, reduced, classes=classes)


@pytest.mark.parametrize("path_maximum", [True, False])
@pytest.mark.parametrize("centre", [True, False])
def test_components_of_the_subset_are_those_of_all_images_if_it_is_all(kept, shards, path_maximum, centre):
    how = {"path_maximum": path_maximum, "centre": centre, "dim": 5}
    pca, coordinates = reduce_features(shards, **how)
    assert coordinates.shape == (30, 5)
    assert pca.variances.shape == (5,)
    of_all = draw(30, kept(coordinates, LABELS), **how)
    of_subset = draw(30, shards, pca_on="subset", **how)
    assert_array_equal(of_all.origin, of_subset.origin)
    assert_allclose(of_subset.X, of_all.X, atol=1e-5)


def test_components_of_a_subset_are_of_its_images_alone(shards):
    points = draw(15, shards, pca_on="subset", dim=4)
    flat = flat_features(MAPS[points.origin], path_maximum=True)
    expected = np.linalg.svd(flat - flat.mean(axis=0), compute_uv=False)[:4]
    assert_allclose(np.linalg.norm(points.X, axis=0), expected, rtol=1e-6)


def test_a_subset_with_fewer_images_than_components_is_refused(shards):
    with pytest.raises(InputError, match="dim=5 principal components from 3 images"):
        draw(3, shards, pca_on="subset", dim=5)
