"""Compare the labels with the truth, and add up what every step took."""

from typing import Any

import numpy as np

from lssc.metrics import scores
from lssc.parts.registry import find
from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.study.steps import STEPS
from lssc.pipeline.trials import Trial, run_stage
from lssc.types import IndexArray

UNITS = ("seconds", "cpu_seconds")
# A step that a method does not have takes nothing.
NOTHING = {"seconds": 0.0, "cpu_seconds": 0.0, "peak_mb": 0.0}


def score_labels(trial: Trial) -> Record:
    """The labels are those of the last step."""
    steps = [step for step in STEPS if step.makes in trial.inputs]
    last = steps[-1].makes
    if trial.stopped:
        return Record({}, {"scores": {"stopped": trial.stopped}})
    has_truth = trial.inputs["data"].has(trial.number, "labels")
    if has_truth:
        values = scores(*(trial.inputs[name].rows(trial.number, "labels", rows=trial.n) for name in ("data", last)))
    else:
        labels = trial.array(last, "labels", rows=trial.n)
        values = {**dict.fromkeys(("accuracy", "nmi", "ari")), **_without_truth(trial, labels, last)}
    spent = {step.verb: NOTHING for step in STEPS}
    spent |= {step.verb: trial.facts(step.makes) for step in steps}
    for unit in UNITS:
        values[unit] = sum(facts[unit] for facts in spent.values())
        values |= {f"{verb}_{unit}": facts[unit] for verb, facts in spent.items()}
    values |= {f"{verb}_peak_mb": facts["peak_mb"] for verb, facts in spent.items()}
    values["peak_mb"] = max(facts["peak_mb"] for facts in spent.values())
    values["converged"] = all(trial.facts(step.makes).get("converged", True) for step in steps)
    # Points that no landmark explains have no code; whole methods have no codes at all.
    values["n_uncoded"] = trial.facts("codes")["n_uncoded"] if "codes" in trial.inputs else 0
    return Record({} if has_truth else {"labels": labels, "origin": _origin(trial)}, {"scores": values})


def _without_truth(trial: Trial, labels: IndexArray, last: str) -> dict[str, Any]:
    """What can be said about labels without the true ones: the sizes of the clusters, and the eigengap."""
    n_clusters = trial.facts(last)["recipe"]["n_clusters"]
    sizes = np.sort(np.bincount(labels, minlength=n_clusters))[::-1]
    return {"sizes": sizes.tolist(), "eigengap": _eigengap(trial) if "embedding" in trial.inputs else None}


def _eigengap(trial: Trial) -> float | None:
    """By how much the K-th eigenvalue or singular value of the embedding exceeds the next one."""
    made = trial.facts("embedding")["recipe"]
    embedder, K, part = find("embedder", made["part"]["name"]), made["n_clusters"], made["part"]
    codes = trial.codes(embedder)
    if codes.shape[1] <= K:
        return None
    supplied = {"landmark_indices": trial.landmark_indices(), "rng": trial.rng("embedding"), "threads": 1}
    values = embedder(codes, n_clusters=K + 1, **supplied, **part["params"]).spectrum
    return float(values[K - 1] - values[K])


def _origin(trial: Trial) -> IndexArray:
    """The rows of the points in their file, by which trials are compared."""
    data = trial.inputs["data"]
    return data.array(trial.number, "origin") if data.has(trial.number, "origin") else np.arange(trial.n)


if __name__ == "__main__":
    # A score holds the times of its inputs, which inputs of equal content need not share: compute it anew.
    run_stage(score_labels, reuse=False)
