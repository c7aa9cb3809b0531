"""What `lssc fit` and `lssc predict` share: the file of points, its options, and the file of labels."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from lssc.commands.progress import ProgressBar
from lssc.data.files.arrays import AUTO
from lssc.data.files.points import NONE, PointsFile
from lssc.errors import InputError
from lssc.types import Array, IndexArray

LABEL_SUFFIXES = (".npy", ".csv")


def add_points_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("points", type=Path, help="a .npy, .npz, .csv, .parquet, .h5 or .mat file, one point per row")
    parser.add_argument("--out", type=Path, required=True, help="file of the labels, .npy or .csv (row, label)")
    parser.add_argument("--key", default=AUTO, help="the array of points, if the file holds several")
    parser.add_argument(
        "--labels", default=NONE, help="true labels, for the accuracy: a column or array of the file, or another file"
    )
    parser.add_argument("--labels-key", default=AUTO, help="the array or column of labels in another file")
    parser.add_argument(
        "--header", choices=["auto", "first_row", "none"], default=AUTO, help="whether a CSV file has one"
    )
    parser.add_argument("--jobs", type=int, default=-1, help="threads (default: all cores); labels do not depend on it")


def open_points(args: argparse.Namespace) -> PointsFile:
    """The file that the arguments name; InputError if it, or its labels, cannot be used."""
    file = PointsFile(args.points, args.key, args.labels, args.labels_key, args.header)
    _ = file.shape, file.labels
    return file


def require_outputs(args: argparse.Namespace, **suffixes: tuple[str, ...]) -> None:
    """InputError if a file cannot be written; checked before the work begins."""
    for name, allowed in {"out": LABEL_SUFFIXES, **suffixes}.items():
        path = getattr(args, name, None)
        if path is None:
            continue
        if path.suffix not in allowed:
            raise InputError(f"--{name} {path}: must end in {' or '.join(allowed)}")
        if not path.absolute().parent.is_dir():
            raise InputError(f"--{name} {path}: the folder {path.parent} does not exist")
        if path.exists() and path.samefile(args.points):
            raise InputError(f"--{name} {path}: is the file of points, which is not overwritten")


def write_labels(path: Path, labels: IndexArray) -> None:
    """Labels in the order of the points: a .npy array, or a .csv table with row numbers from 0."""
    if path.suffix == ".npy":
        np.save(path, labels)
    else:
        lines = (f"{row},{label}" for row, label in enumerate(labels.tolist()))
        path.write_text("\n".join(["row,label", *lines]) + "\n")


class WatchedRows:
    """The points of a file, checked at each access, with the share that was read shown by a progress bar."""

    def __init__(self, file: PointsFile, bar: ProgressBar) -> None:
        self._file, self._bar = file, bar
        self.shape, self.dtype = file.shape, np.dtype(np.float64)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | IndexArray) -> Array:
        block = self._file.checked_rows(rows)
        if isinstance(rows, slice):
            self._bar.update((rows.start or 0) / len(self))
        return block
