"""Scattering coefficients of images (Bruna and Mallat 2013)."""

from __future__ import annotations

import sys
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from lssc.data.idx import Bytes
from lssc.errors import InputError
from lssc.parts.params import AtLeast, AtMost, Halvings
from lssc.parts.registry import component

# Images transformed at a time: enough for bulk FFTs, few enough for the cache.
IMAGES_PER_BATCH = 256


def warm_up() -> None:
    import kymatio.numpy  # noqa: F401


def width(*, scales: int, angles: int, side: int) -> int:
    """Number of features of an image: paths times places."""
    return (1 + scales * angles + angles**2 * scales * (scales - 1) // 2) * (side // 2**scales) ** 2


@component("features", "scattering", warm_up=warm_up, width=width)
def scattering(
    pixels: Bytes,
    *,
    scales: Annotated[int, AtLeast(1), AtMost(10), Halvings("side")] = 3,
    angles: Annotated[int, AtLeast(1), AtMost(64)] = 8,
    side: Annotated[int, AtLeast(1), AtMost(1024)] = 32,
) -> NDArray[np.float32]:
    """Averages of wavelet moduli, up to two orders: n x paths x places (float32).

    Images are centred on a square of `side` pixels and padded with zeros. The defaults give 217 paths of 4 x 4 places,
    the paper's 3,472 features.
    """
    from kymatio.numpy import Scattering2D

    transform = Scattering2D(J=scales, shape=(side, side), L=angles)
    padded = padded_to(pixels, side)
    parts = []
    for start in range(0, len(padded), IMAGES_PER_BATCH):
        maps = transform(padded[start : start + IMAGES_PER_BATCH])
        parts.append(maps.reshape(*maps.shape[:2], -1).astype(np.float32))
        print(f"{min(start + IMAGES_PER_BATCH, len(padded)):,} of {len(padded):,} images", file=sys.stderr, flush=True)
    return np.concatenate(parts)


def padded_to(pixels: Bytes, side: int) -> NDArray[np.float32]:
    """Grey values in [0, 1], centred on a square of zeros."""
    height, width = pixels.shape[1:]
    if max(height, width) > side:
        raise InputError(f"images of {height} x {width} pixels do not fit a square of side={side}")
    top, left = (side - height) // 2, (side - width) // 2
    canvas = np.zeros((len(pixels), side, side), dtype=np.float32)
    canvas[:, top : top + height, left : left + width] = pixels / np.float32(255)
    return canvas
