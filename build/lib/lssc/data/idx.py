"""The idx format of MNIST: big-endian sizes, then unsigned bytes; plain or gzipped."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lssc.errors import InputError

Bytes = NDArray[np.uint8]
GZIP = b"\x1f\x8b"
UNSIGNED_BYTES = 0x08


def read_bytes(path: Path) -> bytes:
    """The uncompressed content of a plain or gzipped file."""
    with path.open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            return file.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: the gzip file is cut short or damaged ({error})") from None


def parse_idx(raw: bytes, name: str, *, n_dims: int) -> Bytes:
    """The array in an idx file; InputError, with the file's name, unless it is complete and has n_dims dimensions."""
    if len(raw) < 4 or raw[:3] != bytes([0, 0, UNSIGNED_BYTES]):
        raise InputError(
            f"{name}: not an idx file of bytes: it starts with {raw[:4].hex(' ') or 'nothing'}, not 00 00 08"
        )
    if raw[3] != n_dims:
        raise InputError(f"{name}: holds an array of {raw[3]} dimensions; {n_dims} are needed")
    head = 4 + 4 * n_dims
    if len(raw) < head:
        raise InputError(f"{name}: {len(raw)} bytes, cut short within the sizes")
    shape = tuple(int.from_bytes(raw[i : i + 4], "big") for i in range(4, head, 4))
    expected = head + math.prod(shape)
    if len(raw) != expected:
        what = "cut short" if len(raw) < expected else "too long"
        raise InputError(f"{name}: {len(raw)} bytes, {what}: sizes {shape} need {expected}")
    return np.frombuffer(raw, dtype=np.uint8, offset=head).reshape(shape)


def idx_bytes(array: Bytes) -> bytes:
    """The array as an idx file."""
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, UNSIGNED_BYTES, array.ndim]) + sizes + np.ascontiguousarray(array, dtype=np.uint8).tobytes()
