"""Draw or load the points of each trial."""

from dataclasses import replace

from lssc.errors import InputError
from lssc.linalg.scaling import unit_rows
from lssc.parts.timing import timed, timed_blocks
from lssc.pipeline.store.artifacts import LARGEST, Record, is_sound
from lssc.pipeline.trials import Trial, run_stage
from lssc.types import Array, RowBlocks


def generate_data(trial: Trial) -> Record:
    # The key names the generator, not the dataset: scaled and unscaled versions of a dataset hold the same points.
    rng = trial.rng("data", trial.part.name)
    given = {"n_clusters": trial.recipe["n_clusters"], "features": trial.features, "rng": rng}
    points, spent = timed(trial.part, trial.recipe["n"], **given, **trial.params)

    def finished(X: Array) -> Array:
        if not is_sound(X):
            what = f"values that are not finite, or beyond {LARGEST:g},"
            raise InputError(f"dataset {trial.part.name!r} gave {what} in trial {trial.number}")
        return unit_rows(X) if trial.recipe["unit_norm"] else X

    if isinstance(points.X, RowBlocks):
        X = replace(points.X, blocks=map(finished, timed_blocks(points.X.blocks, spent)))
    else:
        X = finished(points.X)
    origin = {} if points.origin is None else {"origin": points.origin}
    return Record({"X": X, "labels": points.labels, **origin}, spent)


if __name__ == "__main__":
    run_stage(generate_data, features=True)
