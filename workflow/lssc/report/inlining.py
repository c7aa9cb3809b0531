"""Images as text that a page can hold, so that the page is one file."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lssc.errors import DamagedArtifact

# Figures have so many pixels per inch, and a page has so many.
DRAWN, SHOWN = 200, 96
LARGEST = 16_383


@dataclass(frozen=True)
class Inlined:
    """An image as a `data:` URI, with the size at which letters in it are as large as on paper."""

    uri: str
    width: int
    height: int


def inlined(path: Path) -> Inlined:
    """As WebP in 128 colours, as suits plots, or with hardly visible loss, as suits pictures: what is smaller."""
    from PIL import Image

    image = _read(path)
    # No WebP is larger.
    shown = [max(1, side * SHOWN // DRAWN) for side in image.size]
    image.thumbnail((LARGEST, LARGEST))
    few = image.quantize(128, dither=Image.Dither.NONE).convert("RGB")
    content = min(_webp(few, lossless=True), _webp(image, quality=80), key=len)
    uri = f"data:image/webp;base64,{base64.b64encode(content).decode()}"
    return Inlined(uri, *shown)


def _read(path: Path) -> Any:
    """The pixels of a PNG; DamagedArtifact if it is none."""
    from PIL import Image

    damage = (EOFError, OSError, SyntaxError, ValueError, struct.error, zlib.error, Image.DecompressionBombError)
    try:
        with Image.open(path, formats=("PNG",)) as file:
            return file.convert("RGB")
    except damage as error:
        # What the system answers is no damage.
        if isinstance(error, OSError) and error.errno:
            raise
        raise DamagedArtifact(path, f"is no picture that can be shown ({error})") from None


def _webp(image: Any, **how: Any) -> bytes:
    held = io.BytesIO()
    image.save(held, format="WEBP", method=2, **how)
    return held.getvalue()
