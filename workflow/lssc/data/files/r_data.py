"""R's .rda files, as far as a data frame of numbers and factors needs: binary serialization, versions 2 and 3.

Format ("R Internals", section 1.8): a head, then items. An item starts with four bytes of flags: its type, whether
attributes and a tag follow, and for references a number. Numbers are big-endian. Nothing in a file is executed.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lssc.errors import InputError

# Types of items.
SYMBOL, PAIRLIST, CHARS, LOGICAL, INTEGER, REAL, STRINGS, VECTOR = 1, 2, 9, 10, 13, 14, 16, 19
REFERENCE, NIL = 255, 254
NUMBERS = {LOGICAL: ">i4", INTEGER: ">i4", REAL: ">f8"}
HAS_ATTRIBUTES, HAS_TAG = 0x200, 0x400
# R stores a missing whole number as the smallest one.
MISSING_INTEGER = -(2**31)
COMPRESSIONS = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}

# Errors of reading a truncated or altered file.
DAMAGE = (
    *(AttributeError, EOFError, LookupError, MemoryError, OSError, RecursionError, TypeError, ValueError),
    *(lzma.LZMAError, struct.error, zlib.error),
)


@dataclass(frozen=True)
class Factor:
    """Class numbers from 1, and the name of each class."""

    codes: np.ndarray
    levels: tuple[str, ...]


@dataclass(frozen=True)
class _Item:
    value: Any
    attributes: dict[str, Any]


def read_data_frame(path: Path) -> dict[str, np.ndarray | Factor]:
    """Name -> column of the only data frame in an .rda file."""
    try:
        raw = path.read_bytes()
        unpack = next((unpack for magic, unpack in COMPRESSIONS.items() if raw.startswith(magic)), bytes)
        objects = _Reader(unpack(raw)).objects()
        frames = [item for item in objects.values() if isinstance(item, _Item) and "names" in item.attributes]
        (frame,) = frames
        return dict(zip(frame.attributes["names"], map(_column, frame.value), strict=True))
    except DAMAGE as error:
        raise InputError(f"{path}: no .rda file of one data frame, or cut short or damaged ({error})") from None


def _column(item: Any) -> np.ndarray | Factor:
    """A column of numbers, or a factor; missing numbers become NaN."""
    attributes = item.attributes if isinstance(item, _Item) else {}
    values = np.asarray(item.value if isinstance(item, _Item) else item)
    missing = (values == MISSING_INTEGER) if values.dtype.kind == "i" else np.zeros(len(values), bool)
    if "levels" in attributes:
        if missing.any() or values.min() < 1 or values.max() > len(attributes["levels"]):
            raise ValueError("a factor has values without a level")
        return Factor(values.astype(np.int64), tuple(attributes["levels"]))
    return np.where(missing, np.nan, values) if missing.any() else values


class _Reader:
    """Reads items from the start to the end of the unpacked bytes."""

    def __init__(self, raw: bytes) -> None:
        self._raw, self._at = raw, 0
        self._symbols: list[str] = []

    def objects(self) -> dict[str, Any]:
        """The saved objects by name."""
        head = self._take(7)
        if head not in (b"RDX2\nX\n", b"RDX3\nX\n"):
            raise ValueError(f"it starts with {head!r}, not RDX2 or RDX3 in binary form")
        version = self._int()
        self._take(8)
        if version == 3:
            self._take(self._int())
        return self._item()

    def _take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._raw):
            raise EOFError(f"{count} bytes needed at byte {self._at} of {len(self._raw)}")
        self._at += count
        return self._raw[self._at - count : self._at]

    def _int(self) -> int:
        return struct.unpack(">i", self._take(4))[0]

    def _item(self, flags: int | None = None) -> Any:
        flags = self._int() if flags is None else flags
        kind = flags & 0xFF
        if kind == NIL:
            return None
        if kind == REFERENCE:
            return self._symbols[(flags >> 8 or self._int()) - 1]
        if kind == SYMBOL:
            self._symbols.append(self._item())
            return self._symbols[-1]
        if kind == PAIRLIST:
            return self._pairs(flags)
        value = self._value(kind)
        return _Item(value, self._item() or {}) if flags & HAS_ATTRIBUTES and kind != CHARS else value

    def _value(self, kind: int) -> Any:
        length = self._int()
        if kind == CHARS:
            return self._take(max(length, 0)).decode("utf-8", "replace")
        if kind in NUMBERS:
            dtype = np.dtype(NUMBERS[kind])
            return np.frombuffer(self._take(length * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))
        if kind in (STRINGS, VECTOR):
            if length > len(self._raw):
                raise EOFError(f"a list of {length} items")
            return [self._item() for _ in range(length)]
        raise ValueError(f"it holds an object of type {kind}, which no data frame of numbers needs")

    def _pairs(self, flags: int) -> dict[str, Any]:
        """A list of names and values, which R chains; attributes of the chain itself are skipped."""
        pairs: dict[str, Any] = {}
        while flags & 0xFF == PAIRLIST:
            if flags & HAS_ATTRIBUTES:
                self._item()
            name = self._item() if flags & HAS_TAG else str(len(pairs))
            pairs[name] = self._item()
            flags = self._int()
        if flags & 0xFF != NIL:
            raise ValueError("a list of names and values does not end")
        return pairs
