"""Images as text that a page can hold, so that the page is one file."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from pathlib import Path

# From the best to the smallest: pixels across, quality where pixels may change, colours where they may not.
STEPS = ((1600, 80, 256), (1200, 65, 64), (1000, 50, 32), (800, 40, 32), (640, 35, 32), (520, 30, 16))
# All images of a page together: even a page of fifty figures stays below a megabyte, to be mailed or kept in git.
BUDGET = 740_000


def data_uris(paths: Iterable[Path]) -> dict[Path, str]:
    """A `data:` URI of every image, as good as the budget allows: while they are too much, the largest gives way."""
    steps = dict.fromkeys(paths, 0)
    uris = {path: _uri(_encoded(path, *STEPS[0])) for path in steps}
    while sum(map(len, uris.values())) > BUDGET:
        able = [path for path, step in steps.items() if step + 1 < len(STEPS)]
        if not able:
            break
        largest = max(able, key=lambda path: len(uris[path]))
        steps[largest] += 1
        uris[largest] = _uri(_encoded(largest, *STEPS[steps[largest]]))
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
