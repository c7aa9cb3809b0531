import json
import os
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from lssc.errors import DamagedArtifact
from lssc.pipeline.snakemake.fingerprint import fingerprint
from lssc.pipeline.store import files as files_module
from lssc.pipeline.store.artifacts import Record, csr_arrays, reading, writing
from lssc.pipeline.store.files import read_text, seal_of, write_text
from lssc.pipeline.store.heads import HEAD, is_intact, is_made_by

CODES = sparse.csr_matrix(np.array([[0, 2.5, 0], [0, 0, 0], [-1.0, 0, 3]]))
RECORDS = {
    0: Record({"X": np.arange(12.0).reshape(3, 4), "none": np.zeros((0, 3)), **csr_arrays("codes", CODES)}, {"a": 1.5}),
    1: Record({"labels": np.array([0, 1, 1])}, {"text": "é", "nested": {"list": [1, None, True]}}),
}


def write(path, records=RECORDS):
    with writing(path) as writer:
        for trial, record in records.items():
            writer.add(trial, record)
    return path


def read(path):
    with reading(path) as reader:
        return {trial: reader.record(trial) for trial in reader.trials}


def content(path, arrays, facts):
    with reading(write(path, {0: Record(arrays, facts)})) as reader:
        return reader.content(0)


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "block/codes.h5")


def files(path):
    return sorted(p.name for p in path.parent.iterdir())


def test_reads_what_was_written(path):
    records = read(path)
    assert list(records) == list(RECORDS)
    for trial, record in RECORDS.items():
        assert records[trial].facts == record.facts
        assert sorted(records[trial].arrays) == sorted(record.arrays)
        for name, array in record.arrays.items():
            assert_array_equal(records[trial].arrays[name], array, strict=True)
    assert files(path) == ["codes.h5"]


@pytest.mark.parametrize("matrix", [CODES, sparse.csr_matrix((4, 3)), sparse.csr_matrix((0, 3))])
def test_reads_sparse_matrices(tmp_path, matrix):
    with reading(write(tmp_path / "x.h5", {7: Record(csr_arrays("codes", matrix))})) as reader:
        read_back = reader.csr(7, "codes")
    assert read_back.shape == matrix.shape
    assert (read_back != matrix).nnz == 0


def test_facts_hold_plain_values(tmp_path):
    facts = {"n": np.int64(3), "x": np.float64(0.5), "b": np.bool_(True)}
    assert read(write(tmp_path / "x.h5", {0: Record({}, facts)}))[0].facts == {"n": 3, "x": 0.5, "b": True}
    with pytest.raises(TypeError, match="facts take plain values, not ndarray"):
        write(tmp_path / "y.h5", {0: Record({}, {"a": np.zeros(2)})})
    assert files(tmp_path / "y.h5") == ["x.h5"]


def test_content_depends_on_names_types_shapes_and_values_only(tmp_path):
    base = content(tmp_path / "x.h5", {"a": np.arange(4.0), "b": np.zeros(1)}, {"seconds": 1})
    assert content(tmp_path / "x.h5", {"b": np.zeros(1), "a": np.arange(8.0)[::2] / 2}, {"seconds": 2}) == base
    others = [
        {"a": np.arange(4.0), "c": np.zeros(1)},
        {"a": np.arange(4), "b": np.zeros(1)},
        {"a": np.arange(4.0).reshape(2, 2), "b": np.zeros(1)},
        {"a": np.array([0.0, 1, 2, 4]), "b": np.zeros(1)},
        {"a": np.arange(4.0)},
    ]
    assert len({base, *(content(tmp_path / "x.h5", arrays, {}) for arrays in others)}) == 6


def test_equal_records_give_equal_bytes(path, tmp_path):
    # Except in the head, which holds the time.
    assert write(tmp_path / "again.h5").read_bytes()[HEAD:] == path.read_bytes()[HEAD:]


def test_head_names_the_job(tmp_path):
    path, recipe = tmp_path / "x.h5", {"seed": 1, "part": {"name": "lasso", "params": {"lam": 0.1}}}
    with writing(path, recipe, "code") as writer:
        writer.add(0, RECORDS[1])
    assert is_made_by(path, json.loads(json.dumps(recipe)), "code")
    assert not is_made_by(path, {**recipe, "seed": 2}, "code")
    assert not is_made_by(path, recipe, "other code")
    os.utime(path)
    assert is_intact(path)
    assert is_made_by(path, recipe, "code")
    path.write_bytes(b"")
    assert not is_made_by(path, recipe, "code")


def interrupted(path, error):
    with writing(path) as writer:
        writer.add(5, RECORDS[1])
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_error_while_writing_leaves_nothing_behind(tmp_path, error):
    path = tmp_path / "new/codes.h5"
    with pytest.raises(error, match="stop"):
        interrupted(path, error("stop"))
    assert files(path) == []


def test_error_while_writing_keeps_the_old_file(path):
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="stop"):
        interrupted(path, RuntimeError("stop"))
    assert path.read_bytes() == before
    assert files(path) == ["codes.h5"]


def test_file_gets_its_name_only_when_complete(tmp_path):
    path = tmp_path / "codes.h5"
    with writing(path) as writer:
        writer.add(0, RECORDS[0])
        assert not path.exists()
        assert len(files(path)) == 1
    assert files(path) == ["codes.h5"]


def test_removes_temporary_files_of_killed_processes(tmp_path):
    for name in (".codes.h5.123.tmp", ".codes.h5.99999.tmp", ".data.h5.123.tmp"):
        (tmp_path / name).write_text("left behind")
    write(tmp_path / "codes.h5")
    assert files(tmp_path / "codes.h5") == [".data.h5.123.tmp", "codes.h5"]


