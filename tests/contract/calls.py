"""One call of any registered part, for tests over every part."""

from pathlib import Path

import numpy as np

from lssc.parts.registry import FOLDERS, find, names
from lssc.types import Clusters, Codes, Embedding, Landmarks

# Required parameters by the name of the part; a new part with such parameters needs a line.
PARAMS = {
    "npm": {"package": "tiny@1.0.0"},
    "debian": {"package": "tiny"},
    "openml": {"id": 554},
    "pypi": {"package": "tiny==1.0"},
    "installed": {"module": "tiny"},
    "table": {"table": "tiny_table"},
    "images": {"collection": "tiny", "dim": 7},
    # 60 points of 3 classes.
    "file": {"path": str(Path(__file__).with_name("points.csv")), "labels": "kind"},
    "farthest_first": {"lam": 10.0},
    "s5c": {"lam": 10.0},
    "lasso": {"lam": 10.0},
    "lasso_spams": {"lam": 10.0},
    "omp": {"k": 3},
    "elastic_net": {"gamma": 20.0},
    "least_squares": {"ridge": 1.0},
    "doubly_stochastic": {"eta": 0.1},
    "admm": {"alpha": 20.0},
    "admm_modified": {"alpha": 20.0},
    "neighbours": {"t": 4},
    "subspaces": {"dim": 3},
    # For speed.
    "kfsc": {"n_init": 2, "max_iter": 20},
}
N, K, M = 60, 3, 15
ALL = [(kind, name) for kind in FOLDERS for name in names(kind)]
# Kinds that take points or codes first, and what else they take.
STEPS = ("selector", "coder", "embedder", "clusterer", "refiner", "method")


def generator(seed=5):
    return np.random.default_rng(seed)


def locked(array):
    array.setflags(write=False)
    return array


def landmarks_for(part, n=N):
    return locked(np.arange(n) if part.needs_all else generator(1).permutation(n)[: max(1, min(M, n))])


def second_argument(part, n, n_clusters):
    """What a part takes beside its points or codes."""
    if part.kind == "selector":
        return [len(landmarks_for(part, n))]
    others = {"source": [["points.csv"]], "coder": [landmarks_for(part, n)], "refiner": [np.arange(n) % n_clusters]}
    return others.get(part.kind, [])


def run(part, X, *more, n=N, n_clusters=K, **params):
    """Call a part with points or codes X, and the further positional arguments of its kind unless `more` has them."""
    more = more or second_argument(part, n, n_clusters)
    coordinates = generator(2).standard_normal((n, 2))
    supplied = {"n_clusters": n_clusters, "rng": generator(), "threads": 1, "coordinates": coordinates}
    if getattr(X, "shape", ()) == (n, M):
        supplied["landmark_indices"] = landmarks_for(part, n)
    return part(X, *more, **{**supplied, **PARAMS.get(part.name, {}), **params})


def arrays_of(result):
    """The arrays in the result of a part, to compare."""
    if isinstance(result, Codes):
        return [result.matrix.data, result.matrix.indices, result.matrix.indptr]
    return {
        Landmarks: lambda: [result.indices],
        Embedding: lambda: [result.vectors, result.values],
        Clusters: lambda: [result.labels],
    }[type(result)]()


def parts_of(*kinds):
    return [find(*key) for key in ALL if key[0] in kinds]


def part_id(part):
    return f"{part.kind}-{part.name}"
