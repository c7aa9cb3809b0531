"""Files of one's own: every format gives the same points and labels, and a bad file is one line."""

import os
import pickle
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lssc.data.files.points import SUFFIXES, PointsFile
from lssc.errors import InputError

N, D = 30, 4
POINTS = np.random.default_rng(0).standard_normal((N, D)).round(3) * np.array([1, 1e-3, 1e5, 1])
CLASSES = np.repeat([3, 7, 12], N // 3)
FORMATS = ("npz", "csv", "parquet", "h5", "mat", "mat73")


def write(folder: Path, kind: str, X=POINTS, labels=CLASSES) -> Path:
    """A file of this format with the points as X and the labels as y."""
    path = folder / f"points.{'mat' if kind == 'mat73' else kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "npz":
        np.savez_compressed(path, X=X, y=labels)
    elif kind == "csv":
        rows = [",".join([*map(repr, row.tolist()), str(label)]) for row, label in zip(X, labels, strict=True)]
        path.write_text("\n".join([",".join([*(f"x{i}" for i in range(X.shape[1])), "y"]), *rows]) + "\n")
    elif kind == "parquet":
        pyarrow = pytest.importorskip("pyarrow", exc_type=ImportError)
        from pyarrow import parquet

        columns = {f"x{i}": X[:, i] for i in range(X.shape[1])} | {"y": labels}
        parquet.write_table(pyarrow.table(columns), path, row_group_size=7)
    elif kind == "mat":
        scipy.io.savemat(path, {"X": X, "y": labels[:, None], "note": "text", "cell": {"a": 1}}, do_compression=True)
    else:
        transposed = kind == "mat73"
        with h5py.File(path, "w", userblock_size=512 if transposed else 0) as file:
            file["X"], file["y"] = (X.T, labels[None]) if transposed else (X, labels)
    return path


def read(file: PointsFile) -> None:
    """Read everything."""
    list(file.blocks())
    _ = file.labels


def problem(path: Path, **where) -> str:
    """The one line that a bad file gives."""
    with pytest.raises(InputError) as caught:
        read(PointsFile(path, **where))
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_points_and_labels(kind, tmp_path):
    file = PointsFile(write(tmp_path, kind), labels_in="y")
    assert file.shape == (N, D)
    assert_array_equal(np.concatenate(list(file.blocks())), POINTS)
    assert_array_equal(file.checked_rows(np.array([5, 2])), POINTS[[5, 2]])
    assert_array_equal(file.labels.numbers, np.repeat([0, 1, 2], N // 3))
    assert file.labels.names == ("3", "7", "12")


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "u1", "<i8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_of_any_number_type_is_mapped(dtype, order, tmp_path):
    X = np.asarray(np.arange(12).reshape(4, 3), dtype=dtype, order=order)
    file = PointsFile(write(tmp_path, "npy", X))
    assert isinstance(file.X, np.memmap)
    assert_array_equal(np.concatenate(list(file.blocks())), X.astype(float))
    assert file.labels is None


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "i2", "i8"])
def test_mat_is_read_as_scipy_reads_it(dtype, compressed, tmp_path):
    X = np.arange(15).reshape(5, 3).astype(dtype)
    scipy.io.savemat(tmp_path / "points.mat", {"data": X, "complex": X * 1j}, do_compression=compressed)
    file = PointsFile(tmp_path / "points.mat")
    assert_array_equal(np.concatenate(list(file.blocks())), scipy.io.loadmat(tmp_path / "points.mat")["data"])


@pytest.mark.parametrize(
    ("text", "points", "names"),
    [
        ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]], ["a", "b"]),
        ("1;2\n\n3;4", [[1, 2], [3, 4]], ["0", "1"]),
        ("\n\n1\t2\r\n3\t4\r\n", [[1, 2], [3, 4]], ["0", "1"]),
        ("1  2\n3 4\n", [[1, 2], [3, 4]], ["0", "1"]),
        ('"a","b"\n"1","2"\n', [[1, 2]], ["a", "b"]),
        ("\ufeffa,b\n1,2e3\n", [[1, 2000]], ["a", "b"]),
        ("0,1,2\n5,6,7\n", [[5, 6, 7]], ["0", "1", "2"]),
    ],
)
def test_csv_is_read_with_and_without_header(text, points, names, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text(text, encoding="utf-8", newline="")
    file = PointsFile(path)
    assert_array_equal(np.concatenate(list(file.blocks())), points)
    assert file._opened.columns == names


def test_header_can_be_named(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("0,1,2\n5,6,7\n")
    assert PointsFile(path, header="none").shape == (2, 3)
    assert PointsFile(path, header="first_row").shape == (1, 3)


@pytest.mark.parametrize("key", ["kind", "2", "-1"])
def test_label_column_is_named_or_counted(key, tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("a,b,kind\n1,2,cat\n3,4,dog\n5,6,cat\n")
    file = PointsFile(path, labels_in=key)
    assert file.shape == (3, 2)
    assert file.labels.names == ("cat", "dog")
    assert_array_equal(file.labels.numbers, [0, 1, 0])


@pytest.mark.parametrize("kind", ["npy", "npz", "csv", "h5", "mat"])
def test_labels_may_lie_in_another_file(kind, tmp_path):
    points = write(tmp_path, "npy")
    (tmp_path / "other").mkdir()
    labels = write(tmp_path / "other", kind)
    if kind == "npy":
        np.save(labels, CLASSES.astype(float))
    file = PointsFile(points, labels_in=str(labels), labels_key="auto" if kind == "npy" else "y")
    assert_array_equal(file.labels.numbers, np.repeat([0, 1, 2], N // 3))
    assert file.paths == [points, labels]


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (np.array(["b", "a", "b"]), ("a", "b")),
        (np.array([b"b", b"a", b"b"]), ("a", "b")),
        (np.array([10.0, 9.0, 10.0]), ("9", "10")),
        (np.array(["10", "9", "10"]), ("9", "10")),
        (np.array([True, False, True]), ("False", "True")),
    ],
)
def test_labels_are_numbers_or_names(values, names, tmp_path):
    np.savez(tmp_path / "points.npz", X=POINTS[:3], y=values)
    labels = PointsFile(tmp_path / "points.npz", labels_in="y").labels
    assert labels.names == names
    assert_array_equal(labels.numbers, [1, 0, 1])


def test_names_of_classes_in_hdf5(tmp_path):
    with h5py.File(tmp_path / "points.h5", "w") as file:
        file["deep/X"], file["deep/y"] = POINTS[:2], ["cat", "dog"]
    file = PointsFile(tmp_path / "points.h5", key="deep/X", labels_in="deep/y")
    assert file.labels.names == ("cat", "dog")


class Trap:
    """Pickled, it would write a file when loaded."""

    def __reduce__(self):
        return os.system, ("touch executed",)


ARRAYS = {
    "objects": (np.array([[1, Trap()]], dtype=object), "Python objects"),
    "one dimension": (np.zeros(5), "shape (5,)"),
    "three dimensions": (np.zeros((2, 2, 2)), "shape (2, 2, 2)"),
    "one column": (np.zeros((5, 1)), "one column"),
    "no rows": (np.zeros((0, 3)), "shape (0, 3)"),
    "text": (np.array([["a", "b"]]), "text"),
    "complex": (np.ones((2, 2), complex), "complex"),
    "records": (np.zeros((2, 2), "f8,i4"), "records"),
    "dates": (np.zeros((2, 2), "M8[D]"), "dates"),
    "missing": (np.where(np.eye(3) > 0, np.nan, 1.0), "row 0 has a missing value (NaN) in column 0 (and 2 more rows)"),
    "infinite": (np.array([[1.0, 2], [3, np.inf]]), "row 1 has an infinite value in column 1"),
}


@pytest.mark.parametrize(("array", "part"), ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_array_that_is_no_table_of_numbers_is_one_line(array, part, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"points.{kind}"
    np.save(path, array, allow_pickle=True) if kind == "npy" else np.savez(path, X=array)
    message = problem(path, key="auto" if kind == "npy" else "X")
    assert part in message
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,x\n", "row 0 has 'x', which is no number in column 'b'; name a column of labels as labels"),
        ("a,b\n1,2\n3,\n", "row 1 has nothing in column 'b'"),
        ("a,b\n1,2\n3,nan\n", "row 1 has a missing value (NaN) in column 1; fill it or remove the row"),
        ("1,2,3\n1,2\n", "row 1 has 2 columns; the first line has 3"),
        ("a,b\n1,2\n\n1,2,3\n", "row 1 has 3 columns; the first line has 2"),
        ("a b\n1 2\n1\n", "at row 2 with 1 columns"),
        ("a\n1\n2\n", "has one column of points; a point needs at least 2 numbers"),
        ("a,b\n", "holds no points"),
        ("\n\n", "holds no table"),
        (",a,b\n0,1,2\n", "column 0 has no name in the header: a row number, perhaps; remove it or name it"),
        ("x\0y\n", "holds no table"),
        ("a;b\n1,5;2,5\n", "row 0 has '1,5', which is no number in column 'a'"),
    ],
)
def test_bad_text_is_one_line(text, message, tmp_path):
    (tmp_path / "points.csv").write_text(text)
    assert message in problem(tmp_path / "points.csv")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"key": "X3"}, "has no array 'X3'; did you mean 'X'?"),
        ({"key": "X", "labels_in": "z"}, "has no array 'z'; known: X, X2, y"),
        ({}, "holds more than one table of numbers (X, X2, y); name the array of the points by its key"),
        ({"key": "X", "labels_in": "X"}, "has shape (30, 4); labels need one value per point"),
    ],
)
def test_wrong_key_is_one_line(where, message, tmp_path):
    np.savez(tmp_path / "points.npz", X=POINTS, X2=POINTS, y=CLASSES)
    assert message in problem(tmp_path / "points.npz", **where)


