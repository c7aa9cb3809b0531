"""Give every point spectral coordinates, from the codes."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage


def embed_points(trial: Trial) -> Record:
    codes = trial.csr("codes", "codes")
    least = trial.n if trial.part.needs_all else trial.recipe["n_clusters"]
    fits = least <= codes.shape[1] <= trial.n
    trial.inputs["codes"].require(fits, f"has codes of {codes.shape[1]} landmarks, which cannot be embedded")
    embedding, spent = trial.run_part(codes, rng=trial.rng("embedding"))
    return Record({"vectors": embedding.vectors, "values": embedding.values}, {**embedding.info, **spent})


if __name__ == "__main__":
    run_stage(embed_points)
