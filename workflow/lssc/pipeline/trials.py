"""The frame of every stage: read the inputs, compute trial by trial, write the output whole."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import sys
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lssc import __version__
from lssc.blocks import LocalBlocks
from lssc.errors import DamagedArtifact, InputError, exit_with_message
from lssc.parts.inputs import MAX_MAGNITUDE, is_sound
from lssc.parts.registry import Component, find
from lssc.parts.results import require_result
from lssc.parts.seeding import rng_for
from lssc.pipeline.limits import LIMITS, cpu_limit, limit_reached, refusing
from lssc.pipeline.store.artifacts import Reader, Record, Writer, reading, writing
from lssc.pipeline.store.features import Features
from lssc.pipeline.study.blocks import Block, siblings
from lssc.pipeline.timing import timed, timed_blocks
from lssc.types import CodeBlocks, IndexArray, RowBlocks, Rows


@dataclass(frozen=True)
class Trial:
    """One trial of a stage: its recipe, its inputs by artifact name, its randomness."""

    number: int
    recipe: Mapping[str, Any]
    inputs: Mapping[str, Reader]
    features: Features
    threads: int = 1

    @property
    def n(self) -> int:
        return self.recipe["n"]

    @property
    def part(self) -> Component:
        return find(self.recipe["part"]["kind"], self.recipe["part"]["name"])

    def run_part(self, *args: Any, m: int = 0, **supplied: Any) -> tuple[Any, dict[str, float]]:
        """Run the trial's part with its parameters: its result, checked, and the time and memory it took."""
        n_clusters = self.recipe["n_clusters"]
        supplied = {"n_clusters": n_clusters, "threads": self.threads, **supplied}
        with refusing(not LIMITS.keys().isdisjoint(self.recipe)), cpu_limit(self.seconds_left):
            result, spent = timed(self.part, *args, **supplied, **self.recipe["part"]["params"])
        require_result(self.part, result, n=self.n, m=m, n_clusters=n_clusters)
        return result, spent

    @property
    def seconds_left(self) -> float | None:
        """CPU seconds that the part may take: the time limit of the method less what earlier steps took."""
        limit = self.recipe.get("time_limit")
        return None if limit is None else limit - self.seconds_before

    @property
    def seconds_before(self) -> float:
        """CPU seconds of all earlier steps; they are noted in their files where there is a time limit."""
        return max((self.facts(name).get("cpu_seconds_so_far", 0.0) for name in self.inputs), default=0.0)

    @property
    def stopped(self) -> str | None:
        """What stopped an earlier step, such as `200 CPU s`; None if none was stopped."""
        return next((limit for name in self.inputs if (limit := self.facts(name).get("stopped"))), None)

    def array(self, name: str, array: str, **expected: int) -> np.ndarray:
        """One array of an input; `Reader.array` checks what is expected of it."""
        return self.inputs[name].array(self.number, array, **expected)

    def rows(self, name: str, array: str) -> Rows:
        """One row of an input's array per point; a large array stays in its file if the part works by rows."""
        source = self.inputs[name]
        get = source.rows if self.part.by_rows else source.array
        return get(self.number, array, rows=self.n)

    def codes(self, embedder: Component) -> Any:
        """The codes of all points; large ones stay in their file if the embedder works by rows."""
        source = self.inputs["codes"]
        stored = (source.codes if embedder.by_rows else source.csr)(self.number, "codes")
        source.require(stored.shape[0] == self.n, f"has {stored.shape[0]} rows of codes, not {self.n}")
        return stored if hasattr(stored, "tocsr") else LocalBlocks(stored)

    def landmark_indices(self) -> IndexArray | None:
        """The points that the columns of the codes stand for; None if landmarks are no points."""
        known = self.inputs["codes"].has(self.number, "landmark_indices")
        return self.array("codes", "landmark_indices") if known else None

    def facts(self, name: str) -> dict[str, Any]:
        return self.inputs[name].facts(self.number)

    def rng(self, *key: str | int) -> np.random.Generator:
        """Depends on the trial and the key alone: not on other steps, the block or the number of cores."""
        recipe = self.recipe
        return rng_for(recipe["seed"], recipe["stream"], recipe["n"], self.number, *key)


Compute = Callable[[Trial], Record]


def timed_rows(array: Any, spent: dict[str, float]) -> Any:
    """A result of the part; if it is made while it is written, the time for that is added to `spent`."""
    in_blocks = isinstance(array, RowBlocks | CodeBlocks)
    return replace(array, blocks=timed_blocks(array.blocks, spent)) if in_blocks else array


