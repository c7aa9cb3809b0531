"""Draw one trial of an experiment on images: its landmarks, clusters, confusion and embedding."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lssc.data.images import Images, read_images
from lssc.errors import telling
from lssc.pipeline.store.artifacts import reading
from lssc.pipeline.study.seeding import rng_for
from lssc.report.pictures import Shown, draw_clusters, draw_confusion, draw_embedding, draw_landmarks, matched
from lssc.report.style import save

TRIAL = 0


def load_trial(wanted: Mapping[str, Any], images: Images) -> Shown:
    """What the artifacts say about one method."""

    def array(file: str, name: str, **expected: int) -> np.ndarray:
        with reading(Path(wanted[file])) as reader:
            return reader.array(TRIAL, name, **expected)

    # Not the points: they may take more room than everything else.
    names = wanted["names"]
    truth = array("data", "labels", below=len(names))
    n = len(truth)
    pixels = images.pixels[array("data", "origin", rows=n, below=len(images.pixels))]
    found = matched(truth, array("result", "labels", rows=n, below=len(names)), len(names))
    landmarks, vectors = array("landmarks", "indices", below=n), array("embedding", "vectors", rows=n)
    return Shown(wanted["label"], pixels, truth, found, landmarks, vectors, names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path, nargs="+", required=True)
    parser.add_argument("--recipe", type=json.loads, required=True, help="JSON, as Snakemake prints it")
    parser.add_argument("--out", type=Path, nargs="+", required=True, help="a PDF and PNG file for each picture")
    args = parser.parse_args()
    recipe = args.recipe
    with telling(args.out[0]):
        images = read_images(args.images, sha256=recipe["sha256"])
        trials = [load_trial(wanted, images) for wanted in recipe["methods"]]
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
