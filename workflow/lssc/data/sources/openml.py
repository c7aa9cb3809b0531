"""OpenML, through scikit-learn: for machines with the internet."""

from __future__ import annotations

import zlib
from http.client import HTTPException
from pathlib import Path
from typing import Annotated

import numpy as np

from lssc.data.idx import idx_bytes
from lssc.data.images import IMAGES, LABELS, PARTS
from lssc.errors import InputError
from lssc.parts.params import AtLeast
from lssc.parts.registry import component

SIDE = 28
# What scikit-learn ends with on an answer that is cut short, altered or about something else.
DAMAGE = (ArithmeticError, AttributeError, EOFError, LookupError, RecursionError, TypeError, ValueError, zlib.error)


@component("source", "openml")
def fetch_openml(into: Path, *, id: Annotated[int, AtLeast(1)], n_train: Annotated[int, AtLeast(1)] = 60_000) -> None:
    """Download a table of 784 pixels and a class, and write it as the four files: the first rows for training."""
    from sklearn import datasets

    try:
        table = datasets.fetch_openml(data_id=id, as_frame=False, parser="pandas", data_home=str(into / "cache"))
        pixels = table.data.astype(np.uint8).reshape(-1, SIDE, SIDE)
        labels = table.target.astype(np.uint8)
    except (OSError, HTTPException) as error:
        raise InputError(f"OpenML cannot be reached ({error})") from None
    except DAMAGE as error:
        raise InputError(f"OpenML's table {id} cannot be used ({str(error).strip() or type(error).__name__})") from None
    for part, rows in zip(PARTS, (slice(n_train), slice(n_train, None)), strict=True):
        (into / IMAGES.format(part)).write_bytes(idx_bytes(pixels[rows]))
        (into / LABELS.format(part)).write_bytes(idx_bytes(labels[rows]))
