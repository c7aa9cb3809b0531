import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal
from tests.conftest import idx_file

from lssc.data import idx
from lssc.data.idx import idx_bytes, parse_idx, read_bytes
from lssc.errors import InputError

# Two images of 2 x 3 pixels, each byte its own place.
WHOLE = idx_file(np.arange(12).reshape(2, 2, 3))


@given(arrays(np.uint8, array_shapes(max_dims=3, min_side=0, max_side=5)))
def test_an_array_of_bytes_is_written_as_the_format_says_and_read_back(array):
    raw = idx_bytes(array)
    assert raw == idx_file(array)
    again = parse_idx(raw, "x", n_dims=array.ndim)
    assert again.dtype == np.uint8
    assert_array_equal(again, array)


def test_an_array_is_written_row_by_row_however_it_lies_in_memory():
    array = np.arange(12, dtype=np.uint8).reshape(3, 4)
    assert idx_bytes(array.T) == idx_file(array.T.copy())


def refusal(raw, n_dims=3):
    with pytest.raises(InputError) as caught:
        parse_idx(raw, "train-images", n_dims=n_dims)
    name, said = str(caught.value).split(": ", 1)
    assert name == "train-images"
    return said


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_a_file_cut_short_anywhere_is_refused_by_name(length):
    said = refusal(WHOLE[:length])
    assert ("not an idx file" in said) == (length < 4)
    assert ("within the sizes" in said) == (4 <= length < 16)
    assert ("28" in said and "cut short" in said) == (length >= 16)


WRONG = {
    "too long": (WHOLE + b"\0", "29 bytes, too long: sizes (2, 2, 3) need 28"),
    "too few images": (b"\0\0\x08\x03\0\0\0\x03" + WHOLE[8:], "28 bytes, cut short: sizes (3, 2, 3) need 34"),
    "a size beyond all memory": (b"\0\0\x08\x03" + b"\xff" * 12 + WHOLE[16:], "28 bytes, cut short"),
    "labels": (idx_file(np.arange(5)), "holds an array of 1 dimensions; 3 are needed"),
    "signed bytes": (b"\0\0\x09" + WHOLE[3:], "not an idx file of bytes: it starts with 00 00 09 03, not 00 00 08"),
    "a web page": (b"<!doctype html>", "not an idx file of bytes: it starts with 3c 21 64 6f, not 00 00 08"),
    "nothing": (b"", "not an idx file of bytes: it starts with nothing"),
}


@pytest.mark.parametrize(("raw", "said"), WRONG.values(), ids=WRONG)
def test_a_file_of_another_kind_or_size_is_refused_with_what_was_found(raw, said):
    assert refusal(raw).startswith(said)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "train-images.gz"


def test_a_file_is_read_the_same_plain_and_gzipped(path):
    for content in (WHOLE, gzip.compress(WHOLE), gzip.compress(WHOLE[:9]) + gzip.compress(WHOLE[9:])):
        path.write_bytes(content)
        assert read_bytes(path) == WHOLE


def test_a_gzip_file_cut_short_anywhere_is_refused_by_its_path(path):
    packed = gzip.compress(WHOLE)
    for length in range(2, len(packed)):
        path.write_bytes(packed[:length])
        with pytest.raises(InputError, match=r"/train-images\.gz: the gzip file is cut short or damaged"):
            read_bytes(path)


@pytest.mark.parametrize("place", [12, -6, -2], ids=["content", "checksum", "length"])
def test_a_damaged_gzip_file_is_refused_by_its_path(path, place):
    packed = bytearray(gzip.compress(WHOLE))
    packed[place] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(InputError, match=r"/train-images\.gz: the gzip file is cut short or damaged"):
        read_bytes(path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_file_that_unpacks_to_more_than_images_could_be_is_refused(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(idx, "MAX_FILE_BYTES", 1000)
    (tmp_path / "x").write_bytes(pack(bytes(1000)))
    assert read_bytes(tmp_path / "x") == bytes(1000)
    (tmp_path / "x").write_bytes(pack(bytes(1001)))
    with pytest.raises(InputError, match=r"x: more than 1,000 bytes; too large for images"):
        read_bytes(tmp_path / "x")
