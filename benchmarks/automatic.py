"""lam="auto", n_landmarks="auto" and n_clusters=None beside tuned values, on every dataset of the project.

The best lam of a sweep on trials of the stream `selection` is compared with the rule on trials of the stream
`automatic`. `python benchmarks/automatic.py` prints the rows as JSON. Points of images come from a finished run of
`benchmarks/images.yaml` in the folder that BENCH_IMAGES names; all 70,000 images of a collection come from a finished
run of the experiments mnist_all and fashion_all in the folder that BENCH_ALL_IMAGES names.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from lssc import ESC, FSC, SSC, RefinedFSC
from lssc.data.datasets.synthetic import synthetic
from lssc.estimators.base import SubspaceClustering
from lssc.metrics import scores
from lssc.parts.seeding import rng_for
from lssc.pipeline.store.artifacts import reading
from measure import Row, row, sized

# RefinedFSC has numbers as defaults and FSC's rules for "auto".
METHODS = {"FSC": FSC, "ESC": ESC, "SSC": SSC, "RefinedFSC": partial(RefinedFSC, lam="auto", n_landmarks="auto")}
# Multiples of the weight that the rule chooses, by method: ESC and SSC are slower.
MULTIPLES = {
    "FSC": (0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0),
    "ESC": (0.3, 1.0, 3.0),
    "SSC": (0.5, 1.0, 2.0),
    "RefinedFSC": (0.5, 1.0, 2.0, 4.0, 8.0),
}
METHODS_OF_ALL_IMAGES = ("FSC",)
MULTIPLES_OF_ALL_IMAGES = (0.7, 1.0, 1.4, 2.0)
# If the best is at an end of the sweep, so many values may follow there, each this many times the one before.
MORE_MULTIPLES = 2
STEP = {"FSC": 2.0, "ESC": 3.0, "SSC": 2.0, "RefinedFSC": 2.0}
# CPU seconds of a run above which no value follows.
ENOUGH_SECONDS = 10.0
# Trials of each stream; of all images, these differ in the landmarks.
TRIALS = {"FSC": sized(3, 1), "ESC": 1, "SSC": 1, "RefinedFSC": sized(3, 1)}
# Points of a trial at most, unless it has all images.
MAX_POINTS = sized(2000, 100)


@dataclass(frozen=True)
class Dataset:
    """Points of the synthetic model, or of images if `folder` names a dataset of `benchmarks/images.yaml`.

    With `all_images`, a trial has every image of the collection.
    """

    n: int
    n_clusters: int
    ambient_dim: int = 500
    subspace_dim: int = 0
    unit_norm: bool = True
    z: str = "normal"
    folder: str = ""
    all_images: bool = False

    def trial(self, stream: str, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Points and their classes."""
        if self.all_images:
            return read_trial(Path(os.environ["BENCH_ALL_IMAGES"]) / f"{self.folder}/n{self.n}/t00-00/data.h5", 0)
        if self.folder:
            path = next(Path(os.environ["BENCH_IMAGES"]).glob(f"{self.folder}/n{self.n}/{stream}*/data.h5"))
            X, labels = read_trial(path, number)
            kept = np.sort(rng_for(0, stream, number).permutation(len(X))[:MAX_POINTS])
            return X[kept], labels[kept]
        shape = {"ambient_dim": self.ambient_dim, "subspace_dim": self.subspace_dim, "z": self.z}
        rng = rng_for(2019, stream, number)
        points = synthetic(min(self.n, MAX_POINTS), n_clusters=self.n_clusters, **shape, rng=rng)
        return points.X, points.labels

    @property
    def n_points(self) -> int:
        """The number of points of a trial."""
        return self.n if self.all_images else min(self.n, MAX_POINTS)

    def missing(self, method: str) -> str:
        """Why the method cannot be measured on these points, or nothing."""
        if self.all_images:
            if method not in METHODS_OF_ALL_IMAGES:
                return "not run"
            known = "BENCH_ALL_IMAGES" in os.environ
            return "" if known else "skipped: pass a run of mnist_all and fashion_all by --all-images"
        if self.folder and "BENCH_IMAGES" not in os.environ:
            return "skipped: no points of images; pass a run of benchmarks/images.yaml by --images"
        return ""


def read_trial(path: Path, number: int) -> tuple[np.ndarray, np.ndarray]:
    with reading(path) as file:
        return tuple(file.array(file.trials[number], name) for name in ("X", "labels"))


DATASETS = {
    "synthetic": Dataset(3600, 5, 16, 6),
    "synthetic, as drawn": Dataset(3600, 5, 16, 6, unit_norm=False),
    "synthetic, 1,000 points": Dataset(1000, 5, 16, 6),
    "synthetic, z uniform": Dataset(3600, 5, 16, 6, z="uniform"),
    "synthetic, z Laplace": Dataset(3600, 5, 16, 6, z="laplace"),
    "synthetic, z positive": Dataset(3600, 5, 16, 6, z="positive"),
    "synthetic, D = 50": Dataset(2000, 5, 50, 10),
    "synthetic, D = 100": Dataset(3000, 10, 100, 20),
    "synthetic, D = 500": Dataset(3000, 8, 500, 20),
    "synthetic, D = 500, as drawn": Dataset(3000, 8, 500, 20, unit_norm=False),
    "MNIST 2, 7, 8, 9": Dataset(4000, 4, folder="mnist"),
    "MNIST 2, 7, 8, 9, PCA not centred": Dataset(4000, 4, folder="mnist_uncentred"),
    "MNIST 2, 7, 8, 9, no path maximum": Dataset(4000, 4, folder="mnist_plain_paths"),
    "MNIST 2, 7, 8, 9, PCA of the trial": Dataset(4000, 4, folder="mnist_subset_pca"),
    "MNIST 2, 7, 8, 9, PCA to 100": Dataset(4000, 4, folder="mnist_dim100"),
    "MNIST 2, 7, 8, 9, no unit norm": Dataset(4000, 4, folder="mnist_any_length", unit_norm=False),
    "MNIST, ten digits": Dataset(5000, 10, folder="mnist_all"),
    "Fashion-MNIST": Dataset(5000, 10, folder="fashion_all"),
    "MNIST, all images": Dataset(70_000, 10, folder="mnist_all", all_images=True),
    "Fashion-MNIST, all images": Dataset(70_000, 10, folder="fashion_all", all_images=True),
}


