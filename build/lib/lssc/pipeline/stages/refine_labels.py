"""Improve the labels, starting from those of the clusterer."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage


def refine_labels(trial: Trial) -> Record:
    labels = trial.array("labels", "labels", rows=trial.n)
    clusters, spent = trial.run_part(trial.rows("data", "X"), labels, rng=trial.rng("refined", trial.part.name))
    return Record({"labels": clusters.labels}, {**clusters.info, **spent})


if __name__ == "__main__":
    run_stage(refine_labels)
