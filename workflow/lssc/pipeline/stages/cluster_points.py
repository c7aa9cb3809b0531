"""Cluster the spectral coordinates."""

from lssc.parts.timing import timed
from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage


def cluster_points(trial: Trial) -> Record:
    vectors = trial.array("embedding", "vectors", rows=trial.n)
    rng = trial.rng("kmeans")
    clusters, spent = timed(trial.part, vectors, n_clusters=trial.recipe["n_clusters"], rng=rng, **trial.params)
    return Record({"labels": clusters.labels}, {**clusters.info, **spent})


if __name__ == "__main__":
    run_stage(cluster_points, inputs=("embedding",))
