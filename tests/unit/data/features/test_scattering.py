import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lssc.data.features import scattering as module
from lssc.data.features.scattering import padded_to, scattering
from lssc.errors import InputError
from lssc.parts.registry import find


@pytest.fixture(scope="module")
def digits():
    return np.random.default_rng(4).integers(256, size=(5, 28, 28), dtype=np.uint8)


def test_paths_do_not_depend_on_other_images(digits, monkeypatch):
    together = scattering(digits)
    assert (together.shape, together.dtype) == ((5, 217, 16), np.float32)
    monkeypatch.setattr(module, "IMAGES_PER_BATCH", 2)
    assert_allclose(scattering(digits), together, atol=1e-6)
    assert_allclose(scattering(digits[3:4]), together[3:4], atol=1e-6)


def test_constant_image_has_its_average_in_the_first_path_alone():
    maps = scattering(np.full((1, 32, 32), 51, dtype=np.uint8))
    assert_allclose(maps[0, 0], 51 / 255, rtol=1e-4)
    assert_allclose(maps[0, 1:], 0, atol=1e-3)


@pytest.mark.parametrize(("height", "width", "side"), [(28, 28, 32), (3, 5, 8), (4, 4, 4), (1, 2, 4)])
def test_images_are_centred_on_a_square_of_zeros(height, width, side):
    pixels = np.full((2, height, width), 255, dtype=np.uint8)
    padded = padded_to(pixels, side)
    assert padded.shape == (2, side, side)
    assert padded.dtype == np.float32
    assert_array_equal(np.unique(padded), [0, 1] if side > height else [1])
    for axis, size in ((1, height), (2, width)):
        inside = np.flatnonzero(padded[0].any(axis=2 - axis))
        assert len(inside) == size
        assert inside[0] in (side - 1 - inside[-1], side - 2 - inside[-1])


@pytest.mark.parametrize(("scales", "angles", "side"), [(1, 1, 2), (2, 3, 8), (2, 2, 11), (3, 2, 8)])
def test_width_is_the_number_of_features(scales, angles, side):
    pixels, params = np.zeros((1, 2, 2), dtype=np.uint8), {"scales": scales, "angles": angles, "side": side}
    assert scattering(pixels, **params).size == find("features", "scattering").width(**params)


def test_refuses_images_larger_than_the_square():
    with pytest.raises(InputError, match="images of 28 x 20 pixels do not fit a square of side=27"):
        padded_to(np.zeros((1, 28, 20), dtype=np.uint8), 27)
