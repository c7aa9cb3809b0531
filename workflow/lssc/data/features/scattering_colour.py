"""Scattering coefficients of colour images, channel by channel."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from lssc.data.features.scattering import scattering, warm_up
from lssc.data.features.scattering import width as width_of_channel
from lssc.data.idx import Bytes
from lssc.errors import InputError
from lssc.parts.params import AtLeast, AtMost, Halvings
from lssc.parts.registry import component

CHANNELS = 3


def width(*, scales: int, angles: int, side: int) -> int:
    """Number of features of an image: channels times paths times places."""
    return CHANNELS * width_of_channel(scales=scales, angles=angles, side=side)


@component("features", "scattering_colour", warm_up=warm_up, width=width)
def scattering_colour(
    pixels: Bytes,
    *,
    scales: Annotated[int, AtLeast(1), AtMost(10), Halvings("side")] = 3,
    angles: Annotated[int, AtLeast(1), AtMost(64)] = 4,
    side: Annotated[int, AtLeast(1), AtMost(1024)] = 32,
) -> NDArray[np.float32]:
    """Features of `scattering` for each of three planes that lie below each other: n x 3 paths x places (float32).

    With the defaults an image of 32 x 32 pixels has 3 x 61 paths of 4 x 4 places, 2,928 features.
    """
    n, height, _ = pixels.shape
    if height % CHANNELS:
        raise InputError(f"images of {height} rows are no {CHANNELS} planes; use 'scattering' for grey images")
    planes = pixels.reshape(n, CHANNELS, height // CHANNELS, -1)
    maps = [scattering(planes[:, c], scales=scales, angles=angles, side=side) for c in range(CHANNELS)]
    return np.concatenate(maps, axis=1)
