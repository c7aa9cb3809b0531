"""Grey pictures as points: the pixels of each, row by row, from 0 to 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lssc.data.files.extras import require_package
from lssc.errors import InputError
from lssc.types import Array

SUFFIXES = (".pgm", ".png", ".bmp", ".tif", ".tiff")
# Classes by the folder of a picture, or by its name.
FOLDER, NAME = "folder", "name"


def read_pictures(paths: Sequence[Path], *, shrink: int = 1) -> Array:
    """One row per picture; `shrink` averages squares of so many pixels a side. All must have one size."""
    rows, first = [], None
    for path in paths:
        pixels = read_picture(path)
        first = first or pixels.shape
        if pixels.shape != first:
            sizes = " and ".join(f"{height} x {width}" for height, width in (first, pixels.shape))
            raise InputError(f"{path}: pictures of different sizes, {sizes} pixels; they must have one size")
        rows.append(_shrunk(pixels, shrink).ravel())
    return np.array(rows) / 255


def read_picture(path: Path) -> np.ndarray:
    """The grey values of a picture from 0 to 255 (height x width)."""
    Image = require_package("PIL.Image", path)
    try:
        with Image.open(path) as picture:
            return np.asarray(picture.convert("L"), dtype=np.float64)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{path}: no picture, or cut short or damaged ({error})") from None


def picture_classes(paths: Sequence[Path], labels: str) -> np.ndarray:
    """The class of each picture: its folder's name, or its own name up to the last number (obj3 of obj3__12.png)."""
    if labels == FOLDER:
        return np.array([path.parent.name for path in paths])
    names = [re.sub(r"[^A-Za-z0-9]*\d+$", "", path.stem) for path in paths]
    if "" in names:
        raise InputError(f"{paths[names.index('')]}: the name holds no class before its number; use labels: {FOLDER}")
    return np.array(names)


def _shrunk(pixels: np.ndarray, factor: int) -> np.ndarray:
    height, width = (size // factor for size in pixels.shape)
    if not (height and width):
        raise InputError(f"shrink={factor} leaves nothing of pictures of {pixels.shape[0]} x {pixels.shape[1]} pixels")
    cut = pixels[: height * factor, : width * factor]
    return cut.reshape(height, factor, width, factor).mean(axis=(1, 3))
