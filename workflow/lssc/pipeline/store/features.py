"""Reads the features of an image collection, kept in one file or in shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lssc.pipeline.store.artifacts import Reader, Record
from lssc.types import IndexArray

# The trial number of a feature file's one record; datasets draw their trials from it.
ONLY = 0


def feature_record(features: np.ndarray, labels: np.ndarray, facts: dict) -> Record:
    """The record of a feature file: one row of features (of any shape) and one class per image."""
    return Record({"features": features, "labels": labels}, facts)


class Features:
    """Files that together hold all rows of a collection, in order. Reads one file at a time."""

    def __init__(self, files: Sequence[Reader]) -> None:
        self._files = files

    @property
    def content(self) -> list[str]:
        return [file.content(ONLY) for file in self._files]

    @property
    def labels(self) -> np.ndarray:
        return np.concatenate([file.array(ONLY, "labels") for file in self._files])

    @property
    def variances(self) -> np.ndarray:
        """Variances of the principal components that a file of reduced features holds."""
        return np.asarray(self._files[0].facts(ONLY)["variances"])

    def blocks(self) -> Iterator[np.ndarray]:
        """The features, file by file."""
        return (file.array(ONLY, "features") for file in self._files)

    def rows(self, indices: IndexArray) -> np.ndarray:
        """The features of these rows, in the order of the indices."""
        order = np.argsort(indices, kind="stable")
        ascending = indices[order]
        parts, start = [], 0
        for block in self.blocks():
            inside = ascending[(ascending >= start) & (ascending < start + len(block))]
            parts.append(block[inside - start])
            start += len(block)
        gathered = np.concatenate(parts)
        restored = np.empty_like(gathered)
        restored[order] = gathered
        return restored
