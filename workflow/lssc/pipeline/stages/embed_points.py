"""Give every point spectral coordinates, from the codes."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage


def embed_points(trial: Trial) -> Record:
    rows = trial.landmark_indices()
    embedding, spent = trial.run_part(trial.csr("codes", "codes"), landmark_indices=rows, rng=trial.rng("embedding"))
    return Record({"vectors": embedding.vectors, "values": embedding.values}, {**embedding.info, **spent})


if __name__ == "__main__":
    run_stage(embed_points)
