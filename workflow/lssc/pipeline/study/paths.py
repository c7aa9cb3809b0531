"""Every path pattern of the pipeline, in one place.

One folder per stage, so that methods share the stages they have in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lssc.pipeline.study.blocks import PATTERN

# In the results folder: the config of the last run, written when a run starts.
LAST_CONFIG = "config.json"
ID = r"[a-z][a-z0-9_]*"
PART = ID + r"(?:\.[a-z0-9_=.+-]+)?"
WILDCARDS = {
    "dataset": ID,
    "experiment": ID,
    "n": r"\d+",
    "m": r"\d+",
    "block": PATTERN,
    "selector": PART,
    "coder": PART,
    "embedder": PART,
    "clusterer": PART,
    "images": ID,
    "features": PART,
    "shard": r"\d+-\d+",
    "reduction": PART,
    "size": r"\d+",
}


@dataclass(frozen=True)
class Paths:
    """Patterns under a results folder and a data folder, with wildcards in braces."""

    root: str = "results"
    store: str = "data"

    def images(self, name: str) -> str:
        return f"{self.store}/{{images}}/{name}"

    @property
    def source(self) -> str:
        return self.images("source.json")

    @property
    def shard(self) -> str:
        return self.images("{features}/{shard}.h5")

    @property
    def reduced(self) -> str:
        return self.images("{features}/{reduction}-of-{size}.h5")

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
        return self.embedding.replace("embedding.h5", "{clusterer}/labels.h5")

    @property
    def scores(self) -> str:
        return self.labels.replace("labels.h5", "scores.h5")

    @property
    def claims(self) -> str:
        """What became of the paper's claims."""
        return f"{self.root}/claims.json"

    @property
    def findings(self) -> str:
        """The numbers behind them."""
        return f"{self.root}/claims.csv"

    @property
    def report(self) -> str:
        return f"{self.root}/report.html"

    def experiment(self, name: str) -> str:
        return f"{self.root}/experiments/{{experiment}}/{name}"


def log_of(pattern: str) -> str:
    """Where a stage that makes this file writes its log."""
    return str(Path(pattern).with_suffix(".log"))
