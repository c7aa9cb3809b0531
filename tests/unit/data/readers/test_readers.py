"""Readers of tables, on files made here."""

import contextlib
import gzip
import lzma
import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from lssc.errors import InputError
from lssc.parts.registry import find


def read(name, paths, **params):
    return find("reader", name)(paths, **params)


def test_text_has_the_class_in_its_last_column(tmp_path):
    path = tmp_path / "letter.dat"
    path.write_text("2, 4.5, Z\n1, 0, P\n3, 1, Z\n")
    table = read("text", [path])
    assert_array_equal(table.X, [[2, 4.5], [1, 0], [3, 1]])
    assert_array_equal(table.labels.numbers, [1, 0, 1])
    assert table.labels.names == ("P", "Z")


def test_views_of_the_same_points_stand_side_by_side(tmp_path):
    for name, rows in (("a", "0,1,0\n1,2,0\n3,4,1\n"), ("b", "0,1,2,0\n5,6,7,0\n8,9,9,1\n")):
        (tmp_path / f"{name}.csv").write_text(rows)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    table = read("text", paths, header="first_row")
    assert_array_equal(table.X, [[1, 2, 5, 6, 7], [3, 4, 8, 9, 9]])
    paths[1].write_text("0,1,2,0\n5,6,7,1\n8,9,9,0\n")
    with pytest.raises(InputError, match=r"b.csv: its classes are not those of a.csv"):
        read("text", paths, header="first_row")


def test_cube_gives_the_spectra_of_labelled_pixels(tmp_path):
    cube, classes = np.arange(24, dtype=np.uint16).reshape(2, 3, 4), np.array([[0, 5, 2], [2, 0, 0]], dtype=np.uint8)
    paths = [tmp_path / "cube.npy", tmp_path / "gt.npy"]
    for path, array in zip(paths, (cube, classes), strict=True):
        np.save(path, array)
    table = read("cube", paths)
    assert_array_equal(table.X, [[4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]])
    assert_array_equal(table.labels.numbers, [1, 0, 0])
    np.save(paths[1], classes[:1])
    with pytest.raises(InputError, match=r"cube.npy: spectra of shape \(2, 3, 4\) for classes of shape \(1, 3\)"):
        read("cube", paths)


def test_cube_is_never_unpickled(tmp_path):
    paths = [tmp_path / "cube.npy", tmp_path / "gt.npy"]
    np.save(paths[0], np.array([{}], dtype=object), allow_pickle=True)
    np.save(paths[1], np.zeros((1, 1)))
    with pytest.raises(InputError, match=r"a cube needs two .npy files"):
        read("cube", paths)


@pytest.fixture
def faces(tmp_path):
    """Two pictures of each of two people, 6 x 4 pixels."""
    paths = []
    for person in ("s1", "s2"):
        (tmp_path / person).mkdir()
        for number in (1, 2):
            pixels = np.arange(24, dtype=np.uint8).reshape(6, 4) * number + (person == "s2")
            paths.append(tmp_path / person / f"{person}__{number}.pgm")
            Image.fromarray(pixels).save(paths[-1])
    return paths


@pytest.mark.parametrize("labels", ["folder", "name"])
def test_pictures_are_rows_of_grey_values(faces, labels):
    table = read("pictures", faces, labels=labels)
    assert_allclose(table.X[3], (np.arange(24) * 2 + 1) / 255)
    assert table.labels.names == ("s1", "s2")
    assert_array_equal(table.labels.numbers, [0, 0, 1, 1])


def test_shrunk_pictures_are_averages_of_squares(faces):
    X = read("pictures", faces, shrink=2).X
    assert X.shape == (4, 6)
    assert_allclose(X[0, 0] * 255, np.mean([0, 1, 4, 5]))
    # What does not fill a square is cut off.
    assert read("pictures", faces, shrink=4).X.shape == (4, 1)
    with pytest.raises(InputError, match="shrink=5 leaves nothing of pictures of 6 x 4 pixels"):
        read("pictures", faces, shrink=5)


def test_reports_pictures_that_cannot_be_used(faces):
    Image.fromarray(np.zeros((5, 4), np.uint8)).save(faces[1])
    with pytest.raises(InputError, match=r"s1__2.pgm: pictures of different sizes, 6 x 4 and 5 x 4 pixels"):
        read("pictures", faces)
    faces[0].write_bytes(faces[0].read_bytes()[:20])
    with pytest.raises(InputError, match=r"s1__1.pgm: no picture, or cut short or damaged"):
        read("pictures", faces)


def item(kind, body, *, flags=0):
    return struct.pack(">i", kind | flags) + body


def chars(text):
    return item(9, struct.pack(">i", len(text)) + text.encode())


def strings(*texts):
    return item(16, struct.pack(">i", len(texts)) + b"".join(map(chars, texts)))


NIL = struct.pack(">i", 254)


def pair(name, value):
    """A name and its value in a chain; `name` may be the number of an earlier name."""
    tag = item(1, chars(name)) if isinstance(name, str) else struct.pack(">i", 255 | name << 8)
    return item(2, tag + value, flags=0x400)


def r_file(version):
    """A data frame of whole numbers, numbers and a factor, as R's save() writes it."""
    numbers = item(13, struct.pack(">4i", 3, 7, -1, 2))
    reals = item(14, struct.pack(">i3d", 3, 0.5, 1.5, -2.0))
    levels = pair("levels", strings("low", "high")) + pair("class", strings("factor")) + NIL
    factor = item(13, struct.pack(">4i", 3, 2, 1, 2) + levels, flags=0x300)
    names = pair("names", strings("a", "b", "Class")) + pair(3, strings("data.frame")) + NIL
    frame = item(19, struct.pack(">i", 3) + numbers + reals + factor + names, flags=0x300)
    head = f"RDX{version}\nX\n".encode() + struct.pack(">3i", version, 0x30503, 0x20300)
    encoding = struct.pack(">i", 5) + b"UTF-8" if version == 3 else b""
    return head + encoding + pair("Table", frame) + NIL


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gzip", "xz"])
def test_data_frame_of_r_gives_numbers_and_classes(tmp_path, version, pack):
    path = tmp_path / "Table.rda"
    path.write_bytes(pack(r_file(version)))
    table = read("r_data", [path])
    assert_array_equal(table.X, [[7, 0.5], [-1, 1.5], [2, -2]])
    assert table.labels.names == ("high", "low")
    assert_array_equal(table.labels.numbers, [0, 1, 0])
    with pytest.raises(InputError, match=r"Table.rda: has no column 'Klass'; did you mean 'Class'\?"):
        read("r_data", [path], labels="Klass")


def test_cut_or_altered_file_of_r_is_one_line(tmp_path):
    whole, path = r_file(3), tmp_path / "Table.rda"
    for end in range(0, len(whole), 7):
        path.write_bytes(whole[:end])
        with pytest.raises(InputError, match=r"Table.rda: no .rda file of one data frame, or cut short or damaged"):
            read("r_data", [path])
    rng = np.random.default_rng(0)
    for _ in range(300):
        altered = bytearray(whole)
        altered[rng.integers(len(whole))] = rng.integers(256)
        path.write_bytes(altered)
        with contextlib.suppress(InputError):
            read("r_data", [path])
