"""What every stage does around its one function: read the inputs, work trial by trial, write the output whole."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lssc import __version__
from lssc.errors import DamagedArtifact, InputError, telling
from lssc.parts.registry import Component, find
from lssc.pipeline.store.artifacts import LARGEST, Reader, Record, Writer, is_number, is_sound, reading, writing
from lssc.pipeline.store.features import Features
from lssc.pipeline.study.blocks import Block, siblings
from lssc.pipeline.study.seeding import rng_for
from lssc.types import Rows


@dataclass(frozen=True)
class Trial:
    """One trial of a stage: its recipe, its inputs, its randomness."""

    number: int
    recipe: Mapping[str, Any]
    inputs: Mapping[str, Reader]
    features: Features
    threads: int = 1

    def array(self, name: str, array: str, **expected: int) -> np.ndarray:
        """One array of an input, without reading the others; what is expected of it is in `Reader.array`."""
        return self.inputs[name].array(self.number, array, **expected)

    def rows(self, name: str, array: str) -> Rows:
        """One row of an input's array per point, as the part can take it: large ones stay in their file if by rows."""
        source = self.inputs[name]
        get = source.rows if self.part.by_rows else source.array
        return get(self.number, array, rows=self.n)

    def csr(self, name: str, matrix: str) -> Any:
        """A sparse matrix of an input, one row per point."""
        found = self.inputs[name].csr(self.number, matrix)
        self.inputs[name].require(found.shape[0] == self.n, f"has {found.shape[0]} rows of {matrix}, not {self.n}")
        return found

    def facts(self, name: str) -> dict[str, Any]:
        return self.inputs[name].facts(self.number)

    @property
    def n(self) -> int:
        return self.recipe["n"]

    def rng(self, *key: str | int) -> np.random.Generator:
        """Depends on the trial and the key; never on the method's other stages, the block or the number of cores."""
        recipe = self.recipe
        return rng_for(recipe["seed"], recipe["stream"], recipe["n"], self.number, *key)

    @property
    def part(self) -> Component:
        return find(self.recipe["part"]["kind"], self.recipe["part"]["name"])

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.recipe["part"]["params"])


Compute = Callable[[Trial], Record]


def run_stage(
    compute: Compute,
    *,
    inputs: tuple[str, ...] = (),
    features: bool = False,
    reuse: bool = True,
    warm_up: Callable[[], None] = lambda: None,
) -> None:
    """The command line of a stage: one option per input, the recipe as JSON, the code's fingerprint, the output.

    With `features` it also takes the feature files of an image collection, which all trials share.
    """
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    for name in (*inputs, "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    if features:
        parser.add_argument("--features", type=Path, nargs="*", default=[])
    parser.add_argument("--recipe", type=json.loads, required=True, help="JSON, as Snakemake prints it")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--code", default="", help="fingerprint of the code; results of other code are not reused")
    args = parser.parse_args()
    warm_up()
    with telling(args.out):
        make_artifact(
            compute,
            inputs={name: getattr(args, name) for name in inputs},
            features=args.features if features else [],
            out=args.out,
            recipe=args.recipe,
            threads=args.threads,
            code=args.code,
            reuse=reuse,
        )


def make_artifact(
    compute: Compute,
    *,
    inputs: Mapping[str, Path],
    features: Sequence[Path] = (),
    out: Path,
    recipe: Mapping[str, Any],
    threads: int = 1,
    code: str = "",
    reuse: bool = True,
) -> None:
    """Compute every trial of a block, or take it over from another block that already holds it."""
    block, asked = Block.parse(recipe["block"]), recipe
    recipe = {**{k: v for k, v in recipe.items() if k != "block"}, "stream": block.stream}
    if "part" in recipe:
        find(recipe["part"]["kind"], recipe["part"]["name"]).warm_up()
    with contextlib.ExitStack() as stack:
        readers = {name: stack.enter_context(reading(path)) for name, path in inputs.items()}
        shared = Features([stack.enter_context(reading(path)) for path in features])
        old = _open_siblings(out, stack) if reuse else []
        writer = stack.enter_context(writing(out, asked, code))
        for number in block.trials:
            trial = Trial(number, recipe, readers, shared, threads)
            key = _key(trial, code)
            if source := _holder(old, number, key):
                writer.copy(number, source)
                facts = source.facts(number)
            else:
                facts = _add_computed(writer, compute, trial, key)
            seconds = facts.get("seconds")
            print(f"trial {number}" + (f": {seconds:.3f} s" if is_number(seconds) else ""), file=sys.stderr)


def _add_computed(writer: Writer, compute: Compute, trial: Trial, key: str) -> Mapping[str, Any]:
    what = trial.part.name if "part" in trial.recipe else "the stage"
    try:
        record = compute(trial)
    except np.linalg.LinAlgError as error:
        raise InputError(f"{what} cannot work with its input and parameters in trial {trial.number}: {error}") from None
    for name, array in record.arrays.items():
        if isinstance(array, np.ndarray) and not is_sound(array):
            raise InputError(f"{what} gave {name} not finite, or beyond {LARGEST:g}, in trial {trial.number}")
    made_by = {"library": __version__, "numpy": np.__version__, "threads": os.environ.get("OMP_NUM_THREADS")}
    # A view, as an array made in blocks costs time while it is written, and the stage adds that to its facts.
    facts = ChainMap({**made_by, "recipe": trial.recipe, "trial": trial.number, "key": key}, record.facts)
    writer.add(trial.number, Record(record.arrays, facts))
    return facts


def _open_siblings(out: Path, stack: contextlib.ExitStack) -> list[Reader]:
    """Other blocks of the same artifact; a damaged one has nothing to offer, and is not needed either."""
    found = []
    for path in siblings(out):
        with contextlib.suppress(DamagedArtifact, FileNotFoundError):
            found.append(stack.enter_context(reading(path)))
    return found


def _holder(old: list[Reader], number: int, key: str) -> Reader | None:
    """The file that already holds this trial, if any does."""
    return next((file for file in old if number in file.trials and file.facts(number).get("key") == key), None)


def _key(trial: Trial, code: str) -> str:
    """Equal keys mean equal results: same recipe, code, trial and content of the inputs."""
    contents = {name: reader.content(trial.number) for name, reader in trial.inputs.items()}
    text = json.dumps([trial.recipe, trial.number, code, contents, trial.features.content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
