"""Arrays too large to hold, which in these tests is any: made and written in blocks, read row by row."""

import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lssc import types as rows
from lssc.data.datasets.synthetic import DRAWS, synthetic
from lssc.errors import DamagedArtifact, InputError
from lssc.parts import registry
from lssc.parts.timing import timed_blocks
from lssc.pipeline.stages.code_points import code_points
from lssc.pipeline.stages.generate_data import generate_data
from lssc.pipeline.stages.score_labels import score_labels
from lssc.pipeline.stages.select_landmarks import select_landmarks
from lssc.pipeline.store.artifacts import HEAD, Record, StoredRows, reading, writing
from lssc.pipeline.trials import make_artifact
from lssc.types import Codes, Landmarks, Points, RowBlocks, block_sizes

X = np.random.default_rng(0).standard_normal((30, 4))
LABELS = np.arange(30) % 3


@pytest.fixture
def nothing_held(monkeypatch):
    monkeypatch.setattr(rows, "HELD", 0)


def in_blocks(array, size):
    pieces = (array[start : start + size] for start in range(0, len(array), size))
    return RowBlocks(array.shape, array.dtype, pieces)


def write(path, *records):
    with writing(path) as writer:
        for trial, record in enumerate(records):
            writer.add(trial, record)
    return path


@pytest.mark.parametrize("size", [1, 7, 30, 100])
@pytest.mark.parametrize("array", [X, LABELS, X.reshape(15, 2, 4), X[:0], X.astype(">f4")], ids=lambda a: str(a.shape))
def test_an_array_in_blocks_is_the_array(tmp_path, array, size):
    assert_array_equal(in_blocks(array, size).whole(), array)
    whole = write(tmp_path / "whole.h5", Record({"b": LABELS, "a": array}))
    blocks = write(tmp_path / "blocks.h5", Record({"b": LABELS, "a": in_blocks(array, size)}))
    assert whole.read_bytes()[HEAD:] == blocks.read_bytes()[HEAD:]


@pytest.mark.parametrize(
    ("blocks", "problem"),
    [
        ([X[:20]], "blocks end at row 20 of 30"),
        ([], "blocks end at row 0 of 30"),
        ([X, X[:1]], r"float64 \(1, 4\) at row 30 is no block"),
        ([X[:, :3]], r"float64 \(30, 3\) at row 0 is no block"),
        ([X[:3], X[3:].astype(np.float32)], r"float32 \(27, 4\) at row 3 is no block"),
    ],
    ids=["too few rows", "none", "too many", "narrow", "type"],
)
def test_blocks_that_are_not_the_promised_array_are_refused_and_nothing_is_written(tmp_path, blocks, problem):
    with pytest.raises(ValueError, match=problem):
        write(tmp_path / "x.h5", Record({"X": RowBlocks((30, 4), X.dtype, iter(blocks))}))
    assert list(tmp_path.iterdir()) == []


def test_blocks_can_be_gone_through_once():
    blocks = in_blocks(X, 7)
    blocks.whole()
    with pytest.raises(ValueError, match="blocks end at row 0"):
        blocks.whole()


@given(st.integers(0, 50), st.integers(1, 40))
def test_blocks_have_all_rows_and_bounded_size(n, row):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "BLOCK", 20)
        sizes = block_sizes(n, row)
    assert sum(sizes) == n
    assert all(0 < size * row <= max(20, row) for size in sizes)


def test_a_file_written_in_blocks_is_refused_when_damaged(tmp_path):
    path = write(tmp_path / "x.h5", Record({"X": in_blocks(X, 7)}))
    content = path.read_bytes()
    place = content.index(X[17].tobytes())
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    with pytest.raises(DamagedArtifact, match=r"x\.h5: does not match its checksum"), reading(path):
        pass


@pytest.fixture
def stored(tmp_path, nothing_held):
    with reading(write(tmp_path / "x.h5", Record({"X": X}))) as reader:
        yield reader.rows(0, "X")


