"""Every path pattern of the pipeline. One folder level per step, so that methods share their common steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lssc.pipeline.study.blocks import PATTERN
from lssc.pipeline.study.steps import KINDS, route_to, step_of, steps_of_chain

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
    **dict.fromkeys(KINDS, PART),
    "chain": rf"{PART}(?:-m\d+)?(?:/{PART})*",
    "images": ID,
    "table": ID,
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

    def table(self, name: str) -> str:
        """The points of a table, or the file that says where they came from."""
        return f"{self.store}/{{table}}/{name}"

    @property
    def shard(self) -> str:
        return self.images("{features}/{shard}.h5")

    @property
    def reduced(self) -> str:
        return self.images("{features}/{reduction}-of-{size}.h5")

    @property
    def _trials(self) -> str:
        return f"{self.root}/{{dataset}}/n{{n}}/{{block}}"

    @property
    def data(self) -> str:
        return f"{self._trials}/data.h5"

    def artifact(self, name: str) -> str:
        """The pattern of `data` or of what a step makes."""
        if name == "data":
            return self.data
        levels = [step.folder for step in route_to(step_of(name))]
        return "/".join([self._trials, *levels, f"{name}.h5"])

    @property
    def scores(self) -> str:
        """`chain` stands for the folder levels of all steps of a method."""
        return f"{self._trials}/{{chain}}/scores.h5"

    def artifacts_of(self, wildcards: Mapping[str, str]) -> list[str]:
        """The artifacts of every step in `chain`, in order."""
        folders, files = wildcards["chain"].split("/"), []
        for depth, step in enumerate(steps_of_chain(wildcards["chain"]), start=1):
            files.append("/".join([self._trials.format(**wildcards), *folders[:depth], f"{step.makes}.h5"]))
        return files

    @property
    def claims(self) -> str:
        """Claims with their verdicts and findings."""
        return f"{self.root}/claims.json"

    @property
    def findings(self) -> str:
        """The findings alone, as a table."""
        return f"{self.root}/claims.csv"

    @property
    def report(self) -> str:
        return f"{self.root}/report.html"

    def experiment(self, name: str) -> str:
        return f"{self.root}/experiments/{{experiment}}/{name}"


def log_of(pattern: str) -> str:
    """The log of the job that makes this file."""
    return str(Path(pattern).with_suffix(".log"))
