"""Images as text inside a page, so that the page is one file."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from pathlib import Path

from lssc.pipeline.store.files import read_bytes

# Pixels per inch of a figure file and of a page.
FILE_DPI, PAGE_DPI = 200, 96
# Pixels that a side of a WebP image can have.
WEBP_SIDE = 16_383


@dataclass(frozen=True)
class Inlined:
    """An image as a `data:` URI, with the size in pixels at which its letters are as large as on paper."""

    uri: str
    width: int
    height: int


def inlined(path: Path) -> Inlined:
    """A PNG as lossless WebP in 128 colours: a quarter of its size."""
    from PIL import Image

    with Image.open(io.BytesIO(read_bytes(path))) as file:
        image = file.convert("RGB")
    width, height = (max(1, side * PAGE_DPI // FILE_DPI) for side in image.size)
    image.thumbnail((WEBP_SIDE, WEBP_SIDE))
    content = io.BytesIO()
    image.quantize(128, dither=Image.Dither.NONE).convert("RGB").save(content, "WEBP", lossless=True, method=2)
    return Inlined(f"data:image/webp;base64,{base64.b64encode(content.getvalue()).decode()}", width, height)
