"""Run a whole method: points in, labels out."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage


def apply_method(trial: Trial) -> Record:
    clusters, spent = trial.run_part(trial.rows("data", "X"), rng=trial.rng("method", trial.part.name))
    return Record({"labels": clusters.labels}, {**clusters.info, **spent})


if __name__ == "__main__":
    run_stage(apply_method)
