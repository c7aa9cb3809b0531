"""Choose m of the points as landmarks."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage


def select_landmarks(trial: Trial) -> Record:
    m = trial.recipe["m"]
    rng = trial.rng("landmarks", trial.part.name, m)
    landmarks, spent = trial.run_part(trial.rows("data", "X"), m, m=m, rng=rng)
    arrays = {"indices": landmarks.indices}
    if landmarks.points is not None:
        arrays["points"] = landmarks.points
    return Record(arrays, {**landmarks.info, **spent})


if __name__ == "__main__":
    run_stage(select_landmarks)