def test_small_arrays_are_read_at_once_and_large_ones_stay_in_the_file(tmp_path, monkeypatch):
    with reading(write(tmp_path / "x.h5", Record({"X": X}))) as reader:
        for held, kind in ((X.size, np.ndarray), (X.size - 1, StoredRows)):
            monkeypatch.setattr(rows, "HELD", held)
            assert type(reader.rows(0, "X")) is kind


def test_stored_rows_tell_their_size(stored):
    assert (stored.shape, stored.dtype, len(stored)) == (X.shape, X.dtype, len(X))


@pytest.mark.parametrize(
    "some", [slice(0, 7), slice(25, 99), slice(None), slice(-3, None), slice(9, 9), slice(1, 20, 4)]
)
def test_stored_rows_are_had_by_slices(stored, some):
    assert_array_equal(stored[some], X[some])


@pytest.mark.parametrize("some", [[3, 4, 9], [29, 0, 12], [5, 5, 2, 5], []], ids=str)
def test_stored_rows_are_had_by_indices_in_any_order(stored, some):
    some = np.array(some, dtype=np.int64)
    assert_array_equal(stored[some], X[some])


@pytest.mark.parametrize("some", [[-1], [3, 30], [-2, 5]], ids=str)
def test_rows_that_are_not_there_are_refused(stored, some):
    with pytest.raises(IndexError, match="there are 30"):
        stored[np.array(some)]


@pytest.mark.parametrize("some", [3, [1, 2], X[:, 0] > 0, np.eye(2, dtype=int)], ids=["int", "list", "mask", "matrix"])
def test_stored_rows_are_had_in_no_other_way(stored, some):
    with pytest.raises(TypeError, match="a slice or an array of indices"):
        stored[some]


def test_stored_rows_do_not_turn_into_an_array_by_accident(stored):
    with pytest.raises(TypeError, match="a slice or an array of indices"):
        np.linalg.norm(stored, axis=1)


def test_a_trial_is_copied_without_being_read(tmp_path, monkeypatch):
    record = Record({"X": X, "labels": LABELS}, {"seconds": 2})
    path = write(tmp_path / "old.h5", Record({}), record)
    with reading(path) as reader:
        content = reader.content(1)
    monkeypatch.setattr("h5py.Dataset.__getitem__", lambda *_: pytest.fail("read"))
    with reading(path) as reader, writing(tmp_path / "new.h5") as writer:
        writer.copy(1, reader)
    monkeypatch.undo()
    with reading(tmp_path / "new.h5") as reader:
        assert reader.trials == [1]
        assert reader.facts(1) == record.facts
        assert reader.content(1) == content
        assert_array_equal(reader.array(1, "X"), X)


def test_a_trial_that_is_not_there_cannot_be_copied(tmp_path):
    path = write(tmp_path / "old.h5", Record({}))
    refused = pytest.raises(DamagedArtifact, match="has no trial 5")
    with reading(path) as reader, writing(tmp_path / "new.h5") as writer, refused:
        writer.copy(5, reader)


def slow_blocks():
    for block in (X[:20], X[20:]):
        time.sleep(0.02)
        yield block


def test_blocks_are_timed_while_they_are_made_and_not_while_they_are_used():
    spent = {"seconds": 1.0, "cpu_seconds": 0.0, "peak_mb": 0.0}
    for block, expected in zip(timed_blocks(slow_blocks(), spent), (X[:20], X[20:]), strict=True):
        assert_array_equal(block, expected)
        time.sleep(0.3)
    assert 1.04 <= spent["seconds"] < 1.3
    assert spent["peak_mb"] > 1


