"""Compare the labels with the truth, and add up what every stage spent."""

from lssc.metrics import scores
from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage

UNITS = ("seconds", "cpu_seconds")
TIMED = {"select": "landmarks", "code": "codes", "embed": "embedding", "cluster": "labels"}


def score_labels(trial: Trial) -> Record:
    values = scores(*(trial.array(name, "labels", rows=trial.n) for name in ("data", "labels")))
    spent = {stage: trial.facts(name) for stage, name in TIMED.items()}
    for unit in UNITS:
        values[unit] = sum(facts[unit] for facts in spent.values())
        values |= {f"{stage}_{unit}": facts[unit] for stage, facts in spent.items()}
    values |= {f"{stage}_peak_mb": facts["peak_mb"] for stage, facts in spent.items()}
    values["peak_mb"] = max(facts["peak_mb"] for facts in spent.values())
    values["converged"] = all(trial.facts(name).get("converged", True) for name in TIMED.values())
    # Points that no landmark explains have no code.
    values["n_uncoded"] = trial.facts("codes")["n_uncoded"]
    return Record({}, {"scores": values})


if __name__ == "__main__":
    # Times of the inputs are part of a score, and equal content may have taken another time: never taken over.
    run_stage(score_labels, inputs=("data", "landmarks", "codes", "embedding", "labels"), reuse=False)
