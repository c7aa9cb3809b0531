"""Folders of one's own as points: pictures, one point each, or the point trajectories of a Hopkins 155 sequence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from lssc.data.files.arrays import NUMBERS, require_stored
from lssc.data.files.matlab import open_mat
from lssc.data.files.pictures import FOLDER, NAME, SUFFIXES, picture_classes, read_pictures
from lssc.errors import InputError
from lssc.types import Array

# Ending of the file of a motion sequence; its arrays of trajectories and of motions.
TRUTH, TRAJECTORIES, MOTIONS = "_truth.mat", "x", "s"
# Ending of pictures that are left out: Extended Yale B has one without flash for each person, of another size.
AMBIENT = "_Ambient"


@dataclass(frozen=True)
class PictureFolder:
    """All pictures in a folder and its subfolders, in the order of their names, numbers counting as numbers."""

    path: Path
    shrink: int = 1

    @cached_property
    def files(self) -> list[Path]:
        found = [path for path in self.path.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file()]
        kept = [path for path in found if not path.stem.endswith(AMBIENT)]
        if not kept:
            raise InputError(f"{self.path}: holds neither pictures ({', '.join(SUFFIXES)}) nor a file *{TRUTH}")
        return sorted(kept, key=lambda path: _natural(path.relative_to(self.path).as_posix()))

    def shape(self, labels: str | None) -> tuple[int, int]:
        return len(self.files), read_pictures(self.files[:1], shrink=self.shrink).shape[1]

    def points(self, labels: str | None) -> Array:
        return read_pictures(self.files, shrink=self.shrink)

    def labels(self, key: str) -> np.ndarray:
        if key not in (FOLDER, NAME):
            raise InputError(f"{self.path}: labels {key!r} of pictures must be {FOLDER!r} or {NAME!r}")
        return picture_classes(self.files, key)


@dataclass(frozen=True)
class MotionSequence:
    """The tracked points of a video: the x and y positions of a point in all F frames are one point of 2F numbers."""

    path: Path
    file: Path

    @property
    def files(self) -> list[Path]:
        return [self.file]

    def shape(self, labels: str | None) -> tuple[int, int]:
        return self._trajectories.shape

    def points(self, labels: str | None) -> Array:
        return self._trajectories

    def labels(self, key: str) -> np.ndarray:
        if key != MOTIONS:
            raise InputError(f"{self.path}: labels {key!r} of a motion sequence must be {MOTIONS!r}")
        return open_mat(self.file).labels(MOTIONS)

    @cached_property
    def _trajectories(self) -> Array:
        arrays = open_mat(self.file).arrays
        if TRAJECTORIES not in arrays or arrays[TRAJECTORIES].dtype.kind not in NUMBERS:
            raise InputError(f"{self.file}: has no array {TRAJECTORIES!r} of trajectories")
        require_stored(f"{self.file}: array {TRAJECTORIES!r}", arrays[TRAJECTORIES])
        x = np.asarray(arrays[TRAJECTORIES].load()[:], dtype=np.float64)
        if x.ndim == 3 and x.shape[0] in (2, 3):
            # Homogeneous coordinates x points x frames, whose third coordinate is 1.
            return x[:2].transpose(1, 2, 0).reshape(x.shape[1], -1)
        if x.ndim == 2 and x.shape[0] % 2 == 0:
            return x.T
        raise InputError(f"{self.file}: trajectories of shape {x.shape}; they need 3 x points x frames, or 2F x points")


def open_folder(path: Path, shrink: int = 1) -> PictureFolder | MotionSequence:
    """A folder by what it holds: a file *_truth.mat makes it a motion sequence."""
    truths = sorted(path.glob(f"*{TRUTH}"))
    if len(truths) > 1:
        raise InputError(f"{path}: holds {len(truths)} files *{TRUTH}; name the folder of one sequence")
    return MotionSequence(path, truths[0]) if truths else PictureFolder(path, shrink)


def _natural(name: str) -> list[str | int]:
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]
