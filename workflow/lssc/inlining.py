"""Images as text that a page can hold, so that the page is one file."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from pathlib import Path

# From the best to the smallest: pixels across, quality where pixels may change, colours where they may not.
STEPS = ((1600, 80, 256), (1200, 65, 64), (1000, 50, 32), (800, 40, 32), (640, 35, 32))
# All images of a page together, so that a page of forty figures can still be sent by mail or kept in git.
BUDGET = 900_000


def data_uris(paths: Iterable[Path]) -> dict[Path, str]:
    """A `data:` URI of every image: at the best step at which all fit the budget, or else at the last one."""
    paths = list(paths)
    for step in STEPS[:-1]:
        if (uris := _within_budget(paths, *step)) is not None:
            return uris
    return {path: _uri(_encoded(path, *STEPS[-1])) for path in paths}


def _within_budget(paths: Iterable[Path], *step: int) -> dict[Path, str] | None:
    """The images at one step; None as soon as they are too much."""
    uris, room = {}, BUDGET
    for path in paths:
        uris[path] = _uri(_encoded(path, *step))
        room -= len(uris[path])
        if room < 0:
            return None
    return uris


def _encoded(path: Path, width: int, quality: int, n_colours: int) -> bytes:
    """The image as WebP in one of two ways, whichever is smaller: plots keep each pixel, pictures their shades."""
    from PIL import Image

    with Image.open(path) as file:
        image = file.convert("RGB")
    few = image.quantize(n_colours, dither=Image.Dither.NONE).convert("RGB")
    exact = _webp(few, lossless=True)
    image.thumbnail((width, 4 * width), Image.Resampling.LANCZOS)
    return min(exact, _webp(image, quality=quality), key=len)


def _webp(image: object, **how: object) -> bytes:
    held = io.BytesIO()
    image.save(held, format="WEBP", method=4, **how)
    return held.getvalue()


def _uri(content: bytes) -> str:
    return f"data:image/webp;base64,{base64.b64encode(content).decode()}"
