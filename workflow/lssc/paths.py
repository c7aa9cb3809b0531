"""Every path pattern of the pipeline, in one place.

One folder per stage, so that methods share the stages they have in common.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ID = r"[a-z][a-z0-9_]*"
PART = ID + r"(?:\.[a-z0-9_=,.+-]+)?"
WILDCARDS = {
    "dataset": ID,
    "experiment": ID,
    "n": r"\d+",
    "m": r"\d+",
    "block": r"[a-z_]+\d+-\d+",
    "selector": PART,
    "coder": PART,
    "embedder": PART,
}


@dataclass(frozen=True)
class Paths:
    """Patterns under a results folder, with wildcards in braces."""

    root: str = "results"

    @property
    def data(self) -> str:
        return f"{self.root}/{{dataset}}/n{{n}}/{{block}}/data.h5"

    @property
    def landmarks(self) -> str:
        return self.data.replace("data.h5", "{selector}-m{m}/landmarks.h5")

    @property
    def codes(self) -> str:
        return self.landmarks.replace("landmarks.h5", "{coder}/codes.h5")

    @property
    def embedding(self) -> str:
        return self.codes.replace("codes.h5", "{embedder}/embedding.h5")

    @property
    def labels(self) -> str:
        return self.embedding.replace("embedding.h5", "labels.h5")

    @property
    def scores(self) -> str:
        return self.embedding.replace("embedding.h5", "scores.h5")

    def experiment(self, name: str) -> str:
        return f"{self.root}/experiments/{{experiment}}/{name}"


def log_of(pattern: str) -> str:
    """Where a stage that makes this file writes its log."""
    return str(Path(pattern).with_suffix(".log"))


@dataclass(frozen=True)
class Block:
    """Trials first..last of a stream: one artifact, one job. `t00-04` holds trials 0 to 4 of stream `t`."""

    stream: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.stream}{self.first:02d}-{self.last:02d}"

    @property
    def trials(self) -> range:
        return range(self.first, self.last + 1)

    @classmethod
    def parse(cls, text: str) -> Block:
        stream, first, last = re.fullmatch(r"([a-z_]+)(\d+)-(\d+)", text).groups()
        return cls(stream, int(first), int(last))


def blocks(stream: str, n_trials: int, size: int) -> list[Block]:
    """Trials 0..n_trials-1 in blocks of `size`, the last one shorter if need be."""
    return [Block(stream, first, min(first + size, n_trials) - 1) for first in range(0, n_trials, size)]


def siblings(path: Path) -> list[Path]:
    """The same file in other blocks of trials: what another number of trials or another block size left behind."""
    is_block = re.compile(WILDCARDS["block"]).fullmatch
    own = next((folder for folder in path.parents if is_block(folder.name)), None)
    if own is None:
        return []
    others = (folder for folder in sorted(own.parent.iterdir()) if is_block(folder.name) and folder != own)
    return [file for folder in others if (file := folder / path.relative_to(own)).is_file()]