def test_wrong_column_and_key_of_a_table(tmp_path):
    path = write(tmp_path, "csv")
    assert "has no column 'label'; known: x0, x1, x2, x3, y, or use a number from 0 to 4" in problem(
        path, labels_in="label"
    )
    assert "leave out the key 'X'" in problem(path, key="X")
    assert "holds one array without names, no 'y'" in problem(write(tmp_path, "npy"), labels_in="y")


def test_other_number_of_labels_is_one_line(tmp_path):
    points = write(tmp_path, "npy")
    np.save(tmp_path / "labels.npy", CLASSES[:-1])
    with pytest.raises(InputError, match=r"labels.npy: holds 29 labels for 30 points of .*points.npy"):
        _ = PointsFile(points, labels_in=str(tmp_path / "labels.npy")).labels


@pytest.mark.parametrize(("values", "message"), [([0, 1.5], "label 1.5"), ([0, np.nan], "row 1 has no label")])
def test_label_that_is_no_class_is_one_line(values, message, tmp_path):
    np.savez(tmp_path / "points.npz", X=POINTS[:2], y=np.array(values))
    assert message in problem(tmp_path / "points.npz", labels_in="y")


def test_missing_folder_and_unknown_format(tmp_path):
    assert "cannot be read: No such file or directory" in problem(tmp_path / "points.npy")
    (tmp_path / "folder.npy").mkdir()
    assert "is no file" in problem(tmp_path / "folder.npy")
    (tmp_path / "points.xlsx").touch()
    assert "unknown format .xlsx; use .npy" in problem(tmp_path / "points.xlsx")
    for suffix in SUFFIXES:
        (tmp_path / f"empty{suffix}").touch()
        assert "is empty" in problem(tmp_path / f"empty{suffix}")


