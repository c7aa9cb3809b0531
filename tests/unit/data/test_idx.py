import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal
from tests.conftest import idx_file

from lssc.data.idx import idx_bytes, parse_idx, read_bytes
from lssc.errors import InputError

# Two images of 2 x 3 pixels, each byte its own place.
WHOLE = idx_file(np.arange(12).reshape(2, 2, 3))


@given(arrays(np.uint8, array_shapes(max_dims=3, min_side=0, max_side=5)))
def test_reads_what_it_writes_in_the_format(array):
    raw = idx_bytes(array)
    assert raw == idx_file(array)
    again = parse_idx(raw, "x", n_dims=array.ndim)
    assert again.dtype == np.uint8
    assert_array_equal(again, array)


def test_writes_rows_of_any_memory_order():
    array = np.arange(12, dtype=np.uint8).reshape(3, 4)
    assert idx_bytes(array.T) == idx_file(array.T.copy())


def refusal(raw, n_dims=3):
    with pytest.raises(InputError) as caught:
        parse_idx(raw, "train-images", n_dims=n_dims)
    name, message = str(caught.value).split(": ", 1)
    assert name == "train-images"
    return message


@pytest.mark.parametrize("length", range(len(WHOLE)))
def test_refuses_a_truncated_file(length):
    message = refusal(WHOLE[:length])
    assert ("not an idx file" in message) == (length < 4)
    assert ("within the sizes" in message) == (4 <= length < 16)
    assert ("28" in message and "cut short" in message) == (length >= 16)


WRONG = {
    "too long": (WHOLE + b"\0", "29 bytes, too long: sizes (2, 2, 3) need 28"),
    "too few images": (b"\0\0\x08\x03\0\0\0\x03" + WHOLE[8:], "28 bytes, cut short: sizes (3, 2, 3) need 34"),
    "labels": (idx_file(np.arange(5)), "holds an array of 1 dimensions; 3 are needed"),
    "signed bytes": (b"\0\0\x09" + WHOLE[3:], "not an idx file of bytes: it starts with 00 00 09 03, not 00 00 08"),
    "a web page": (b"<!doctype html>", "not an idx file of bytes: it starts with 3c 21 64 6f, not 00 00 08"),
    "nothing": (b"", "not an idx file of bytes: it starts with nothing"),
}


@pytest.mark.parametrize(("raw", "message"), WRONG.values(), ids=WRONG)
def test_refuses_files_of_another_kind_or_size(raw, message):
    assert refusal(raw).startswith(message)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "train-images.gz"


def test_reads_plain_and_gzipped_files(path):
    for content in (WHOLE, gzip.compress(WHOLE), gzip.compress(WHOLE[:9]) + gzip.compress(WHOLE[9:])):
        path.write_bytes(content)
        assert read_bytes(path) == WHOLE


def test_refuses_a_truncated_gzip_file(path):
    packed = gzip.compress(WHOLE)
    for length in range(2, len(packed)):
        path.write_bytes(packed[:length])
        with pytest.raises(InputError, match=r"/train-images\.gz: the gzip file is cut short or damaged"):
            read_bytes(path)


@pytest.mark.parametrize("place", [12, -6, -2], ids=["content", "checksum", "length"])
def test_refuses_a_damaged_gzip_file(path, place):
    packed = bytearray(gzip.compress(WHOLE))
    packed[place] ^= 0xFF
    path.write_bytes(packed)
    with pytest.raises(InputError, match=r"/train-images\.gz: the gzip file is cut short or damaged"):
        read_bytes(path)
