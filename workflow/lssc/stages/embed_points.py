"""Give every point spectral coordinates, from the codes."""

from lssc.artifacts import Record, csr_matrix
from lssc.runner import Trial, run_stage
from lssc.timing import timed


def embed_points(trial: Trial) -> Record:
    codes = csr_matrix(trial.read("codes"), "codes")
    rng = trial.rng("embedding")
    embedding, spent = timed(trial.part, codes, n_clusters=trial.recipe["n_clusters"], rng=rng, **trial.params)
    return Record({"vectors": embedding.vectors, "values": embedding.values}, {**embedding.info, **spent})


if __name__ == "__main__":
    run_stage(embed_points, inputs=("codes",))
