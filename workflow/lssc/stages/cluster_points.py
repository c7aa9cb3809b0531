"""Cluster the spectral coordinates by K-means."""

from lssc.artifacts import Record
from lssc.kmeans import cluster, warm_up
from lssc.runner import Trial, run_stage
from lssc.timing import timed


def cluster_points(trial: Trial) -> Record:
    vectors = trial.array("embedding", "vectors")
    clusters, spent = timed(
        cluster, vectors, trial.recipe["n_clusters"], rng=trial.rng("kmeans"), **trial.recipe["kmeans"]
    )
    return Record({"labels": clusters.labels}, {**clusters.info, **spent})


if __name__ == "__main__":
    run_stage(cluster_points, inputs=("embedding",), warm_up=warm_up)
