"""Draw or load the points of each trial."""

from dataclasses import replace

from lssc.errors import InputError
from lssc.linalg.scaling import unit_rows
from lssc.parts.inputs import MAX_MAGNITUDE, is_sound
from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.timing import timed_blocks
from lssc.pipeline.trials import Trial, run_stage
from lssc.types import Array, RowBlocks


def generate_data(trial: Trial) -> Record:
    # The key names the generator, not the dataset: a dataset at unit norm and as drawn holds the same points.
    rng = trial.rng("data", trial.part.name)
    points, spent = trial.run_part(trial.n, features=trial.features, rng=rng)

    def scaled(X: Array) -> Array:
        if not is_sound(X):
            problem = f"values that are not finite, or beyond {MAX_MAGNITUDE:g},"
            raise InputError(f"dataset {trial.part.name!r} returned {problem} in trial {trial.number}")
        return unit_rows(X) if trial.recipe["unit_norm"] else X

    if isinstance(points.X, RowBlocks):
        X = replace(points.X, blocks=map(scaled, timed_blocks(points.X.blocks, spent)))
    else:
        X = scaled(points.X)
    optional = {"labels": points.labels, "origin": points.origin}
    return Record({"X": X, **{name: array for name, array in optional.items() if array is not None}}, spent)


if __name__ == "__main__":
    run_stage(generate_data)