def run_stage(compute: Compute, *, reuse: bool = True) -> None:
    """The command line of a stage: input artifacts, recipe, fingerprint of the numerics, output.

    Each input is known by its file's name: `codes` is the artifact `codes.h5`.
    """
    parser = stage_parser()
    parser.add_argument("--inputs", type=Path, nargs="*", default=[], help="artifacts, known by their file names")
    parser.add_argument("--features", type=Path, nargs="*", default=[], help="feature files of an image collection")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    make = partial(
        make_artifact,
        compute,
        inputs={path.stem: path for path in args.inputs},
        features=args.features,
        out=args.out,
        recipe=args.recipe,
        threads=args.threads,
        code=args.code,
        reuse=reuse,
    )
    with exit_with_message(args.out):
        if not args.recipe.keys() & set(LIMITS):
            make()
            return
        if key := limit_reached(make, args.out, args.recipe.get("memory_limit")):
            reason = f"{args.recipe[key]:,} {LIMITS[key]}" if key in LIMITS else key
            write_stopped(args.out, args.recipe, args.code, reason)


def write_stopped(out: Path, recipe: Mapping[str, Any], code: str, reason: str) -> None:
    """The artifact of a block in which a trial was stopped, by `200 CPU s` or `refused`: none of its trials has arrays.

    Their facts have no key, so that no other block takes them over.
    """
    with writing(out, recipe, code) as writer:
        for number in Block.parse(recipe["block"]).trials:
            writer.add(number, Record({}, {"recipe": recipe, "trial": number, "stopped": reason}))
    print(f"stopped: {reason}", file=sys.stderr)


def stage_parser() -> argparse.ArgumentParser:
    """The arguments of every stage that makes an artifact."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--recipe", type=json.loads, required=True, help="JSON, as Snakemake prints it")
    parser.add_argument("--code", default="", help="fingerprint of the numerics; results of others are not reused")
    parser.add_argument("--out", type=Path, required=True)
    return parser


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
    """Compute every trial of a block, or copy it from another block that already holds it."""
    block, job = Block.parse(recipe["block"]), recipe
    recipe = {**{k: v for k, v in recipe.items() if k != "block"}, "stream": block.stream}
    if "part" in recipe:
        find(recipe["part"]["kind"], recipe["part"]["name"]).warm_up()
    with contextlib.ExitStack() as stack:
        readers = {name: stack.enter_context(reading(path)) for name, path in inputs.items()}
        shared = Features([stack.enter_context(reading(path)) for path in features])
        others = _open_siblings(out, stack) if reuse else []
        writer = stack.enter_context(writing(out, job, code))
        for number in block.trials:
            trial = Trial(number, recipe, readers, shared, threads)
            facts = _add_trial(writer, compute, trial, _key(trial, code), others)
            print(f"trial {number}" + (f": {facts['seconds']:.3f} s" if "seconds" in facts else ""), file=sys.stderr)


def _add_trial(writer: Writer, compute: Compute, trial: Trial, key: str, others: list[Reader]) -> Mapping[str, Any]:
    """Copy a trial from another block, or compute it; the facts about it."""
    if source := _holder(others, trial.number, key):
        writer.copy(trial.number, source)
        return source.facts(trial.number)
    part = trial.part.name if "part" in trial.recipe else "the stage"
    try:
        record = Record({}, {"stopped": trial.stopped}) if "part" in trial.recipe and trial.stopped else compute(trial)
    except np.linalg.LinAlgError as error:
        raise InputError(f"{part} cannot work with its input and parameters in trial {trial.number}: {error}") from None
    record = Record({name: _as_stored(array) for name, array in record.arrays.items()}, record.facts)
    for name, array in record.arrays.items():
        if isinstance(array, np.ndarray) and not is_sound(array):
            raise InputError(f"{part} returned {name} not finite, or beyond {MAX_MAGNITUDE:g}, in trial {trial.number}")
    made_by = {"library": __version__, "numpy": np.__version__, "threads": os.environ.get("OMP_NUM_THREADS")}
    # A view: making an array in blocks takes time while it is written, and the stage adds that to its facts.
    made_by |= {"recipe": trial.recipe, "trial": trial.number, "key": key}
    if "time_limit" in trial.recipe:
        made_by["cpu_seconds_so_far"] = trial.seconds_before + record.facts.get("cpu_seconds", 0.0)
    facts = ChainMap(made_by, record.facts)
    writer.add(trial.number, Record(record.arrays, facts))
    return facts


def _as_stored(array: Any) -> Any:
    """Artifacts hold 64-bit numbers, whatever a part returns."""
    wide = {"f": np.float64, "i": np.int64, "u": np.int64}
    return array.astype(wide[array.dtype.kind], copy=False) if isinstance(array, np.ndarray) else array


def _open_siblings(out: Path, stack: contextlib.ExitStack) -> list[Reader]:
    """The same artifact in other blocks; damaged ones are skipped."""
    opened = []
    for path in siblings(out):
        with contextlib.suppress(DamagedArtifact, FileNotFoundError):
            opened.append(stack.enter_context(reading(path)))
    return opened


def _holder(others: list[Reader], number: int, key: str) -> Reader | None:
    """The artifact that already holds this trial, if any."""
    return next((file for file in others if number in file.trials and file.facts(number).get("key") == key), None)


def _key(trial: Trial, code: str) -> str:
    """Equal keys mean equal results: same recipe, numerics, trial and content of the inputs."""
    contents = {name: reader.content(trial.number) for name, reader in trial.inputs.items()}
    text = json.dumps([trial.recipe, trial.number, code, contents, trial.features.content], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
