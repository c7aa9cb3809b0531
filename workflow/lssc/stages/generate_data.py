"""Draw or load the points of each trial."""

import numpy as np

from lssc.artifacts import Record
from lssc.runner import Trial, run_stage
from lssc.scaling import unit_rows
from lssc.timing import timed


def generate_data(trial: Trial) -> Record:
    # The key names the generator, not the dataset: scaled and unscaled versions of a dataset hold the same points.
    rng = trial.rng("data", trial.part.name)
    given = {"n_clusters": trial.recipe["n_clusters"], "features": trial.features, "rng": rng}
    points, spent = timed(trial.part, trial.recipe["n"], **given, **trial.params)
    if not np.isfinite(points.X).all():
        raise ValueError(f"dataset {trial.part.name!r} gave values that are not finite in trial {trial.number}")
    X = unit_rows(points.X) if trial.recipe["unit_norm"] else points.X
    origin = {} if points.origin is None else {"origin": points.origin}
    return Record({"X": X, "labels": points.labels, **origin}, spent)


if __name__ == "__main__":
    run_stage(generate_data, features=True)