def test_missing_package_names_the_extra(tmp_path, monkeypatch):
    path = write(tmp_path, "h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert ".h5 files need the package 'h5py'; install it with: pip install 'lssc[files]'" in problem(path)


def read_quietly(path: Path) -> None:
    """Read everything; InputError with one line is the only error allowed."""
    key = "X" if path.suffix in (".npz", ".h5", ".mat") else "auto"
    for labels in ("none", "y"):
        message = ""
        try:
            read(PointsFile(path, key, labels))
        except InputError as error:
            message = str(error)
        assert "\n" not in message


@pytest.mark.parametrize("kind", ["npy", *FORMATS])
@given(data=st.data())
def test_truncated_file_is_one_line(kind, data, tmp_path):
    content = write(tmp_path, kind).read_bytes()
    path = tmp_path / f"cut{'.mat' if kind == 'mat73' else f'.{kind}'}"
    path.write_bytes(content[: data.draw(st.integers(1, len(content) - 1))])
    read_quietly(path)


@pytest.mark.parametrize("kind", ["npy", "npz", "csv", "parquet", "mat"])
@given(data=st.data())
def test_altered_bytes_are_one_line_or_numbers(kind, data, tmp_path):
    content = bytearray(write(tmp_path, kind).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / f"altered.{kind}"
    path.write_bytes(content)
    read_quietly(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(content=st.binary(min_size=1, max_size=400))
@example(content=pickle.dumps(Trap()))
def test_any_bytes_are_one_line_or_numbers(suffix, content, tmp_path):
    path = tmp_path / f"any{suffix}"
    path.write_bytes(content)
    read_quietly(path)
    assert not Path("executed").exists()


@given(text=st.text(alphabet="0123456789.,;\t\n \"'xe-nan", min_size=1, max_size=80))
def test_any_text_is_one_line_or_numbers(text, tmp_path):
    path = tmp_path / "any.csv"
    path.write_text(text)
    read_quietly(path)


def npy_header(shape, descr="<f8"):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def mat_element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def mat_claim(shape, *, packed):
    head = mat_element(6, struct.pack("<II", 6, 0)) + mat_element(5, struct.pack("<ii", *shape)) + mat_element(1, b"X")
    matrix = head + struct.pack("<II", 2, shape[0] * shape[1]) + bytes(100)
    element = struct.pack("<II", 14, 2**31) + matrix if packed else mat_element(14, matrix)
    packed_element = zlib.compress(element)
    return bytes(124) + b"\x00\x01IM" + (mat_element(15, packed_element) if packed else element)


def zipped(content, method=zipfile.ZIP_STORED):
    import io

    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("X.npy", content)
    return file.getvalue()


def hdf5_claim(path, **how):
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(125_000, 10_000), dtype="f8", **how)


CLAIMS = {
    "npy": lambda path: path.write_bytes(npy_header((125_000, 10_000)) + bytes(800)),
    "npy beyond 64 bits": lambda path: path.write_bytes(npy_header((2**40, 2**40)) + bytes(800)),
    "npz": lambda path: path.write_bytes(zipped(npy_header((125_000, 10_000)) + bytes(800))),
    "npz packed": lambda path: path.write_bytes(
        zipped(npy_header((125_000, 10_000)) + bytes(800), zipfile.ZIP_DEFLATED)
    ),
    "mat": lambda path: path.write_bytes(mat_claim((20_000, 50_000), packed=False)),
    "mat packed": lambda path: path.write_bytes(mat_claim((20_000, 50_000), packed=True)),
    "h5": hdf5_claim,
    "h5 packed": lambda path: hdf5_claim(path, chunks=(100, 100), compression="gzip"),
    "h5 external": lambda path: hdf5_claim(path, external=[("/dev/zero", 0, h5py.h5f.UNLIMITED)]),
}
READ = """
import resource, sys
from pathlib import Path
import h5py, numpy
from lssc.data.files.points import PointsFile
from lssc.errors import InputError
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + 300 * 2**20, held + 300 * 2**20))
try:
    list(PointsFile(Path(sys.argv[1]), key="auto" if sys.argv[1].endswith("npy") else "X").blocks())
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("claim", CLAIMS)
def test_gigabytes_claimed_in_a_header_take_no_memory(claim, tmp_path):
    path = tmp_path / f"points.{claim.split()[0]}"
    CLAIMS[claim](path)
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    assert line.startswith(f"{path}: ")
    assert "cut short" in line or "would unpack" in line


def test_zip_bomb_is_refused_before_it_unpacks(tmp_path):
    """300 MB of zeros in 300 kB: the array is there, and still refused."""
    path = tmp_path / "points.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("X.npy", "w") as file:
        file.write(npy_header((300 * 2**7, 2**10)))
        for _ in range(300):
            file.write(bytes(2**20))
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True)
    assert "would unpack" in done.stdout
    assert "save it without compression" in done.stdout


def test_hdf5_links_to_other_files_are_not_followed(tmp_path):
    write(tmp_path, "h5")
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["X"] = h5py.ExternalLink(str(tmp_path / "points.h5"), "X")
    assert "has no array 'X'" in problem(tmp_path / "link.h5", key="X")
