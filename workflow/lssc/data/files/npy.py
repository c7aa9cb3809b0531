"""NumPy's .npy and .npz files, without pickle: .npy by memory map, .npz by a stream of known length."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy_format

from lssc.data.files.arrays import ArrayFile, StoredArray, read_into
from lssc.errors import InputError

# Bytes in which a header must lie.
MAX_HEADER_BYTES = 2**16
# Flag of an encrypted member of a zip file.
ENCRYPTED = 0x1


@dataclass(frozen=True)
class Header:
    """Shape, order and type of an array, and where its data begin."""

    shape: tuple[int, ...]
    order: str
    dtype: np.dtype
    offset: int


def open_npy(path: Path) -> ArrayFile:
    """The one array of a .npy file, as a memory map."""
    with path.open("rb") as file:
        header = _header(file, str(path))
    stored = path.stat().st_size - header.offset
    return ArrayFile(path, {"": _array(header, stored, packed=False, load=partial(_mapped, path, header))})


def open_npz(path: Path) -> ArrayFile:
    """The arrays of a .npz file by name; members that are no arrays are left out."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            arrays = {info.filename.removesuffix(".npy"): _member(path, archive, info) for info in members}
    except InputError:
        raise
    except Exception as error:  # a damaged zip file raises errors of many kinds
        raise InputError(f"{path}: no .npz file, or cut short or damaged ({_short(error)})") from None
    return ArrayFile(path, arrays)


def _header(stream: IO[bytes], where: str) -> Header:
    # A damaged length of the header must not make NumPy read gigabytes.
    file = io.BytesIO(stream.read(MAX_HEADER_BYTES))
    try:
        version = npy_format.read_magic(file)
        read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        shape, fortran, dtype = read(file)
        if any(size < 0 for size in shape):
            raise ValueError(f"negative size in {shape}")
    except Exception as error:  # NumPy evaluates the header as a literal, which fails in many ways
        raise InputError(f"{where}: no .npy file, or cut short or damaged ({_short(error)})") from None
    if dtype.hasobject:
        raise InputError(f"{where}: holds Python objects, which could run code when loaded; save an array of numbers")
    return Header(tuple(map(int, shape)), "F" if fortran else "C", dtype, file.tell())


def _array(header: Header, stored: int, *, packed: bool, load: Any) -> StoredArray:
    return StoredArray(header.shape, header.dtype, stored, packed, load)


def _mapped(path: Path, header: Header) -> np.ndarray:
    return np.memmap(path, header.dtype, "r", header.offset, header.shape, header.order)


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> StoredArray:
    if info.flag_bits & ENCRYPTED:
        raise InputError(f"{path}: {info.filename} is encrypted; save it without a password")
    with archive.open(info) as file:
        header = _header(file, f"{path}: {info.filename}")
    packed = info.compress_type != zipfile.ZIP_STORED
    stored = min(info.compress_size, path.stat().st_size) - (0 if packed else header.offset)
    return _array(header, stored, packed=packed, load=partial(_unpacked, path, info.filename, header))


def _unpacked(path: Path, name: str, header: Header) -> np.ndarray:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(name) as file:
            file.read(header.offset)
            return read_into(header.shape, header.dtype, header.order, file.read)
    except Exception as error:
        raise InputError(f"{path}: {name} is cut short or damaged ({_short(error)})") from None


def _short(error: Exception) -> str:
    """The first line of an error, cut at 100 characters."""
    return (str(error).splitlines() or [type(error).__name__])[0][:100]
