"""Draw one trial of an experiment on images: its landmarks, clusters, confusion and embedding."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lssc.data.images import Images, read_images
from lssc.errors import exit_with_message
from lssc.parts.seeding import rng_for
from lssc.pipeline.store.artifacts import reading
from lssc.report.pictures import PicturedTrial, draw_clusters, draw_confusion, draw_embedding, draw_landmarks, matched
from lssc.report.style import save

TRIAL = 0


def load_trial(method: Mapping[str, Any], files: Sequence[Path], images: Images) -> PicturedTrial:
    """The first trial of a method, from its data, landmarks, embedding and labels."""

    def array(place: int, name: str, **expected: int) -> np.ndarray:
        with reading(files[place]) as reader:
            return reader.array(TRIAL, name, **expected)

    names = method["names"]
    truth = array(0, "labels")
    n = len(truth)
    pixels = images.pixels[array(0, "origin", rows=n)]
    landmarks, vectors = array(1, "indices"), array(2, "vectors", rows=n)
    clusters = matched(truth, array(3, "labels", rows=n), len(names))
    return PicturedTrial(method["label"], pixels, truth, clusters, landmarks, vectors, names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path, nargs="+", required=True)
    parser.add_argument("--artifacts", type=Path, nargs="+", required=True, help="data, landmarks, embedding, labels")
    parser.add_argument("--recipe", type=json.loads, required=True, help="JSON: seed, checksums, labels of the methods")
    parser.add_argument("--out", type=Path, nargs="+", required=True, help="a PDF and PNG file for each picture")
    args = parser.parse_args()
    recipe = args.recipe
    with exit_with_message(args.out[0]):
        images = read_images(args.images, sha256=recipe["sha256"])
        files = [args.artifacts[start : start + 4] for start in range(0, len(args.artifacts), 4)]
        trials = [load_trial(method, four, images) for method, four in zip(recipe["methods"], files, strict=True)]
        pictures = {
            "landmarks": draw_landmarks(trials),
            "clusters": draw_clusters(trials, rng_for(recipe["seed"], "clusters")),
            "confusion": draw_confusion(trials),
            "embedding": draw_embedding(trials, rng_for(recipe["seed"], "embedding")),
        }
        for name, figure in pictures.items():
            save(figure, *(path for path in args.out if path.stem == name))


if __name__ == "__main__":
    main()
