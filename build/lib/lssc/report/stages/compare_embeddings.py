"""Measure how far the embeddings and labels of two methods differ, trial by trial."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lssc.errors import exit_with_message
from lssc.metrics import scores
from lssc.pipeline.store.artifacts import reading
from lssc.pipeline.store.files import write_text
from lssc.pipeline.study.blocks import Block
from lssc.report.tables import as_csv
from lssc.types import Array


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=Path, nargs="+", help="embedding, labels, embedding, labels of each pair")
    parser.add_argument("--pairs", type=json.loads, required=True, help="JSON: n, m and block of each pair")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    with exit_with_message(args.out):
        files = [args.files[start : start + 4] for start in range(0, len(args.files), 4)]
        rows = [row for pair, four in zip(args.pairs, files, strict=True) for row in agreement(pair, *four)]
        write_text(args.out, as_csv(rows))


def agreement(pair: Mapping[str, Any], one: Path, labels_one: Path, two: Path, labels_two: Path) -> Iterator[dict]:
    """For every trial: the largest sine between the column spaces, and the differences of coordinates and labels."""
    with (
        reading(one) as a,
        reading(two) as b,
        reading(labels_one) as c,
        reading(labels_two) as d,
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
    """Sine of the largest angle between the column spaces of two matrices; 0 if one contains the other."""
    P, Q = (np.linalg.qr(M)[0] for M in (A, B))
    return float(np.linalg.norm(Q - P @ (P.T @ Q), 2))


if __name__ == "__main__":
    main()