def by_definition(n, n_clusters, rng, D=16, d=6, noise=0.1):
    """The synthetic points with all z, then all noise, drawn at once."""
    Q, _ = np.linalg.qr(rng.standard_normal((D, D)))
    bases = [Q[:, rng.choice(D, d, replace=False)] for _ in range(n_clusters)]
    Z = rng.standard_normal((n_clusters, n // n_clusters, d))
    X = np.concatenate([z @ H.T for z, H in zip(Z, bases, strict=True)])
    return X + noise * rng.standard_normal(X.shape)


@pytest.mark.parametrize("numbers", [1, 16 * 3, 16 * 20, 2**20])
@pytest.mark.parametrize("held", [0, 2**20])
@pytest.mark.parametrize("n", [60, 62])
def test_synthetic_points_do_not_depend_on_blocks(monkeypatch, numbers, held, n):
    monkeypatch.setattr(rows, "BLOCK", numbers)
    monkeypatch.setattr(rows, "HELD", held)
    one, two = np.random.default_rng(3), np.random.default_rng(3)
    points = synthetic(n, n_clusters=3, rng=one)
    assert type(points.X) is (np.ndarray if held else RowBlocks)
    found = points.X if held else points.X.whole()
    # The draws are the same; products of matrices of other sizes may round otherwise.
    assert_allclose(found, by_definition(n, 3, two), rtol=0, atol=1e-14)
    assert_array_equal(points.labels, np.repeat(np.arange(3), 20))
    assert one.random() == two.random()


@pytest.mark.parametrize("z", DRAWS)
def test_every_distribution_of_z_has_mean_square_one(z):
    rng = np.random.default_rng(0)
    drawn = synthetic(30_000, n_clusters=3, ambient_dim=6, noise=0.0, z=z, rng=rng).X
    assert (drawn**2).sum(axis=1).mean() == pytest.approx(6, rel=0.02)


def test_distributions_of_z_have_the_tails_they_are_named_for():
    values = {z: draw(np.random.default_rng(0), (1000, 60)) for z, draw in DRAWS.items()}
    assert min(values["positive"].ravel()) >= 0
    assert abs(values["uniform"]).max() < 3**0.5 < abs(values["normal"]).max() < abs(values["laplace"]).max()


def recipe(kind, name, **more):
    part = {"kind": kind, "name": name, "params": {}}
    return {"seed": 1, "n": 30, "n_clusters": 3, "block": "t00-00", "part": part, **more}


def generate(path, unit_norm=True):
    make_artifact(generate_data, inputs={}, out=path, recipe=recipe("dataset", "synthetic", unit_norm=unit_norm))
    return path


def stand_in(monkeypatch, kind, name, function, **flags):
    """Have this function in the place of a registered part."""
    registry.find(kind, name)
    part = registry.Component(kind, name, function, lambda: None, **flags)
    monkeypatch.setitem(registry._registered, (kind, name), part)


@pytest.mark.parametrize("unit_norm", [True, False])
def test_points_in_blocks_give_the_same_data(tmp_path, monkeypatch, unit_norm):
    with reading(generate(tmp_path / "whole.h5", unit_norm)) as reader:
        expected = reader.record(0)
    monkeypatch.setattr(rows, "BLOCK", 16 * 7)
    monkeypatch.setattr(rows, "HELD", 0)
    with reading(generate(tmp_path / "blocks.h5", unit_norm)) as reader:
        found = reader.record(0)
    assert_allclose(found.arrays["X"], expected.arrays["X"], rtol=0, atol=1e-14)
    assert_array_equal(found.arrays["labels"], expected.arrays["labels"])


def test_the_time_of_points_in_blocks_is_known_once_they_are_written(tmp_path, monkeypatch, capsys):
    stand_in(monkeypatch, "dataset", "synthetic", lambda n: Points(RowBlocks(X.shape, X.dtype, slow_blocks()), LABELS))
    with reading(generate(tmp_path / "x.h5")) as reader:
        seconds = reader.facts(0)["seconds"]
    assert seconds >= 0.04
    assert capsys.readouterr().err == f"trial 0: {seconds:.3f} s\n"


def test_points_that_are_not_finite_are_refused_in_whichever_block_they_are(tmp_path, monkeypatch):
    late = np.where(np.arange(30)[:, None] == 25, np.nan, X)
    for bad in (in_blocks(late, 7), late):
        stand_in(monkeypatch, "dataset", "synthetic", lambda n, bad=bad: Points(bad, LABELS))
        with pytest.raises(InputError, match=r"'synthetic' returned values that are not finite, .* in trial 0"):
            generate(tmp_path / "x.h5")
        assert list(tmp_path.iterdir()) == []


@pytest.fixture
def inputs(tmp_path):
    data = write(tmp_path / "data.h5", Record({"X": X, "labels": LABELS}))
    return {"data": data, "landmarks": write(tmp_path / "landmarks.h5", Record({"indices": np.array([9, 2])}))}


@pytest.mark.parametrize(("by_rows", "kind"), [(True, StoredRows), (False, np.ndarray)])
def test_only_parts_that_work_by_rows_get_stored_rows(inputs, tmp_path, monkeypatch, nothing_held, by_rows, kind):
    from scipy import sparse

    given = []

    def select(X, m):
        given.append(X)
        return Landmarks(np.arange(m))

    def code(X, landmarks):
        given.append(X)
        return Codes(sparse.csr_matrix(X[0:30] @ X[landmarks].T))

    stand_in(monkeypatch, "selector", "kmedoids", select, by_rows=by_rows)
    stand_in(monkeypatch, "coder", "lasso", code, by_rows=by_rows)
    selected, codes = recipe("selector", "kmedoids", m=2), recipe("coder", "lasso")
    make_artifact(select_landmarks, inputs={"data": inputs["data"]}, out=tmp_path / "s.h5", recipe=selected)
    make_artifact(code_points, inputs=inputs, out=tmp_path / "codes.h5", recipe=codes)
    assert [type(array) for array in given] == [kind, kind]
    with reading(tmp_path / "codes.h5") as reader:
        assert_allclose(reader.array(0, "codes_data"), (X @ X[[9, 2]].T).ravel())


def test_a_coder_is_given_the_threads_of_its_job(inputs, tmp_path, monkeypatch):
    from scipy import sparse

    given = []

    def code(X, landmarks, *, threads):
        given.append(threads)
        return Codes(sparse.csr_matrix(X @ X[landmarks].T))

    stand_in(monkeypatch, "coder", "lasso", code, by_rows=False)
    make_artifact(code_points, inputs=inputs, out=tmp_path / "c.h5", recipe=recipe("coder", "lasso"), threads=3)
    assert given == [3]


@pytest.fixture
def reads(monkeypatch):
    """The arrays read, in order."""
    names, get = [], h5py.Dataset.__getitem__

    def noted(data, *args, **kwargs):
        names.append(f"{Path(data.file.filename).stem}/{data.name.split('/')[-1]}")
        return get(data, *args, **kwargs)

    monkeypatch.setattr(h5py.Dataset, "__getitem__", noted)
    return names


def test_uniform_landmarks_are_selected_without_reading_a_large_x(inputs, tmp_path, reads, nothing_held):
    given = {"data": inputs["data"]}
    make_artifact(select_landmarks, inputs=given, out=tmp_path / "s.h5", recipe=recipe("selector", "uniform", m=2))
    assert reads == []


def test_scoring_reads_labels_alone(inputs, tmp_path, reads):
    spent = {"seconds": 1.0, "cpu_seconds": 1.0, "peak_mb": 1.0, "n_uncoded": 0}
    for name in ("landmarks", "codes", "embedding", "labels"):
        inputs[name] = write(tmp_path / f"{name}.h5", Record({"labels": LABELS, "more": X}, spent))
    make_artifact(score_labels, inputs=inputs, out=tmp_path / "scores.h5", recipe=recipe("coder", "lasso"))
    assert sorted(reads) == ["data/labels", "labels/labels"]
