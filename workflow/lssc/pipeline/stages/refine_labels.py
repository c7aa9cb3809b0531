"""Improve the labels, starting from those of the clusterer."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage


def refine_labels(trial: Trial) -> Record:
    labels = trial.array("labels", "labels", rows=trial.n)
    vectors = trial.array("embedding", "vectors", rows=trial.n)
    rng = trial.rng("refined", trial.part.name)
    clusters, spent = trial.run_part(trial.rows("data", "X"), labels, coordinates=vectors, rng=rng)
    return Record({"labels": clusters.labels}, {**clusters.info, **spent})


if __name__ == "__main__":
    run_stage(refine_labels)
