"""Compare the labels with the truth, and add up what every step took."""

from lssc.metrics import scores
from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.study.steps import STEPS
from lssc.pipeline.trials import Trial, run_stage

UNITS = ("seconds", "cpu_seconds")
# A step that a method does not have takes nothing.
NOTHING = {"seconds": 0.0, "cpu_seconds": 0.0, "peak_mb": 0.0}


def score_labels(trial: Trial) -> Record:
    """The labels are those of the last step."""
    steps = [step for step in STEPS if step.makes in trial.inputs]
    labels = trial.array(steps[-1].makes, "labels", rows=trial.n)
    values = scores(trial.array("data", "labels", rows=trial.n), labels)
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
    return Record({}, {"scores": values})


if __name__ == "__main__":
    # A score holds the times of its inputs, which inputs of equal content need not share: compute it anew.
    run_stage(score_labels, reuse=False)
