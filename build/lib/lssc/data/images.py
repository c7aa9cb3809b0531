"""Read and check collections of labelled images in MNIST's four files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lssc.data.idx import Bytes, parse_idx, read_bytes
from lssc.errors import DamagedArtifact, InputError

SPLITS = ("train", "t10k")
IMAGES, LABELS = "{}-images-idx3-ubyte", "{}-labels-idx1-ubyte"
FILES = tuple(pattern.format(split) for split in SPLITS for pattern in (IMAGES, LABELS))


@dataclass(frozen=True)
class Images:
    """Grey images (n x height x width) and their classes (n): training images first, then test images."""

    pixels: Bytes
    labels: Bytes


def find_files(folder: Path) -> dict[str, bytes]:
    """Name -> uncompressed content of the four files, each plain or with .gz; InputError names the missing ones."""
    paths = {name: next((p for p in _spellings(folder, name) if p.is_file()), None) for name in FILES}
    if missing := [name for name, path in paths.items() if path is None]:
        raise InputError(f"{folder}: has no {', no '.join(missing)} (plain or .gz)")
    return {name: read_bytes(path) for name, path in paths.items()}


def _spellings(folder: Path, name: str) -> Iterable[Path]:
    # Some copies of MNIST have a dot before "idx".
    for spelling in (name, name.replace("-idx", ".idx")):
        yield from (folder / spelling, folder / f"{spelling}.gz")


def check_images(files: Mapping[str, bytes], *, sha256: Mapping[str, str], counts: list[int]) -> Images:
    """The images in these files; InputError if a checksum or the number of images of a class differs."""
    images = _assemble(files)
    for name, raw in files.items():
        if (digest := hashlib.sha256(raw).hexdigest()) != sha256[name]:
            raise InputError(f"{name}: its SHA-256 is {digest}; it should be {sha256[name]}")
    actual = np.bincount(images.labels, minlength=len(counts)).tolist()
    if actual != list(counts):
        raise InputError(f"labels: the classes have {actual} images; counts in config say {list(counts)}")
    return images


def read_images(paths: Iterable[Path], *, sha256: Mapping[str, str]) -> Images:
    """The images in files that were checked when fetched; DamagedArtifact if one has changed since."""
    files = {}
    for path in paths:
        files[path.name] = path.read_bytes()
        if hashlib.sha256(files[path.name]).hexdigest() != sha256[path.name]:
            raise DamagedArtifact(path, "does not match its checksum: cut short or altered")
    return _assemble(files)


def _assemble(files: Mapping[str, bytes]) -> Images:
    pixels = [parse_idx(files[name], name, n_dims=3) for name in map(IMAGES.format, SPLITS)]
    labels = [parse_idx(files[name], name, n_dims=1) for name in map(LABELS.format, SPLITS)]
    for split, images, classes in zip(SPLITS, pixels, labels, strict=True):
        if len(images) != len(classes):
            raise InputError(
                f"{IMAGES.format(split)} holds {len(images)} images, {LABELS.format(split)} {len(classes)} labels; "
                "they must be as many"
            )
    if pixels[0].shape[1:] != pixels[1].shape[1:]:
        shapes = " and ".join("x".join(map(str, images.shape[1:])) for images in pixels)
        raise InputError(f"{' and '.join(map(IMAGES.format, SPLITS))}: images of different sizes, {shapes}")
    return Images(np.concatenate(pixels), np.concatenate(labels))
