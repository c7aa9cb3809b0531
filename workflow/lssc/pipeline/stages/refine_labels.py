"""Improve the labels, starting from those of the clusterer."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage, timed_rows


def refine_labels(trial: Trial) -> Record:
    labels, vectors = trial.rows("labels", "labels"), trial.rows("embedding", "vectors")
    rng = trial.rng("refined", trial.part.name)
    clusters, spent = trial.run_part(trial.rows("data", "X"), labels, coordinates=vectors, rng=rng)
    spent |= clusters.info
    return Record({"labels": timed_rows(clusters.labels, spent)}, spent)


if __name__ == "__main__":
    run_stage(refine_labels)
