"""The dataset `file`: rows of one's own file, drawn by trial, centred and reduced."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc import types
from lssc.data.datasets.file import file
from lssc.data.files.content import content_of
from lssc.errors import InputError

N, D = 40, 5


@pytest.fixture
def path(tmp_path, rng):
    path = tmp_path / "points.npz"
    np.savez(path, X=rng.standard_normal((N, D)) + 3, y=np.repeat(["a", "b"], N // 2))
    return path


def draw(path, n=N, seed=0, **params):
    return file(n, path=str(path), rng=np.random.default_rng(seed), **params)


def test_all_rows_come_in_their_order(path):
    points, X = draw(path, labels="y"), np.load(path)["X"]
    assert_array_equal(points.X, X)
    assert_array_equal(points.labels, np.repeat([0, 1], N // 2))
    assert_array_equal(points.origin, np.arange(N))


def test_some_rows_are_drawn_by_the_generator(path):
    X = np.load(path)["X"]
    one, again, other = draw(path, 7, labels="y"), draw(path, 7, labels="y"), draw(path, 7, seed=1)
    assert_array_equal(one.origin, again.origin)
    assert (np.diff(one.origin) > 0).all()
    assert not np.array_equal(one.origin, other.origin)
    assert_array_equal(one.X, X[one.origin])
    assert_array_equal(one.labels, one.origin >= N // 2)
    assert other.labels is None


def test_points_are_centred_and_reduced(path):
    X = np.load(path)["X"]
    centred = X - X.mean(axis=0)
    assert_allclose(draw(path, centre=True).X, centred, atol=1e-12)
    reduced = draw(path, centre=True, dim=2).X
    assert_allclose(np.linalg.svd(reduced)[1], np.linalg.svd(centred)[1][:2])


@pytest.mark.parametrize(("params", "columns"), [({}, D), ({"dim": 2}, 2), ({"dim": 2, "centre": True}, 2)], ids=str)
def test_whitened_points_are_centred_and_have_unit_variance(path, params, columns):
    X = draw(path, whiten=True, **params).X
    assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    assert_allclose(X.T @ X / N, np.eye(columns), atol=1e-10)


def test_large_points_come_in_blocks(path, monkeypatch):
    whole = draw(path, centre=True).X
    monkeypatch.setattr(types, "MAX_IN_MEMORY", 20)
    monkeypatch.setattr(types, "NUMBERS_PER_BLOCK", 15)
    blocks = draw(path, centre=True).X
    assert isinstance(blocks, types.RowBlocks)
    assert_allclose(blocks.whole(), whole, atol=1e-14)


def test_refuses_more_rows_than_there_are(path):
    with pytest.raises(InputError, match=r"points.npz: has 40 rows; n=41 must be at most as many"):
        draw(path, 41)


def test_refuses_a_file_that_changed_after_its_config_was_filled_in(path):
    before = content_of([path])
    draw(path, content=before)
    np.savez(path, X=np.ones((N, D)))
    with pytest.raises(InputError, match=r"has changed: its SHA-256 is .*, not .* as config says; run again"):
        draw(path, content=before)


def test_content_is_the_checksum_and_survives_a_touch(path, monkeypatch):
    before = content_of([path])
    path.touch()
    assert content_of([path]) == before
    assert content_of([path, path]) == f"{before}+{before}"
    monkeypatch.setattr("lssc.data.files.content.MAX_HASHED_BYTES", 10)
    path.write_bytes(path.read_bytes() + b" ")
    assert content_of([path]) == f"{path.stat().st_size}-{path.stat().st_mtime_ns}"
