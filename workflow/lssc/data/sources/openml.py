"""Image files from OpenML, by scikit-learn."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Annotated

import numpy as np

from lssc.data.idx import idx_bytes
from lssc.data.images import IMAGES, LABELS, SPLITS
from lssc.errors import InputError
from lssc.parts.params import AtLeast
from lssc.parts.registry import component

# Pixels per side of an image.
SIDE = 28
# Errors of scikit-learn on a truncated or altered answer, or a table of another kind.
TABLE_ERRORS = (AttributeError, EOFError, LookupError, TypeError, ValueError, zlib.error)


@component("source", "openml")
def fetch_openml(
    into: Path, files: Sequence[str], *, id: Annotated[int, AtLeast(1)], n_train: Annotated[int, AtLeast(1)] = 60_000
) -> None:
    """Download a table of 784 pixels and a class, and write it as four idx files; the first n_train rows train."""
    from sklearn import datasets

    try:
        table = datasets.fetch_openml(data_id=id, as_frame=False, parser="pandas", data_home=str(into / "cache"))
        pixels = table.data.astype(np.uint8).reshape(-1, SIDE, SIDE)
        labels = table.target.astype(np.uint8)
    except (OSError, HTTPException) as error:
        raise InputError(f"OpenML cannot be reached ({error})") from None
    except TABLE_ERRORS as error:
        raise InputError(f"OpenML's table {id} cannot be used ({str(error).strip() or type(error).__name__})") from None
    for split, rows in zip(SPLITS, (slice(n_train), slice(n_train, None)), strict=True):
        (into / IMAGES.format(split)).write_bytes(idx_bytes(pixels[rows]))
        (into / LABELS.format(split)).write_bytes(idx_bytes(labels[rows]))
