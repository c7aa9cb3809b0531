"""Write every point as a sparse combination of the landmarks."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from lssc.parts.coding import code_rows
from lssc.pipeline.limits import LIMITS
from lssc.pipeline.store.artifacts import Record, csr_arrays
from lssc.pipeline.trials import Trial, run_stage, timed_rows
from lssc.types import Codes


def code_points(trial: Trial) -> Record:
    # The landmarks are rows of X, unless the selector gave points of their own.
    kind = "points" if trial.inputs["landmarks"].has(trial.number, "points") else "indices"
    X, landmarks = trial.rows("data", "X"), trial.array("landmarks", kind)
    # An embedder may need to know which points are landmarks.
    rows = {} if kind == "points" else {"landmark_indices": landmarks}
    streams = trial.part.per_point and len(landmarks) < trial.n and LIMITS.keys().isdisjoint(trial.recipe)
    if isinstance(X, np.ndarray) or not streams:
        codes, spent = trial.run_part(X, landmarks, m=len(landmarks), rng=trial.rng("codes", trial.part.name))
        return Record({**csr_arrays("codes", codes.matrix), **rows}, {**codes.info, **_uncoded(codes), **spent})
    # Points that do not fit in memory: the codes of a block are written before the next one is coded.
    facts: dict[str, Any] = {"seconds": 0.0, "cpu_seconds": 0.0, "n_uncoded": 0, "n_unsolved": 0, "converged": True}
    blocks = code_rows(X, landmarks, trial.part.name, trial.recipe["part"]["params"], threads=trial.threads)
    blocks = timed_rows(blocks, facts)
    return Record({"codes": replace(blocks, blocks=_counted(blocks.blocks, facts)), **rows}, facts)


def _counted(blocks: Iterator[Codes], facts: dict[str, Any]) -> Iterator[Codes]:
    """The blocks; what is known about each is added to the facts."""
    for codes in blocks:
        facts["n_uncoded"] += _uncoded(codes)["n_uncoded"]
        facts["n_unsolved"] += codes.info.get("n_unsolved", 0)
        facts["converged"] &= codes.info.get("converged", True)
        yield codes


def _uncoded(codes: Codes) -> dict[str, int]:
    return {"n_uncoded": int((np.diff(codes.matrix.indptr) == 0).sum())}


if __name__ == "__main__":
    run_stage(code_points)
