"""Blocks of trials: what one job works on and one artifact holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PATTERN = r"(?:[a-z_]+)(?:\d+)-(?:\d+)"


@dataclass(frozen=True)
class Block:
    """Trials first..last of a stream: `t00-04` holds trials 0 to 4 of stream `t`."""

    stream: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.stream}{self.first:02d}-{self.last:02d}"

    @property
    def trials(self) -> range:
        return range(self.first, self.last + 1)

    def overlaps(self, other: Block) -> bool:
        return self.stream == other.stream and self.first <= other.last and other.first <= self.last

    @classmethod
    def parse(cls, text: str) -> Block:
        parts = re.fullmatch(r"([a-z_]+)(\d+)-(\d+)", text)
        if parts is None:
            raise ValueError(f"{text!r} is not a block of trials; it should look like t00-04")
        return cls(parts[1], int(parts[2]), int(parts[3]))


def blocks(stream: str, n_trials: int, size: int) -> list[Block]:
    """Trials 0..n_trials-1 in blocks of `size`, the last one shorter if need be."""
    return [Block(stream, first, min(first + size, n_trials) - 1) for first in range(0, n_trials, size)]


def siblings(path: Path) -> list[Path]:
    """The same file in other blocks that share trials with its own: left by another number of trials or block size."""
    own = next((folder for folder in path.parents if re.fullmatch(PATTERN, folder.name)), None)
    if own is None or not own.parent.is_dir():
        return []
    block = Block.parse(own.name)
    names = (folder.name for folder in sorted(own.parent.iterdir()) if re.fullmatch(PATTERN, folder.name))
    others = (name for name in names if name != own.name and block.overlaps(Block.parse(name)))
    return [file for name in others if (file := own.parent / name / path.relative_to(own)).is_file()]
