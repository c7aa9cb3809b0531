"""Artifacts that somebody forged: their checksum is right, for anybody can compute one, and nothing else need be."""

import contextlib
import json
import shutil

import h5py
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from lssc.errors import DamagedArtifact
from lssc.pipeline.store.artifacts import HEAD, Record, _seal, csr_arrays, reading, writing

SECRET = 4711.0
CODES = sparse.csr_matrix(np.array([[0, 2.5, 0], [0, 0, 0], [-1.0, 0, 3]]))
ARRAYS = {"X": np.arange(12.0).reshape(3, 4), "labels": np.array([0, 1, 1]), **csr_arrays("codes", CODES)}
FACTS = {"seconds": 1.5}


@pytest.fixture
def path(tmp_path):
    """A sound artifact, and beside it files that are none of its business."""
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = np.full((3, 4), SECRET)
        file.create_group("trial_001").attrs.update(facts="{}", content="")
    np.full((3, 4), SECRET).tofile(tmp_path / "other.raw")
    with writing(tmp_path / "a.h5") as writer:
        writer.add(0, Record(ARRAYS, FACTS))
    return tmp_path / "a.h5"


def forged(path, change):
    """The artifact with a change and a checksum that fits."""
    with h5py.File(path, "r+") as file:
        change(file)
    _seal(path, "")
    return path


def everything(path):
    """All that a reader can be asked for."""
    with reading(path) as reader:
        found = [(reader.record(trial), reader.content(trial)) for trial in reader.trials]
        return found, [reader.csr(trial, "codes") for trial in reader.trials], reader.rows(0, "X")[0:3]


def refusal(path):
    with pytest.raises(DamagedArtifact) as caught:
        everything(path)
    [line] = str(caught.value).splitlines()
    assert line.startswith(f"{path}: ")
    assert str(SECRET) not in line
    return line


def put(name, **how):
    """Replace an array of the first trial."""

    def change(file):
        file["trial_000"].pop(name, None)
        file["trial_000"].create_dataset(name, **how)

    return change


def link(place, link):
    def change(file):
        file.pop(place, None)
        file[place] = link

    return change


def set_facts(facts):
    def change(file):
        file["trial_000"].attrs["facts"] = facts

    return change


def virtual(file):
    del file["trial_000/X"]
    layout = h5py.VirtualLayout((3, 4), "f8")
    layout[...] = h5py.VirtualSource(f"{file.filename.replace('a.h5', 'other.h5')}", "secret", (3, 4))
    file["trial_000"].create_virtual_dataset("X", layout)


def stored_elsewhere(file):
    raw = file.filename.replace("a.h5", "other.raw")
    put("X", shape=(3, 4), dtype="f8", external=[(raw, 0, h5py.h5f.UNLIMITED)])(file)


def unknown_filter(file):
    """An array by a filter that HDF5 would look for among the plugins on its path."""
    del file["trial_000/X"]
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk((3, 4))
    how.set_filter(32_000, h5py.h5z.FLAG_OPTIONAL, (1,))
    space = h5py.h5s.create_simple((3, 4))
    h5py.h5d.create(file["trial_000"].id, b"X", h5py.h5t.NATIVE_DOUBLE, space, how)


