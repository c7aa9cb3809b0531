"""Choose m of the points as landmarks."""

from lssc.parts.timing import timed
from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage


def select_landmarks(trial: Trial) -> Record:
    m = trial.recipe["m"]
    rng = trial.rng("landmarks", trial.part.name, m)
    X = trial.rows("data", "X")
    landmarks, spent = timed(trial.part, X, m, n_clusters=trial.recipe["n_clusters"], rng=rng, **trial.params)
    return Record({"indices": landmarks.indices}, {**landmarks.info, **spent})


if __name__ == "__main__":
    run_stage(select_landmarks, inputs=("data",))
