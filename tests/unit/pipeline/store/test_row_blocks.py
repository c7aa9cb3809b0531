"""Arrays too large for memory (in these tests all are): written in blocks, read by rows."""

from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc import types as rows
from lssc.errors import DamagedArtifact, InputError
from lssc.parts import registry
from lssc.pipeline import timing
from lssc.pipeline.stages.code_points import code_points
from lssc.pipeline.stages.generate_data import generate_data
from lssc.pipeline.stages.score_labels import score_labels
from lssc.pipeline.stages.select_landmarks import select_landmarks
from lssc.pipeline.store.artifacts import HEAD, Record, reading, writing
from lssc.pipeline.trials import make_artifact
from lssc.types import Codes, Landmarks, Points, RowBlocks, StoredRows

X = np.random.default_rng(0).standard_normal((30, 4))
LABELS = np.arange(30) % 3


@pytest.fixture
def nothing_held(monkeypatch):
    monkeypatch.setattr(rows, "MAX_IN_MEMORY", 0)


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
def test_array_in_blocks_is_stored_like_a_whole_one(tmp_path, array, size):
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
def test_refuses_blocks_of_another_shape_or_type(tmp_path, blocks, problem):
    with pytest.raises(ValueError, match=problem):
        write(tmp_path / "x.h5", Record({"X": RowBlocks((30, 4), X.dtype, iter(blocks))}))
    assert list(tmp_path.iterdir()) == []


def test_refuses_a_damaged_file_written_in_blocks(tmp_path):
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


def test_only_large_arrays_stay_in_the_file(tmp_path, monkeypatch):
    with reading(write(tmp_path / "x.h5", Record({"X": X}))) as reader:
        for held, kind in ((X.size, np.ndarray), (X.size - 1, StoredRows)):
            monkeypatch.setattr(rows, "MAX_IN_MEMORY", held)
            assert type(reader.rows(0, "X")) is kind


def test_stored_rows_have_shape_and_dtype(stored):
    assert (stored.shape, stored.dtype, len(stored)) == (X.shape, X.dtype, len(X))


@pytest.mark.parametrize(
    "some", [slice(0, 7), slice(25, 99), slice(None), slice(-3, None), slice(9, 9), slice(1, 20, 4)]
)
def test_stored_rows_can_be_sliced(stored, some):
    assert_array_equal(stored[some], X[some])


@pytest.mark.parametrize("some", [[3, 4, 9], [29, 0, 12], [5, 5, 2, 5], []], ids=str)
def test_stored_rows_can_be_indexed_in_any_order(stored, some):
    some = np.array(some, dtype=np.int64)
    assert_array_equal(stored[some], X[some])


@pytest.mark.parametrize("some", [[-1], [3, 30], [-2, 5]], ids=str)
def test_refuses_indices_out_of_range(stored, some):
    with pytest.raises(IndexError, match="there are 30"):
        stored[np.array(some)]


@pytest.mark.parametrize("some", [3, [1, 2], X[:, 0] > 0, np.eye(2, dtype=int)], ids=["int", "list", "mask", "matrix"])
def test_refuses_other_kinds_of_index(stored, some):
    with pytest.raises(TypeError, match="a slice or an array of indices"):
        stored[some]


def test_stored_rows_are_not_converted_to_an_array(stored):
    with pytest.raises(TypeError, match="a slice or an array of indices"):
        np.linalg.norm(stored, axis=1)


def test_copies_a_trial_without_reading_it(tmp_path, monkeypatch):
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


def test_refuses_to_copy_a_missing_trial(tmp_path):
    path = write(tmp_path / "old.h5", Record({}))
    refused = pytest.raises(DamagedArtifact, match="has no trial 5")
    with reading(path) as reader, writing(tmp_path / "new.h5") as writer, refused:
        writer.copy(5, reader)


def blocks_that_take(seconds, clock):
    """Two blocks, each made in this time by the clock."""
    for block in (X[:20], X[20:]):
        clock.now += seconds
        yield block


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
def test_points_in_blocks_are_stored_like_whole_ones(tmp_path, monkeypatch, unit_norm):
    with reading(generate(tmp_path / "whole.h5", unit_norm)) as reader:
        expected = reader.record(0)
    monkeypatch.setattr(rows, "NUMBERS_PER_BLOCK", 16 * 7)
    monkeypatch.setattr(rows, "MAX_IN_MEMORY", 0)
    with reading(generate(tmp_path / "blocks.h5", unit_norm)) as reader:
        found = reader.record(0)
    assert_allclose(found.arrays["X"], expected.arrays["X"], rtol=0, atol=1e-14)
    assert_array_equal(found.arrays["labels"], expected.arrays["labels"])


def test_time_covers_the_making_of_blocks(tmp_path, monkeypatch, capsys):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock.now)
    blocks = RowBlocks(X.shape, X.dtype, blocks_that_take(2.0, clock))
    stand_in(monkeypatch, "dataset", "synthetic", lambda n: Points(blocks, LABELS))
    with reading(generate(tmp_path / "x.h5")) as reader:
        assert reader.facts(0)["seconds"] == 4.0
    assert capsys.readouterr().err == "trial 0: 4.000 s\n"


def test_refuses_points_that_are_not_finite_in_any_block(tmp_path, monkeypatch):
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
def test_only_parts_by_rows_get_stored_rows(inputs, tmp_path, monkeypatch, nothing_held, by_rows, kind):
    given = []

    def select(X, m):
        given.append(X)
        return Landmarks(np.arange(m))

    stand_in(monkeypatch, "selector", "kmedoids", select, by_rows=by_rows)
    selected = recipe("selector", "kmedoids", m=2)
    make_artifact(select_landmarks, inputs={"data": inputs["data"]}, out=tmp_path / "s.h5", recipe=selected)
    assert [type(array) for array in given] == [kind]


def test_coder_gets_the_threads_of_its_job(inputs, tmp_path, monkeypatch):
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


def test_uniform_selector_does_not_read_points(inputs, tmp_path, reads, nothing_held):
    given = {"data": inputs["data"]}
    make_artifact(select_landmarks, inputs=given, out=tmp_path / "s.h5", recipe=recipe("selector", "uniform", m=2))
    assert reads == []


def test_scoring_reads_only_labels(inputs, tmp_path, reads):
    spent = {"seconds": 1.0, "cpu_seconds": 1.0, "peak_mb": 1.0, "n_uncoded": 0}
    for name in ("landmarks", "codes", "embedding", "labels"):
        inputs[name] = write(tmp_path / f"{name}.h5", Record({"labels": LABELS, "more": X}, spent))
    make_artifact(score_labels, inputs=inputs, out=tmp_path / "scores.h5", recipe=recipe("coder", "lasso"))
    assert sorted(reads) == ["data/labels", "labels/labels"]
