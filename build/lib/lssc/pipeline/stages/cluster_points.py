"""Cluster the spectral coordinates."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage


def cluster_points(trial: Trial) -> Record:
    vectors = trial.array("embedding", "vectors", rows=trial.n)
    clusters, spent = trial.run_part(vectors, rng=trial.rng("kmeans"))
    return Record({"labels": clusters.labels}, {**clusters.info, **spent})


if __name__ == "__main__":
    run_stage(cluster_points)
