"""MATLAB's .mat files of versions 5 to 7.3: full numeric matrices. Only headers are read until a matrix is loaded.

Format: a header of 128 bytes, then elements. An element has a tag of eight bytes (type, size) and is padded to a
multiple of eight bytes; if the upper half of the type is not zero, it is the size, and the data are in the tag.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from lssc.data.files.arrays import ArrayFile, StoredArray, read_into
from lssc.data.files.hdf5 import is_hdf5, open_hdf5
from lssc.errors import InputError

HEADER = 128
MATRIX, COMPRESSED = 14, 15
# Types of data elements.
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
# Classes of full numeric matrices, from double to uint64; others are not listed.
NUMERIC_CLASSES = range(6, 16)
COMPLEX_FLAG = 0x0800
# Bytes of dimensions or of a name that are read.
MAX_HEAD_BYTES = 4096

Read = Callable[[int], bytes]


def open_mat(path: Path) -> ArrayFile:
    """The full numeric matrices of a .mat file by name."""
    if is_hdf5(path):
        return open_hdf5(path, transposed=True)
    try:
        return ArrayFile(path, dict(_matrices(path)))
    except (EOFError, ValueError, zlib.error, struct.error, UnicodeDecodeError, OverflowError) as error:
        raise InputError(f"{path}: no .mat file of version 5 or later, or cut short or damaged ({error})") from None


def _matrices(path: Path) -> Iterator[tuple[str, StoredArray]]:
    """Name and array of every numeric matrix; only heads are read."""
    size = path.stat().st_size
    with path.open("rb") as file:
        endian = {b"IM": "<", b"MI": ">"}.get(file.read(HEADER)[126:])
        if endian is None:
            raise ValueError("it has no header")
        start = HEADER
        while start + 8 <= size:
            file.seek(start)
            kind, length = struct.unpack(f"{endian}II", file.read(8))
            if start + 8 + length > size:
                raise EOFError(f"an element at byte {start:,} needs {length:,} bytes of {size:,}")
            if kind in (MATRIX, COMPRESSED):
                packed = kind == COMPRESSED
                read = _inflated(file.read, length) if packed else file.read
                if packed and struct.unpack(f"{endian}II", _exactly(read, 8))[0] != MATRIX:
                    raise ValueError("a compressed element holds no matrix")
                if found := _matrix(path, read, endian, partial(_reopened, path, start + 8, length, packed)):
                    name, shape, dtype, load = found
                    yield name, StoredArray(shape, dtype, length, packed, load)
            start += 8 + length


def _reopened(path: Path, start: int, length: int, packed: bool) -> Read:
    """Reads the content of a matrix from its begin."""
    file = path.open("rb")
    file.seek(start)
    read = _inflated(file.read, length) if packed else file.read
    if packed:
        _exactly(read, 8)
    return read


def _matrix(
    path: Path, read: Read, endian: str, reopen: Callable[[], Read]
) -> tuple[str, tuple[int, ...], np.dtype, Callable[[], np.ndarray]] | None:
    """Name, shape, type and loader of a numeric matrix; None for other classes."""
    skipped, head = _head(read, endian)
    if head is None:
        return None
    name, shape = head
    kind, length, inside = _tag(read, endian)
    if kind not in TYPES:
        raise ValueError(f"matrix {name!r} holds data of an unknown type {kind}")
    dtype = np.dtype(f"{endian}{TYPES[kind]}")
    if length != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"matrix {name!r} of {' x '.join(map(str, shape))} has {length:,} bytes of data")

    def load() -> np.ndarray:
        again = reopen()
        try:
            _exactly(again, skipped + (4 if inside else 8))
            return read_into(shape, dtype, "F", again)
        except (EOFError, zlib.error) as error:
            raise InputError(f"{path}: matrix {name!r} is cut short or damaged ({error})") from None

    return name, shape, dtype, load


def _head(read: Read, endian: str) -> tuple[int, tuple[str, tuple[int, ...]] | None]:
    """How many bytes the flags, dimensions and name of a matrix take; name and shape if it is real and numeric."""
    count = 0

    def counted(size: int) -> bytes:
        nonlocal count
        block = read(size)
        count += len(block)
        return block

    flags = struct.unpack(f"{endian}I", _element(counted, endian)[:4])[0]
    if flags & 0xFF not in NUMERIC_CLASSES or flags & COMPLEX_FLAG:
        return count, None
    dims = _element(counted, endian)
    shape = struct.unpack(f"{endian}{len(dims) // 4}i", dims[: len(dims) // 4 * 4])
    if any(size < 0 for size in shape):
        raise ValueError(f"a matrix has dimensions {shape}")
    name = _element(counted, endian).decode("ascii")
    return count, (name, shape)


def _element(read: Read, endian: str) -> bytes:
    """The content of a short element."""
    _, length, inside = _tag(read, endian)
    if length > MAX_HEAD_BYTES:
        raise ValueError(f"the head of a matrix claims {length:,} bytes")
    padded = 4 if inside else -(-length // 8) * 8
    return _exactly(read, padded)[:length]


def _tag(read: Read, endian: str) -> tuple[int, int, bool]:
    """Type and size of an element, and whether its data are inside the tag."""
    word = struct.unpack(f"{endian}I", _exactly(read, 4))[0]
    if word >> 16:
        return word & 0xFFFF, word >> 16, True
    return word, struct.unpack(f"{endian}I", _exactly(read, 4))[0], False


def _exactly(read: Read, size: int) -> bytes:
    parts, missing = [], size
    while missing:
        if not (block := read(missing)):
            raise EOFError("it ends within a matrix")
        parts.append(block)
        missing -= len(block)
    return b"".join(parts)


def _inflated(read: Read, length: int) -> Read:
    """Reads what `length` compressed bytes unpack to, at most as much as is asked for."""
    unpacker, left = zlib.decompressobj(), length

    def inflate(size: int) -> bytes:
        nonlocal left
        while not unpacker.eof:
            feed = unpacker.unconsumed_tail
            if not feed and left:
                feed = read(min(left, 2**16))
                left -= len(feed)
            if block := unpacker.decompress(feed, size):
                return block
            if not feed:
                break
        return b""

    return inflate
