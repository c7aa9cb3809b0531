"""Tables: labelled points in files of a package or a folder, checked before they are read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lssc.data.downloads import place_of
from lssc.data.files.points import Labels
from lssc.data.idx import read_bytes
from lssc.errors import InputError
from lssc.types import Array


@dataclass(frozen=True)
class Table:
    """Points as rows of X, and their classes."""

    X: Array
    labels: Labels


def checked_files(folder: Path, sha256: Mapping[str, str], into: Path) -> list[Path]:
    """The files of a folder that match each pattern, uncompressed and copied; InputError unless checksums match.

    The checksum of a pattern is that of the contents of its files one after another, in the order of their names.
    """
    paths: list[Path] = []
    for pattern, expected in sha256.items():
        matching = _matching(folder, pattern)
        if not matching:
            raise InputError(f"{folder}: has no {pattern} (plain or .gz)")
        digest = hashlib.sha256()
        for place, path in matching.items():
            content = read_bytes(path)
            digest.update(content)
            paths.append(into / place)
            paths[-1].parent.mkdir(parents=True, exist_ok=True)
            paths[-1].write_bytes(content)
        if digest.hexdigest() != expected:
            raise InputError(f"{folder}: {pattern}: its SHA-256 is {digest.hexdigest()}; it should be {expected}")
    return paths


def check_table(table: Table, *, counts: Sequence[int], columns: int) -> None:
    """InputError unless a table has as many points of each class, and numbers in a point, as config says."""
    actual = np.bincount(table.labels.numbers, minlength=len(counts)).tolist()
    if actual != list(counts):
        raise InputError(f"the classes have {actual} points; counts in config say {list(counts)}")
    if table.X.shape[1] != columns:
        raise InputError(f"the points have {table.X.shape[1]} numbers; columns in config says {columns}")


def _matching(folder: Path, pattern: str) -> dict[str, Path]:
    """Name -> file, for the files anywhere in a folder that match a pattern; the name is without .gz."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (place := place_of(path.relative_to(folder).as_posix(), [pattern])):
            found.setdefault(place.as_posix().removesuffix(".gz"), path)
    return dict(sorted(found.items()))
