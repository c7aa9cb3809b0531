"""Tell how far the embeddings and labels of two methods are apart, trial by trial."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lssc.errors import telling
from lssc.metrics import scores
from lssc.pipeline.store.artifacts import reading
from lssc.pipeline.store.files import write_text
from lssc.pipeline.study.blocks import Block
from lssc.report.tables import as_csv
from lssc.types import Array


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", type=json.loads, required=True, help="JSON, as Snakemake prints it")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    with telling(args.out):
        write_text(args.out, as_csv([row for pair in args.recipe for row in agreement(pair)]))


def agreement(pair: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """For every trial: the largest sine between the spaces that the coordinates span, and what else differs."""
    (one, labels_one), (two, labels_two) = pair["one"], pair["two"]
    with (
        reading(Path(one)) as a,
        reading(Path(two)) as b,
        reading(Path(labels_one)) as c,
        reading(Path(labels_two)) as d,
    ):
        for trial in Block.parse(pair["block"]).trials:
            vectors = [file.array(trial, "vectors", rows=pair["n"]) for file in (a, b)]
            values = [file.array(trial, "values") for file in (a, b)]
            for P, Q in (vectors, values):
                b.require(P.shape == Q.shape and P.size > 0, f"has an array of {Q.shape} where {a.path} has {P.shape}")
            yield {
                "n": pair["n"],
                "m": pair["m"],
                "trial": trial,
                "sine": largest_sine(*vectors),
                "coordinates": float(np.abs(vectors[0] - vectors[1]).max()),
                "values": float(np.abs(values[0] - values[1]).max()),
                "labels": scores(*(file.array(trial, "labels", rows=pair["n"]) for file in (c, d)))["accuracy"],
            }


def largest_sine(A: Array, B: Array) -> float:
    """Sine of the largest angle between the column spaces of two matrices: 0 where one space holds the other."""
    P, Q = (np.linalg.qr(M)[0] for M in (A, B))
    return float(np.linalg.norm(Q - P @ (P.T @ Q), 2))


if __name__ == "__main__":
    main()