FORGERIES = {
    "a link to another file": link("trial_000/X", h5py.ExternalLink("other.h5", "/secret")),
    "a trial in another file": link("trial_001", h5py.ExternalLink("other.h5", "/trial_001")),
    "a link to nowhere": link("trial_000/X", h5py.SoftLink("/nowhere")),
    "a link within": link("trial_000/X", h5py.SoftLink("/trial_000/codes_data")),
    "a trial that is a link": link("trial_001", h5py.SoftLink("/trial_000")),
    "an array of pieces of others": virtual,
    "an array in another file": stored_elsewhere,
    "an unknown filter": unknown_filter,
    "a compressed array": put("X", data=ARRAYS["X"], compression="gzip"),
    "chunks": put("X", data=ARRAYS["X"], chunks=(1, 4)),
    "more than memory": put("X", shape=(2**40, 2**20), dtype="f8"),
    "never written": put("X", shape=(3, 4), dtype="f8"),
    "no shape": put("X", data=h5py.Empty("f8")),
    "text": put("X", data="text"),
    "texts of any length": put("X", data=["a", "b"], dtype=h5py.string_dtype()),
    "arrays of any length": put("X", shape=(3,), dtype=h5py.vlen_dtype(np.float64)),
    "records": put("X", data=np.zeros(3, dtype=[("a", "f8"), ("b", "i4")])),
    "references": put("X", shape=(3,), dtype=h5py.ref_dtype),
    "opaque bytes": put("X", data=np.zeros(3, dtype="V16")),
    "complex numbers": put("X", data=np.zeros((3, 4), dtype=complex)),
    "long numbers": put("X", data=np.zeros((3, 4), dtype=np.longdouble)),
    "bytes the other way round": put("X", data=ARRAYS["X"].astype(">f8")),
    "whole numbers": put("X", data=np.zeros((3, 4), dtype=int)),
    "beyond numbers": put("X", data=np.full((3, 4), 1e101)),
    "not finite": put("X", data=np.full((3, 4), np.nan)),
    "one axis": put("X", data=np.zeros(12)),
    "no columns": put("X", data=np.zeros((3, 0))),
    "no such array": lambda file: file["trial_000"].pop("X"),
    "an array beside the trials": lambda file: file.create_dataset("X", data=[1.0]),
    "a group beside the trials": lambda file: file.create_group("trial"),
    "a trial without a number": lambda file: file.create_group("trial_x"),
    "a trial of another spelling": lambda file: file.create_group("trial_0000"),
    "a trial of a huge number": lambda file: file.create_group(f"trial_{'9' * 5000}"),
    "a trial that is an array": lambda file: file.create_dataset("trial_001", data=[1.0]),
    "an empty trial": lambda file: file.create_group("trial_001"),
    "a group in a trial": lambda file: file["trial_000"].create_group("more"),
    "a type in a trial": lambda file: file["trial_000"].__setitem__("more", np.dtype("f8")),
    "a trial in itself": lambda file: file["trial_000"].__setitem__("again", file["trial_000"]),
    "no facts": lambda file: file["trial_000"].attrs.pop("facts"),
    "no content": lambda file: file["trial_000"].attrs.pop("content"),
    "facts that are a number": set_facts(5),
    "facts that are bytes": set_facts(np.bytes_(b"{\xff}")),
    "facts that are numbers": set_facts([1, 2]),
    "facts of nothing": set_facts(h5py.Empty("f8")),
    "facts that are a list": set_facts("[1]"),
    "facts that are cut short": set_facts('{"a": '),
    "facts without end": set_facts("[" * 100_000),
    "facts of a huge number": set_facts('{"a": ' + "9" * 5000 + "}"),
    "no end of rows": put("codes_indptr", data=np.array([0, 1, 1, 2**62])),
    "rows that overflow": put("codes_indptr", data=np.array([0, -(2**31), 3, -(2**31)], dtype=np.int32)),
    "rows that overflow between": put("codes_indptr", data=np.array([0, -(2**31), 3, 3], dtype=np.int32)),
    "no rows": put("codes_indptr", data=np.zeros(0, dtype=np.int32)),
    "rows that go back": put("codes_indptr", data=np.array([0, 3, 1, 3])),
    "columns that are not there": put("codes_indices", data=np.array([1, 0, 99])),
    "columns before the first": put("codes_indices", data=np.array([1, -1, 2])),
    "columns by halves": put("codes_indices", data=np.array([1.0, 0.5, 2.0])),
    "values without columns": put("codes_data", data=np.zeros(9)),
    "a matrix of one axis": put("codes_shape", data=np.array([3])),
    "a matrix of no size": put("codes_shape", data=np.array([-3, 3])),
    "a matrix of any size": put("codes_shape", data=np.array([2**62, 2**62])),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_file_of_anything_but_plain_trials_is_refused_in_one_line(path, forgery):
    everything(path)
    refusal(forged(path, FORGERIES[forgery]))


def test_a_file_that_is_no_hdf5_is_refused(tmp_path):
    for name, body in {"short": b"", "noise": b"\x89HDF\r\n\x1a\n" + bytes(range(256)) * 40}.items():
        path = tmp_path / name
        path.write_bytes(bytes(HEAD) + body)
        _seal(path, "")
        assert "is no HDF5 file" in refusal(path)


def test_arrays_are_of_the_sizes_and_numbers_that_are_expected(path):
    with reading(path) as reader:
        assert len(reader.array(0, "labels", rows=3, below=2)) == 3
        with pytest.raises(DamagedArtifact, match=r"not of 4 rows"):
            reader.rows(0, "X", rows=4)
        with pytest.raises(DamagedArtifact, match=r"numbers in labels of trial 0 that are not from 0 to 0"):
            reader.array(0, "labels", below=1)
        assert reader.numbers(0, ["seconds"]) == FACTS
        with pytest.raises(DamagedArtifact, match=r"has no number peak_mb in trial 0"):
            reader.numbers(0, ["seconds", "peak_mb"])


@pytest.mark.parametrize("value", ["1", None, True, [1], float("nan"), float("inf"), 10**400, 1e101])
def test_a_fact_that_is_no_number_is_none(path, value):
    forged(path, set_facts(json.dumps({"seconds": value})))
    with reading(path) as reader, pytest.raises(DamagedArtifact, match="has no number seconds in trial 0"):
        reader.numbers(0, ["seconds"])


@pytest.fixture
def forged_texts(path):
    """An artifact whose facts HDF5 cannot find."""
    path.write_bytes(path.read_bytes().replace(b"GCOL", b"LOCG"))
    _seal(path, "")
    return path


def test_a_trial_that_cannot_be_copied_is_damage_of_its_source(forged_texts, tmp_path):
    with (
        reading(forged_texts) as reader,
        pytest.raises(DamagedArtifact, match=rf"^{forged_texts}: has trial 0 that cannot be copied"),
        writing(tmp_path / "b.h5") as writer,
    ):
        writer.copy(0, reader)
    assert not (tmp_path / "b.h5").exists()


def test_no_room_for_a_copy_is_no_damage_of_its_source(path, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(f"Can't write data (file write failed: filename = '{'x' * 300}', errno = 28)")

    with monkeypatch.context() as patched, reading(path) as reader:
        patched.setattr(h5py.File, "copy", full)
        with pytest.raises(OSError, match="No space left"), writing(tmp_path / "b.h5") as writer:
            writer.copy(0, reader)
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with reading(path) as reader, pytest.raises(OSError, match="No space left"), writing(tmp_path / "c.h5") as writer:
        writer.copy(0, reader)


KINDS = st.sampled_from(["f8", "f4", "f2", "i8", "u1", "i2", "?", ">f8", "c16", "S3", "V2"])
SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
NAMES = st.sampled_from(["X", "labels", "indices", "vectors", "codes_data", "codes_indptr", "facts", "."]) | st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), max_size=4
)


