"""Files of one's own: every format gives the same points and labels, and a bad file is one line."""

import os
import sys

import h5py
import numpy as np
import pytest
import scipy.io
from numpy.testing import assert_array_equal

from lssc.data.files.points import SUFFIXES, PointsFile
from lssc.errors import InputError

FORMATS = ("npz", "csv", "parquet", "h5", "mat", "mat73")


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_points_and_labels(kind, tmp_path, write, points):
    file = PointsFile(write(tmp_path, kind), labels_in="y")
    assert file.shape == points.shape
    assert_array_equal(np.concatenate(list(file.blocks())), points)
    assert_array_equal(file.checked_rows(np.array([5, 2])), points[[5, 2]])
    assert_array_equal(file.labels.numbers, np.repeat([0, 1, 2], 10))
    assert file.labels.names == ("3", "7", "12")


@pytest.mark.parametrize("dtype", ["<f4", ">f8", "u1", "<i8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_of_any_number_type_is_mapped(dtype, order, tmp_path, write):
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
def test_labels_may_lie_in_another_file(kind, tmp_path, write, classes):
    points = write(tmp_path, "npy")
    (tmp_path / "other").mkdir()
    labels = write(tmp_path / "other", kind)
    if kind == "npy":
        np.save(labels, classes.astype(float))
    file = PointsFile(points, labels_in=str(labels), labels_key="auto" if kind == "npy" else "y")
    assert_array_equal(file.labels.numbers, np.repeat([0, 1, 2], 10))
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
def test_labels_are_numbers_or_names(values, names, tmp_path, points):
    np.savez(tmp_path / "points.npz", X=points[:3], y=values)
    labels = PointsFile(tmp_path / "points.npz", labels_in="y").labels
    assert labels.names == names
    assert_array_equal(labels.numbers, [1, 0, 1])


def test_names_of_classes_in_hdf5(tmp_path, points):
    with h5py.File(tmp_path / "points.h5", "w") as file:
        file["deep/X"], file["deep/y"] = points[:2], ["cat", "dog"]
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
def test_array_that_is_no_table_of_numbers_is_one_line(array, part, kind, tmp_path, monkeypatch, problem):
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
def test_bad_text_is_one_line(text, message, tmp_path, problem):
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
def test_wrong_key_is_one_line(where, message, tmp_path, problem, points, classes):
    np.savez(tmp_path / "points.npz", X=points, X2=points, y=classes)
    assert message in problem(tmp_path / "points.npz", **where)


def test_wrong_column_and_key_of_a_table(tmp_path, write, problem):
    path = write(tmp_path, "csv")
    assert "has no column 'label'; known: x0, x1, x2, x3, y, or use a number from 0 to 4" in problem(
        path, labels_in="label"
    )
    assert "leave out the key 'X'" in problem(path, key="X")
    assert "holds one array without names, no 'y'" in problem(write(tmp_path, "npy"), labels_in="y")


def test_other_number_of_labels_is_one_line(tmp_path, write, classes):
    points = write(tmp_path, "npy")
    np.save(tmp_path / "labels.npy", classes[:-1])
    with pytest.raises(InputError, match=r"labels.npy: holds 29 labels for 30 points of .*points.npy"):
        _ = PointsFile(points, labels_in=str(tmp_path / "labels.npy")).labels


@pytest.mark.parametrize(("values", "message"), [([0, 1.5], "label 1.5"), ([0, np.nan], "row 1 has no label")])
def test_label_that_is_no_class_is_one_line(values, message, tmp_path, problem, points):
    np.savez(tmp_path / "points.npz", X=points[:2], y=np.array(values))
    assert message in problem(tmp_path / "points.npz", labels_in="y")


def test_missing_folder_and_unknown_format(tmp_path, problem):
    assert "cannot be read: No such file or directory" in problem(tmp_path / "points.npy")
    (tmp_path / "folder.npy").mkdir()
    assert "holds neither pictures" in problem(tmp_path / "folder.npy")
    (tmp_path / "points.xlsx").touch()
    assert "unknown format .xlsx; use .npy" in problem(tmp_path / "points.xlsx")
    for suffix in SUFFIXES:
        (tmp_path / f"empty{suffix}").touch()
        assert "is empty" in problem(tmp_path / f"empty{suffix}")


def test_missing_package_names_the_extra(tmp_path, monkeypatch, write, problem):
    path = write(tmp_path, "h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert ".h5 files need the package 'h5py'; install it with: pip install 'lssc[files]'" in problem(path)
