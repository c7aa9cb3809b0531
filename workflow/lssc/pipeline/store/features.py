"""The features of an image collection, in one file or in shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lssc.pipeline.store.artifacts import Reader, Record
from lssc.types import IndexArray

# Feature files hold one record; trials are drawn from it.
ONLY = 0


def feature_record(features: np.ndarray, labels: np.ndarray, facts: dict) -> Record:
    """What a feature file holds: one row of features (any shape) and one class per image."""
    return Record({"features": features, "labels": labels}, facts)


class Features:
    """Files that together hold all rows of a collection, in order. Never more than one file's rows are in memory."""

    def __init__(self, files: Sequence[Reader]) -> None:
        self._files = files

    @property
    def content(self) -> list[str]:
        return [file.content(ONLY) for file in self._files]

    @property
    def labels(self) -> np.ndarray:
        return np.concatenate([file.array(ONLY, "labels") for file in self._files])

    def blocks(self) -> Iterator[np.ndarray]:
        """The features, file by file."""
        shape = None
        for file in self._files:
            block = file.array(ONLY, "features", rows=len(file.array(ONLY, "labels")))
            shape = shape or block.shape[1:]
            file.require(block.shape[1:] == shape, f"has features of the shape {block.shape[1:]}, others {shape}")
            yield block

    def rows(self, wanted: IndexArray) -> np.ndarray:
        """The features of these rows, in the order asked for."""
        order = np.argsort(wanted, kind="stable")
        ascending = wanted[order]
        parts, start = [], 0
        for block in self.blocks():
            inside = ascending[(ascending >= start) & (ascending < start + len(block))]
            parts.append(block[inside - start])
            start += len(block)
        gathered = np.concatenate(parts)
        restored = np.empty_like(gathered)
        restored[order] = gathered
        return restored