@st.composite
def arrays(draw):
    kind, shape = draw(KINDS), draw(SHAPES)
    size = int(np.prod(shape, dtype=int)) * np.dtype(kind).itemsize
    return np.frombuffer(draw(st.binary(min_size=size, max_size=size)), dtype=kind).reshape(shape)


LEAVES = arrays() | st.text(max_size=3) | st.floats() | st.sampled_from([h5py.SoftLink("/"), h5py.Empty("f8")])
TREES = st.dictionaries(
    st.sampled_from(["trial_000", "trial_001", "trial_1", "trial_-01"]) | NAMES,
    st.dictionaries(NAMES, LEAVES, max_size=4) | LEAVES,
    max_size=3,
)


# HDF5 itself takes no zero in a text.
WORDS = st.text(st.characters(exclude_characters="\0"), max_size=6)


def plant(group, tree):
    for name, value in tree.items():
        if isinstance(value, dict):
            plant(group.create_group(name), value)
        else:
            group[name] = value


@settings(max_examples=100)
@given(TREES, st.none() | WORDS | st.sampled_from(['{"seconds": 1}', "null", "[]", "NaN"]))
@example({"trial_000": {"X": np.zeros((2, 0))}}, "{}")
def test_any_tree_of_arrays_is_read_or_refused(tmp_path_factory, tree, facts):
    path = tmp_path_factory.getbasetemp() / "tree.h5"
    with h5py.File(path, "w", userblock_size=HEAD) as file:
        try:
            plant(file, tree)
        except (KeyError, OSError, TypeError, ValueError):
            return  # HDF5 itself will not have it
        for group in file.values():
            if facts is not None and isinstance(group, h5py.Group):
                group.attrs.update(facts=facts, content="c")
    _seal(path, "")
    with contextlib.suppress(DamagedArtifact):
        found, _, _ = everything(path)
        assert all(isinstance(record.facts, dict) for record, _ in found)