def compare(name: str, method: str) -> Iterator[Row]:
    """The sweep on trials for selection; then the tuned weight, the rules, and more landmarks on other trials."""
    dataset = DATASETS[name]
    numbers = range(TRIALS[method])
    sweep = swept(method, dataset, numbers)
    best = best_of(sweep)
    results: dict[str, list[float]] = {}
    for number in numbers:
        one = report(method, dataset, dataset.trial("automatic", number), number, best)
        for quantity, value in one.items():
            results.setdefault(quantity, []).append(value)
    n = dataset.n_points
    for multiple, accuracies in sorted(sweep.items()):
        yield row(name, method, f"selection, {multiple:g} times lam", accuracies, n=n)
    yield row(name, method, "best multiple", best, n=n, note="end" if best in (min(sweep), max(sweep)) else "")
    for quantity, values in results.items():
        yield row(name, method, quantity, values, n=n)
    right = [counted == dataset.n_clusters for counted in results["clusters"]]
    yield row(name, method, "right", sum(right), n=n, note=f"{sum(right)} of {len(right)}")


def swept(method: str, dataset: Dataset, numbers: range) -> dict[float, list[float]]:
    """Accuracies by multiple of the rule's weight; the sweep goes on at the end where the best is."""
    # All images are the same points in the trials that are reported: the sweep takes other landmarks.
    states = [number + dataset.all_images * len(numbers) for number in numbers]
    trials = [(dataset.trial("selection", number), state) for number, state in zip(numbers, states, strict=True)]
    rules = [fitted(method, dataset, *trial)[0].lam_ for trial in trials]
    waiting = list(MULTIPLES_OF_ALL_IMAGES if dataset.all_images else MULTIPLES[method])
    sweep: dict[float, list[float]] = {}
    more = MORE_MULTIPLES
    while waiting:
        multiple = waiting.pop(0)
        runs = [fitted(method, dataset, *trials[i], lam=multiple * rules[i]) for i in numbers]
        sweep[multiple] = [accuracy for _, accuracy, _ in runs]
        ends = {min(sweep): 1 / STEP[method], max(sweep): STEP[method]}
        if not waiting and more and best_of(sweep) in ends and max(run[2] for run in runs) < ENOUGH_SECONDS:
            more -= 1
            waiting.append(round(best_of(sweep) * ends[best_of(sweep)], 3))
    return sweep


def best_of(sweep: dict[float, list[float]]) -> float:
    """The multiple of the best mean accuracy; among equals, the one closest to 1."""
    return max(sweep, key=lambda multiple: (np.mean(sweep[multiple]), -abs(np.log(multiple))))


def report(
    method: str, dataset: Dataset, trial: tuple[np.ndarray, np.ndarray], number: int, best: float
) -> dict[str, float]:
    """One trial: accuracies with every choice, seconds, and the estimated number of clusters."""
    model, accuracy, seconds = fitted(method, dataset, trial, number)
    found = {"lam": model.lam_, "n_landmarks": model.n_landmarks_, "rule": accuracy, "seconds": seconds}
    found["tuned"] = fitted(method, dataset, trial, number, lam=best * model.lam_)[1]
    if method != "SSC":
        m = min(2 * model.n_landmarks_, len(trial[0]) // 2)
        _, found["twice"], found["twice_seconds"] = fitted(method, dataset, trial, number, n_landmarks=m)
    return {**found, "clusters": fitted(method, dataset, trial, number, n_clusters=None)[0].n_clusters_}


def fitted(
    method: str, dataset: Dataset, trial: tuple[np.ndarray, np.ndarray], number: int, **params: float | None
) -> tuple[SubspaceClustering, float, float]:
    """A model, its accuracy and its CPU seconds."""
    known = {"n_clusters": dataset.n_clusters, "unit_norm": dataset.unit_norm, "random_state": number}
    start = time.process_time()
    model = METHODS[method](**{**known, **params}).fit(trial[0])
    return model, scores(trial[1], model.labels_)["accuracy"], time.process_time() - start


def rows(*methods: str) -> Iterator[Row]:
    """The rows of these methods, or of all."""
    for method in methods or METHODS:
        for name, dataset in DATASETS.items():
            if missing := dataset.missing(method):
                yield row(name, method, "rule", np.nan, n=dataset.n_points, note=missing)
                continue
            yield from compare(name, method)
            print(f"  {method}, {name}: done", file=sys.stderr)


if __name__ == "__main__":
    # Weights at the ends of a sweep leave points without a code.
    warnings.simplefilter("ignore")
    print(json.dumps(list(rows(*sys.argv[1:]))))
