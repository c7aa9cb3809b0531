"""Features of 8,000 digits: from a run of the pipeline, or made here once and kept in results/benchmarks."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from lssc.linalg.scaling import unit_rows
from lssc.parts.registry import find
from lssc.parts.seeding import rng_for
from lssc.pipeline.store.artifacts import Record, reading, writing
from measure import SMALL, sized

REPO = Path(__file__).parents[1]
KEPT = REPO / "results" / "benchmarks" / "digits.h5"
CLASSES = (2, 7, 8, 9)
N = 8000
# What a table says where there are no digits.
MISSING = "skipped: no features of digits; pass a data.h5 of the pipeline by --mnist"


def digits() -> tuple[np.ndarray, np.ndarray] | None:
    """Scattering features at unit norm (n x 500) and classes of 8,000 digits; None where no source has the images."""
    path = os.environ.get("BENCH_MNIST")
    artifacts = [Path(path)] if path else [*sorted(REPO.glob("results/mnist/n8000/*/data.h5")), KEPT]
    if not artifacts[0].exists() and (SMALL or not _make(artifacts[0])):
        return None
    with reading(artifacts[0]) as file:
        X, labels = (file.array(file.trials[0], name) for name in ("X", "labels"))
    return X[: sized(N, 300)], labels[: sized(N, 300)]


class _Features:
    """Scattering features of images, computed when asked for."""

    def __init__(self, images: Any) -> None:
        self._pixels, self.labels = images.pixels, images.labels

    def rows(self, indices: np.ndarray) -> np.ndarray:
        return find("features", "scattering")(self._pixels[indices])


def _make(path: Path) -> bool:
    """Download the images, compute the features and keep them; whether that was possible."""
    # Imported on use: they would add to the memory of what is measured.
    import yaml

    from lssc.data.images import check_images
    from lssc.errors import InputError
    from lssc.pipeline.stages.fetch_images import fetch
    from lssc.pipeline.study.load import load
    from lssc.pipeline.study.recipes import images_recipe

    recipe = json.loads(images_recipe(load(yaml.safe_load((REPO / "config/config.yaml").read_text())), "mnist"))
    with tempfile.TemporaryDirectory() as scratch:
        try:
            _, files = fetch(recipe, Path(scratch))
        except (InputError, OSError):
            return False
    images = _Features(check_images(files, sha256=recipe["sha256"], counts=recipe["counts"]))
    draw = find("dataset", "images")
    params = {"collection": "mnist", "classes": CLASSES, "pca_on": "subset"}
    points = draw(N, n_clusters=len(CLASSES), features=images, rng=rng_for(0, "digits"), **params)
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as writer:
        writer.add(0, Record({"X": unit_rows(points.X), "labels": points.labels}))
    return True
