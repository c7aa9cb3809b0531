"""Features of images in several files."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lssc.linalg.pca import fit_pca, flat_features
from lssc.pipeline.stages.reduce_features import reduce_features
from lssc.pipeline.store.artifacts import reading, writing
from lssc.pipeline.store.features import ONLY, Features, feature_record

# 30 images, each 4 paths of 3 places.
LABELS = np.random.default_rng(1).permutation(np.repeat([1, 4, 7], [13, 9, 8])).astype(np.uint8)
MAPS = np.random.default_rng(2).random((30, 4, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Writes features to files that end at these rows, and opens them."""
    folder = tmp_path_factory.mktemp("features")
    with contextlib.ExitStack() as stack:

        def write(rows, labels, ends=()):
            files = []
            for first, last in zip([0, *ends], [*ends, len(rows)], strict=True):
                path = folder / f"{len(list(folder.iterdir()))}.h5"
                with writing(path) as writer:
                    writer.add(ONLY, feature_record(rows[first:last], labels[first:last], {}))
                files.append(stack.enter_context(reading(path)))
            return Features(files)

        yield write


@given(ends=st.sets(st.integers(1, 29), max_size=4), indices=st.lists(st.integers(0, 29), max_size=40))
def test_rows_come_in_the_order_of_the_indices(store, ends, indices):
    features = store(MAPS, LABELS, ends=sorted(ends))
    indices = np.array(indices, dtype=np.int64)
    assert_array_equal(features.rows(indices), MAPS[indices])
    assert_array_equal(features.labels, LABELS)
    assert [len(block) for block in features.blocks()] == np.diff([0, *sorted(ends), 30]).tolist()


def test_content_differs_if_features_or_labels_do(store):
    contents = [
        store(maps, labels, ends=[7, 21]).content
        for maps, labels in ((MAPS, LABELS), (MAPS, LABELS), (MAPS, LABELS[::-1]), (MAPS + 1, LABELS))
    ]
    assert contents[0] == contents[1]
    assert contents[0] not in contents[2:]


@pytest.mark.parametrize("path_maximum", [True, False])
@pytest.mark.parametrize("centre", [True, False])
def test_reduced_features_are_principal_components_of_all_files(store, path_maximum, centre):
    pca, coordinates = reduce_features(
        store(MAPS, LABELS, ends=[7, 21]), path_maximum=path_maximum, centre=centre, dim=5
    )
    flat = flat_features(MAPS, path_maximum=path_maximum)
    expected = fit_pca([flat], dim=5, centre=centre)
    assert_allclose(pca.variances, expected.variances)
    assert_allclose(coordinates, expected.project(flat), atol=1e-5)


def test_reduced_file_holds_the_variances_of_its_components(tmp_path):
    path = tmp_path / "pca.h5"
    with writing(path) as writer:
        writer.add(ONLY, feature_record(MAPS[:, 0], LABELS, {"variances": [3.0, 2.0, 1.0]}))
    with reading(path) as file:
        assert_array_equal(Features([file]).variances, [3, 2, 1])
