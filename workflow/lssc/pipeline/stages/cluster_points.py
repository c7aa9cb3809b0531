"""Cluster the spectral coordinates."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage, timed_rows


def cluster_points(trial: Trial) -> Record:
    clusters, spent = trial.run_part(trial.rows("embedding", "vectors"), rng=trial.rng("kmeans"))
    spent |= clusters.info
    return Record({"labels": timed_rows(clusters.labels, spent)}, spent)


if __name__ == "__main__":
    run_stage(cluster_points)
