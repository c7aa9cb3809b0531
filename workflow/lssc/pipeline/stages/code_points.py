"""Write every point as a sparse combination of the landmarks."""

import numpy as np

from lssc.pipeline.store.artifacts import Record, csr_arrays
from lssc.pipeline.trials import Trial, run_stage


def code_points(trial: Trial) -> Record:
    # The landmarks are rows of X, unless the selector gave points of their own.
    kind = "points" if trial.inputs["landmarks"].has(trial.number, "points") else "indices"
    X, landmarks = trial.rows("data", "X"), trial.array("landmarks", kind)
    codes, spent = trial.run_part(X, landmarks, m=len(landmarks), rng=trial.rng("codes", trial.part.name))
    uncoded = {"n_uncoded": int((np.diff(codes.matrix.indptr) == 0).sum())}
    # An embedder may need to know which points are landmarks.
    rows = {} if kind == "points" else {"landmark_indices": landmarks}
    return Record({**csr_arrays("codes", codes.matrix), **rows}, {**codes.info, **uncoded, **spent})


if __name__ == "__main__":
    run_stage(code_points)
