"""Scattering coefficients (Bruna and Mallat 2013), as the paper and SSC-OMP's authors use them on digits."""

from __future__ import annotations

import sys
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from lssc.data.idx import Bytes
from lssc.errors import InputError
from lssc.parts.params import AtLeast, AtMost, Halvings
from lssc.parts.registry import component

# Images per call: large enough for FFTs in bulk, small enough for the cache.
BATCH = 256


def warm_up() -> None:
    import kymatio.numpy  # noqa: F401


def width(*, scales: int, angles: int, side: int) -> int:
    """So many paths, each at so many places."""
    return (1 + scales * angles + angles**2 * scales * (scales - 1) // 2) * (side // 2**scales) ** 2


@component("features", "scattering", warm_up=warm_up, width=width)
def scattering(
    pixels: Bytes,
    *,
    scales: Annotated[int, AtLeast(1), AtMost(10), Halvings("side")] = 3,
    angles: Annotated[int, AtLeast(1), AtMost(64)] = 8,
    side: Annotated[int, AtLeast(1), AtMost(1024)] = 32,
) -> NDArray[np.float32]:
    """Two orders of wavelet modulus averages: n x paths x places, for 28 x 28 digits 217 paths of 4 x 4 places.

    Images are centred on a square of `side` pixels, with zeros around them.
    """
    from kymatio.numpy import Scattering2D

    transform = Scattering2D(J=scales, shape=(side, side), L=angles)
    padded = padded_to(pixels, side)
    parts = []
    for start in range(0, len(padded), BATCH):
        maps = transform(padded[start : start + BATCH])
        parts.append(maps.reshape(*maps.shape[:2], -1).astype(np.float32))
        print(f"{min(start + BATCH, len(padded)):,} of {len(padded):,} images", file=sys.stderr, flush=True)
    return np.concatenate(parts)


def padded_to(pixels: Bytes, side: int) -> NDArray[np.float32]:
    """Grey values from 0 to 1, centred on a square of zeros."""
    height, width = pixels.shape[1:]
    if max(height, width) > side:
        raise InputError(f"images of {height} x {width} pixels do not fit a square of side={side}")
    top, left = (side - height) // 2, (side - width) // 2
    canvas = np.zeros((len(pixels), side, side), dtype=np.float32)
    canvas[:, top : top + height, left : left + width] = pixels / np.float32(255)
    return canvas
