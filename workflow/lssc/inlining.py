"""Images as text that a page can hold, so that the page is one file."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# From the best to the smallest: share of the width, quality where pixels may change, colours where they may not.
STEPS = ((1.0, 80, 256), (0.75, 65, 64), (0.6, 50, 32), (0.5, 40, 32), (0.42, 35, 32), (0.36, 30, 16))
# All images of a page together: even a page of fifty figures stays below a megabyte, to be mailed or kept in git.
BUDGET = 740_000
# Figures have so many pixels per inch, and a page has so many.
DRAWN, SHOWN = 200, 96


@dataclass(frozen=True)
class Inlined:
    """An image as a `data:` URI, with the size at which letters in it are as large as on paper."""

    uri: str
    width: int
    height: int


def inlined(paths: Iterable[Path]) -> dict[Path, Inlined]:
    """The images as good as the budget allows: while they are too much, one by one gives way, largest first."""
    steps = dict.fromkeys(paths, 0)
    images = {path: _inlined(path, *STEPS[0]) for path in steps}
    while sum(len(image.uri) for image in images.values()) > BUDGET and min(steps.values()) + 1 < len(STEPS):
        path = min(steps, key=lambda path: (steps[path], -len(images[path].uri)))
        steps[path] += 1
        images[path] = _inlined(path, *STEPS[steps[path]])
    return images


def _inlined(path: Path, scale: float, quality: int, n_colours: int) -> Inlined:
    """As WebP in one of two ways, whichever is smaller: in a few colours at full width, or smaller with some loss."""
    from PIL import Image

    with Image.open(path) as file:
        image = file.convert("RGB")
    few = image.quantize(n_colours, dither=Image.Dither.NONE).convert("RGB")
    small = image.resize([max(1, round(scale * side)) for side in image.size], Image.Resampling.LANCZOS)
    content = min(_webp(few, lossless=True), _webp(small, quality=quality), key=len)
    uri = f"data:image/webp;base64,{base64.b64encode(content).decode()}"
    return Inlined(uri, *(max(1, side * SHOWN // DRAWN) for side in image.size))


def _webp(image: Any, **how: Any) -> bytes:
    held = io.BytesIO()
    image.save(held, format="WEBP", method=4, **how)
    return held.getvalue()
