"""Give every point spectral coordinates, from the codes."""

from lssc.pipeline.store.artifacts import Record
from lssc.pipeline.trials import Trial, run_stage, timed_rows


def embed_points(trial: Trial) -> Record:
    rows = trial.landmark_indices()
    codes = trial.codes(trial.part)
    embedding, spent = trial.run_part(codes, landmark_indices=rows, rng=trial.rng("embedding"))
    spent |= embedding.info
    return Record({"vectors": timed_rows(embedding.vectors, spent), "values": embedding.values}, spent)


if __name__ == "__main__":
    run_stage(embed_points)
