"""Hyperspectral images: a spectrum for each pixel, and the class of each pixel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lssc.data.files.points import class_numbers
from lssc.data.tables import Table
from lssc.errors import InputError
from lssc.parts.registry import component


@component("reader", "cube")
def read_cube(paths: Sequence[Path], *, background: int = 0) -> Table:
    """The spectra of a .npy file (height x width x bands) whose class in the other file is not `background`."""
    try:
        cube, classes = (np.load(path, allow_pickle=False) for path in paths)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"a cube needs two .npy files, of spectra and of classes ({error})") from None
    if cube.ndim != 3 or cube.shape[:2] != classes.shape:
        raise InputError(f"{paths[0].name}: spectra of shape {cube.shape} for classes of shape {classes.shape}")
    labelled = classes != background
    return Table(cube[labelled].astype(np.float64), class_numbers(classes[labelled], paths[1]))
