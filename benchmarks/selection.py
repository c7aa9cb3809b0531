"""The sweeps that chose the constants of lam="auto": accuracy by constant, on trials that no table reports.

`python benchmarks/selection.py results/automatic` prints them as CSV; the folder has a finished run of
`benchmarks/images.yaml`. Names of methods after it choose among the sweeps. The kept table,
docs/results/benchmarks/automatic_selection.csv, is older than the landmarks that estimators draw today: points and
weights are the same, accuracies differ by 0.004 typically and 0.045 at most (143 runs of FSC at D = 16, constants from
3 on). Two of its runs are missing (FSC on d100, SSC on d500).
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from automatic import METHODS, read_trial
from lssc.data.datasets.synthetic import synthetic
from lssc.estimators.automatic import typical_correlation
from lssc.linalg.scaling import unit_rows
from lssc.metrics import scores
from lssc.parts.seeding import rng_for

COLUMNS = ("method", "dataset", "n", "trial", "m", "constant", "lam", "accuracy")
# Name -> points, clusters, dimension of the space and of the subspaces.
SYNTHETIC = {
    "d16": (3600, 5, 16, 6),
    "d16_n1000": (1000, 5, 16, 6),
    "d50": (2000, 5, 50, 10),
    "d100": (3000, 10, 100, 20),
    "d500": (3000, 8, 500, 20),
}
# At the end of a name: points keep their lengths.
RAW = ("@raw", "_any_length")


@dataclass(frozen=True)
class Sweep:
    """Constants that are compared on the first trials of some datasets."""

    method: str
    datasets: tuple[str, ...]
    constants: tuple[float, ...]
    trials: int
    n_landmarks: tuple[int | None, ...] = (None,)


MANY = (1.5, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100)
OF_500_DIMENSIONS = (2, 3, 4, 5, 7, 10, 14, 20, 50)
OF_IMAGES = (2, 3, 4, 5, 7, 10, 20)
OF_ESC = (5, 10, 20, 30, 50, 100)
OF_SSC = (2, 3, 5, 7, 10, 14, 20)
IMAGES = ("mnist", "mnist_any_length", "mnist_all", "fashion_all")
SWEEPS = (
    Sweep("FSC", ("d16", "d16@raw", "d16_n1000", "d50", "d50@raw", "d100"), MANY, 4, (100, 300, 500)),
    Sweep("FSC", ("d500", "d500@raw"), OF_500_DIMENSIONS, 2, (300,)),
    Sweep("FSC", IMAGES, OF_IMAGES, 2, (100, 300)),
    Sweep("ESC", ("d16", "d16@raw", "d50", "mnist", "mnist_any_length", "fashion_all"), OF_ESC, 1, (100,)),
    Sweep("SSC", ("d16_n1000", "d50", "d500"), OF_SSC, 2),
    Sweep("SSC", ("mnist", "mnist_all"), (3, 5, 7, 10, 20), 1),
)


def points_of(name: str, trial: int, images: Path) -> tuple[np.ndarray, np.ndarray]:
    """Points and their classes; the trials of images are those of the stream `selection`."""
    model = name.removesuffix("@raw")
    if model not in SYNTHETIC:
        return read_trial(next(images.glob(f"{name}/n*/selection*/data.h5")), trial)
    n, n_clusters, ambient_dim, subspace_dim = SYNTHETIC[model]
    rng = rng_for(7, "selection", model, trial)
    drawn = synthetic(n, n_clusters=n_clusters, ambient_dim=ambient_dim, subspace_dim=subspace_dim, rng=rng)
    return drawn.X, drawn.labels


def rows(sweep: Sweep, images: Path) -> Iterator[tuple[str | float, ...]]:
    """One row for each run, in the order of COLUMNS."""
    for name in sweep.datasets:
        unit_norm = not name.endswith(RAW)
        for trial in range(sweep.trials):
            X, labels = points_of(name, trial, images)
            points = unit_rows(X) if unit_norm else X
            correlation, _ = typical_correlation(points, rng=rng_for(1, name, trial))
            known = {"n_clusters": len(np.unique(labels)), "unit_norm": unit_norm, "random_state": trial}
            for m in sweep.n_landmarks:
                for constant in sweep.constants:
                    lam = constant / correlation
                    params = known | {"lam": lam} | ({"n_landmarks": m} if m else {})
                    found = METHODS[sweep.method](**params).fit(X).labels_
                    accuracy = scores(labels, found)["accuracy"]
                    yield sweep.method, name, len(X), trial, m or len(X), constant, f"{lam:.6g}", f"{accuracy:.6g}"
        print(f"  {sweep.method}, {name}: done", file=sys.stderr)


def main() -> None:
    folder, *methods = sys.argv[1:]
    # Weights at the ends of a sweep leave points without a code.
    warnings.simplefilter("ignore")
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    for sweep in SWEEPS:
        if not methods or sweep.method in methods:
            writer.writerows(rows(sweep, Path(folder)))


if __name__ == "__main__":
    main()
