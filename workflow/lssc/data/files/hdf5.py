"""HDF5 files, also those that MATLAB writes as version 7.3: arrays stay in the file and are read by rows."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from lssc.data.files.arrays import ArrayFile, StoredArray
from lssc.data.files.extras import require_package
from lssc.errors import InputError
from lssc.types import Rows, StoredRows, fits_in_memory

# Datasets of a file that are looked at.
MOST_DATASETS = 10_000


def open_hdf5(path: Path, *, transposed: bool = False) -> ArrayFile:
    """The datasets of an HDF5 file by their paths in it; MATLAB stores matrices `transposed`.

    Links to other files are not followed.
    """
    h5py = require_package("h5py", path)
    arrays: dict[str, StoredArray] = {}
    try:
        file = h5py.File(path, "r")

        def add(name: str | bytes, item: Any) -> bool | None:
            # A name that is no UTF-8 comes as bytes.
            name = name if isinstance(name, str) else name.decode("utf-8", "replace")
            if isinstance(item, h5py.Dataset) and item.shape is not None:
                arrays[name] = _array(item, path, name, transposed)
            return True if len(arrays) >= MOST_DATASETS else None

        file.visititems(add)
    except InputError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0][:100]
        raise InputError(f"{path}: no HDF5 file, or cut short or damaged ({reason})") from None
    return ArrayFile(path, arrays)


def _array(data: Any, path: Path, name: str, transposed: bool) -> StoredArray:
    stored = min(data.id.get_storage_size(), path.stat().st_size)
    if data.external or data.is_virtual:
        # Such a dataset refers to other files, which are not ours to read.
        stored = 0
    # Without a single byte on disk, HDF5 would make up the whole array.
    packed = stored > 0 and data.id.get_create_plist().get_nfilters() > 0
    shape = tuple(map(int, data.shape))
    load = partial(_load, data, path, name, transposed)
    return StoredArray(shape[::-1] if transposed else shape, data.dtype, stored, packed, load)


def _load(data: Any, path: Path, name: str, transposed: bool) -> Rows:
    try:
        if data.dtype.kind == "O":
            return data.asstr()[()]
        if transposed:
            return data[()].T
        return data[()] if fits_in_memory(data.shape) else StoredRows(data)
    except (OSError, TypeError, ValueError) as error:
        reason = (str(error).splitlines() or [""])[0][:100]
        raise InputError(f"{path}: array {name!r} cannot be read ({reason})") from None


def is_hdf5(path: Path) -> bool:
    """Whether a file of any suffix is HDF5: its signature may follow a user block of 512 bytes."""
    with path.open("rb") as file:
        start = file.read(520)
    return b"\x89HDF\r\n\x1a\n" in (start[:8], start[512:520])
