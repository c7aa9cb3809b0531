import gzip
import hashlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.conftest import idx_file

from lssc.data.images import FILES, check_images, find_files, read_images
from lssc.errors import DamagedArtifact, InputError

COUNTS = [14, 12, 10]
IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


@pytest.fixture
def sha256(tiny_files):
    return digests(tiny_files)


def digests(files):
    return {name: hashlib.sha256(raw).hexdigest() for name, raw in files.items()}


def put(folder, files):
    for name, raw in files.items():
        (folder / name).write_bytes(raw)
    return [folder / name for name in files]


def test_finds_files_of_any_spelling(tmp_path, tiny_files):
    one, two, three, four = FILES
    spelt = {
        one: tiny_files[one],
        f"{two}.gz": gzip.compress(tiny_files[two]),
        three.replace("-idx", ".idx"): tiny_files[three],
        f"{four.replace('-idx', '.idx')}.gz": gzip.compress(tiny_files[four]),
        "readme.txt": b"not one of them",
    }
    put(tmp_path, spelt)
    assert find_files(tmp_path) == tiny_files


def test_names_missing_files(tmp_path, tiny_files):
    (tmp_path / "t10k-labels-idx1-ubyte").mkdir()  # a folder is no file
    put(tmp_path, {IMAGES: tiny_files[IMAGES], LABELS: tiny_files[LABELS]})
    with pytest.raises(InputError) as caught:
        find_files(tmp_path)
    assert str(caught.value) == f"{tmp_path}: has no t10k-images-idx3-ubyte, no t10k-labels-idx1-ubyte (plain or .gz)"


def test_training_images_come_first(tiny_files, sha256):
    images = check_images(tiny_files, sha256=sha256, counts=COUNTS)
    assert (images.pixels.shape, images.labels.shape) == ((36, 8, 6), (36,))
    assert images.pixels.tobytes() == tiny_files[IMAGES][16:] + tiny_files["t10k-images-idx3-ubyte"][16:]
    assert images.labels.tobytes() == tiny_files[LABELS][8:] + tiny_files["t10k-labels-idx1-ubyte"][8:]


@pytest.mark.parametrize("name", FILES)
def test_refuses_another_checksum(tiny_files, sha256, name):
    other = {**sha256, name: "0" * 64}
    with pytest.raises(InputError, match=f"^{name}: its SHA-256 is {sha256[name]}; it should be {'0' * 64}$"):
        check_images(tiny_files, sha256=other, counts=COUNTS)


@pytest.mark.parametrize("counts", [[14, 12, 9], [14, 12], [12, 14, 10]], ids=str)
def test_refuses_other_class_sizes_than_config(tiny_files, sha256, counts):
    with pytest.raises(InputError) as caught:
        check_images(tiny_files, sha256=sha256, counts=counts)
    assert str(caught.value) == f"labels: the classes have [14, 12, 10] images; counts in config say {counts}"


def test_class_may_have_no_images(tiny_files, sha256):
    assert len(check_images(tiny_files, sha256=sha256, counts=[*COUNTS, 0]).labels) == sum(COUNTS)


def zeros(*shape):
    return idx_file(np.zeros(shape))


MISFITS = {
    "fewer labels": ({LABELS: zeros(23)}, f"{IMAGES} holds 24 images, {LABELS} 23 labels; they must be as many"),
    "images for labels": ({LABELS: zeros(24, 1, 1)}, f"{LABELS}: holds an array of 3 dimensions; 1 are needed"),
    "another size": ({IMAGES: zeros(24, 7, 6)}, "images of different sizes, 7x6 and 8x6"),
    "cut short": ({IMAGES: zeros(24, 8, 6)[:-1]}, f"{IMAGES}: 1167 bytes, cut short: sizes (24, 8, 6) need 1168"),
}


@pytest.mark.parametrize(("change", "message"), MISFITS.values(), ids=MISFITS)
def test_refuses_files_that_do_not_fit_each_other(tiny_files, change, message):
    files = {**tiny_files, **change}
    with pytest.raises(InputError) as caught:
        check_images(files, sha256=digests(files), counts=COUNTS)
    assert message in str(caught.value)


def test_reads_checked_images(tmp_path, tiny_files, sha256):
    expected = check_images(tiny_files, sha256=sha256, counts=COUNTS)
    images = read_images(put(tmp_path, tiny_files), sha256=sha256)
    assert_array_equal(images.pixels, expected.pixels)
    assert_array_equal(images.labels, expected.labels)


@pytest.mark.parametrize("name", FILES)
def test_reports_a_file_changed_since(tmp_path, tiny_files, sha256, name):
    paths = put(tmp_path, tiny_files)
    raw = bytearray(tiny_files[name])
    raw[-1] ^= 1
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(DamagedArtifact) as caught:
        read_images(paths, sha256=sha256)
    assert caught.value.path == tmp_path / name
    assert str(caught.value).startswith(f"{tmp_path / name}: does not match its checksum")