def test_writes_text_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "deep/scores.csv"
    write_text(path, "old")
    monkeypatch.setattr(files_module, "_sync", lambda path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert files(path) == [".scores.csv.sha256", "scores.csv"]


def test_refuses_altered_text(tmp_path):
    path = tmp_path / "scores.csv"
    write_text(path, "é,1\n")
    assert read_text(path) == "é,1\n"
    before = path.stat()
    path.write_text("é,2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(DamagedArtifact, match="does not match its checksum"):
        read_text(path)
    # A file written by hand has no seal.
    seal_of(path).unlink()
    assert read_text(path) == "é,2\n"
    path.write_bytes(b"\xff")
    with pytest.raises(DamagedArtifact, match="is not UTF-8 text"):
        read_text(path)


def test_writes_text_in_any_locale(tmp_path):
    code = "import sys\nfrom pathlib import Path\nfrom lssc.pipeline.store.files import write_text\n"
    code += (
        "from lssc.pipeline.snakemake.fingerprint import fingerprint\nprint(fingerprint('check_claims', None, None))\n"
    )
    code += "write_text(Path(sys.argv[1]), '\\u2714')"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", code, tmp_path / "x"]
    done = subprocess.run(command, env=os.environ | plain, capture_output=True, text=True, check=True)
    assert (tmp_path / "x").read_text(encoding="utf-8") == "✔"
    assert done.stdout.strip() == fingerprint("check_claims", None, None)


def altered(path, change):
    with h5py.File(path, "r+") as file:
        change(file)


def truncate(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])


def offset_of(path, name):
    with h5py.File(path) as file:
        return file[name].id.get_offset(), file[name].id.get_storage_size()


def flip(path, position, mask=1):
    data = bytearray(path.read_bytes())
    data[position] ^= mask
    path.write_bytes(bytes(data))


def change_facts(file):
    facts = json.loads(file["trial_000"].attrs["facts"])
    file["trial_000"].attrs["facts"] = json.dumps({**facts, "a": 2})


def remove(file, name):
    del file[name]


def overwrite(path, start):
    path.write_bytes(start + path.read_bytes()[len(start) :])


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "not HDF5": lambda path: path.write_text("x" * 5000),
    "cut to a tenth": lambda path: truncate(path, 0.1),
    "cut to a half": lambda path: truncate(path, 0.5),
    "last byte missing": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "flipped byte in an array": lambda path: flip(path, offset_of(path, "trial_000/X")[0] + 17),
    "facts altered": lambda path: altered(path, change_facts),
    "facts missing": lambda path: altered(path, lambda f: f["trial_000"].attrs.pop("facts")),
    "array missing": lambda path: altered(path, lambda f: remove(f, "trial_000/X")),
    "array added": lambda path: altered(path, lambda f: f.create_dataset("trial_000/extra", data=[1])),
    "array of another shape": lambda path: altered(
        path, lambda f: (remove(f, "trial_000/X"), f.create_dataset("trial_000/X", data=np.arange(12.0)))
    ),
    "never finished": lambda path: overwrite(path, bytes(100)),
    "another format": lambda path: overwrite(path, b"lssc artifact 99"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_refuses_damaged_file_and_names_it(path, damage):
    DAMAGE[damage](path)
    with pytest.raises(DamagedArtifact) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "must be made again" in str(caught.value)
    assert caught.value.path == path
    assert (damage == "another format") <= ("not an artifact of this version" in str(caught.value))


def test_refuses_other_hdf5_file(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["X"] = np.ones(3)
    with pytest.raises(DamagedArtifact, match=r"x\.h5"), reading(tmp_path / "x.h5"):
        pass


@pytest.mark.parametrize("method", ["record", "facts", "content"])
def test_refuses_missing_trial_and_names_it(path, method):
    with reading(path) as reader, pytest.raises(DamagedArtifact, match=rf"{path}: .*trial[ _]0*5\b"):
        getattr(reader, method)(5)


def test_missing_file_is_not_damaged(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.h5: no such artifact"), reading(tmp_path / "none.h5"):
        pass


@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        ({"name": "X", "rows": 4}, r"has X in trial 0 as \(3, 4\), not of 4 rows"),
        ({"name": "Y"}, "has no Y in trial 0"),
    ],
    ids=str,
)
def test_refuses_arrays_that_are_missing_or_of_another_size(path, expected, problem):
    with reading(path) as reader:
        assert reader.array(0, "X", rows=3).shape == (3, 4)
        with pytest.raises(DamagedArtifact, match=problem):
            reader.array(0, **expected)


def test_reports_full_disk(path, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(f"Can't write data (file write failed: filename = '{'x' * 300}', errno = 28)")

    def copy():
        with reading(path) as reader, writing(tmp_path / "b.h5") as writer:
            writer.copy(0, reader)

    with monkeypatch.context() as patched:
        patched.setattr(h5py.File, "copy", full)
        with pytest.raises(OSError, match="No space left"):
            copy()
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OSError, match="No space left"):
        copy()
    assert not (tmp_path / "b.h5").exists()


def test_notices_any_flipped_byte(path):
    """Behind the head and in its first line; the lines of the job and the time have no checksum."""
    whole = path.read_bytes()
    for position in (*range(0, whole.index(b"\n"), 5), *range(HEAD, len(whole), 97)):
        path.write_bytes(whole)
        flip(path, position, mask=1 + position % 255)
        with pytest.raises(DamagedArtifact):
            read(path)
