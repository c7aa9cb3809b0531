"""Memory and minutes that a job requests from a cluster, estimated from the sizes of its run.

Each part belongs to one of a few cost classes. Estimates are rough on purpose: requests have a generous margin and
double at every attempt, and the progress display corrects its time left by the times that jobs really take.
Seconds are those of one core. Trials of a block run one after another: their times add up, their memory does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from lssc.parts.registry import find
from lssc.pipeline.study.blocks import Block
from lssc.pipeline.study.model import Study
from lssc.pipeline.study.steps import STEPS
from lssc.types import MAX_IN_MEMORY

MIB = 2**20
# MB of every job: its interpreter with libraries or the compiler, and two processes of Snakemake beside it.
BASE_MB, SNAKEMAKE_MB = 300, 400
# Request over estimate.
MEMORY_MARGIN, TIME_MARGIN = 1.2, 2
# Minutes that every job requests: imports from a shared disk are slow, and a node of another kind compiles first.
LEAST_MINUTES = 10
# Seconds to start a job; to start each member of a group on a node.
START_SECONDS, MEMBER_SECONDS = 1.0, 8.0
# Dimensions of points, features of an image and nonzeros of a code where no part says how many.
MANY_DIMENSIONS, MANY_FEATURES, MANY_NONZEROS = 1000, 4096, 150


@dataclass(frozen=True)
class Sizes:
    """n points of D dimensions, m landmarks, K coordinates, s nonzeros in a code, and the part's parameters.

    `points` are the bytes of points that a job holds, `held` those of codes and coordinates. An image collection has N
    images of F features, `shard` of them in a file.
    """

    n: int = 0
    m: int = 0
    D: int = 0
    K: int = 0
    s: float = 0
    trials: int = 1
    points: int = 0
    held: float = 0
    N: int = 0
    F: int = 0
    shard: int = 0
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sample(self) -> int:
        """Points in a search for medoids."""
        return min(self.n, max(self.m, self.params.get("max_points", self.n)))

    @property
    def steps(self) -> int:
        return self.params.get("max_iter", 1)


class Cost(NamedTuple):
    """Bytes of arrays, beside points, landmarks, codes and coordinates, and seconds of one trial."""

    bytes: Callable[[Sizes], float]
    seconds: Callable[[Sizes], float]


def _gram_bytes(z: Sizes) -> float:
    """The lasso keeps inner products of all landmarks, or in few dimensions those of a block of points."""
    return 8 * z.m**2 if z.D > 32 or z.m <= 2048 else 2600 * z.m


def _path_seconds(z: Sizes) -> float:
    """Products with all landmarks, then s steps that solve a system of up to s unknowns each."""
    return z.n * (1e-5 + 1e-10 * (z.m + 300) * (z.D + 16) + 1e-10 * z.s**3)


def _kfsc_atoms(z: Sizes) -> float:
    return z.K * min(z.params["dim"], max(1, z.D // 2))


def _kfsc_bytes(z: Sizes) -> float:
    """Points at unit norm, codes in few blocks of each, products of atoms; the search for landmarks."""
    search = 300 * MIB if z.params["variant"] == "landmarks" else 0
    return search + 8 * z.n * (2 * z.D + 0.5 * _kfsc_atoms(z)) + 48 * _kfsc_atoms(z) ** 2


def _kfsc_seconds(z: Sizes) -> float:
    """Starts of K-means, landmarks among five times as many points, then rounds, or passes of five steps."""
    variant, centres = z.params["variant"], min(z.n, z.params["landmarks"] * z.K)
    n, rounds = (centres if variant == "landmarks" else z.n), z.steps
    search = 2e-9 * centres**2 * z.D if variant == "landmarks" else 0
    if variant == "minibatch":
        rounds = 3 * z.params["passes"]
    starts = 2e-8 * z.params["n_init"] * min(n, 20_000) * z.K * z.D
    return search + starts + 3e-10 * rounds * n * _kfsc_atoms(z) * z.D


NOTHING = Cost(lambda z: 0, lambda z: 3)
LIGHT = Cost(lambda z: 0, lambda z: 5e-6 * z.n)
LANDMARKS = Cost(_gram_bytes, _path_seconds)
# Inner products of all landmarks, or of the working sets of a block of points.
WORKING_SETS = Cost(
    lambda z: 8 * min(z.m, 2048) ** 2 + 12 * (z.n + z.m) * z.D + 2**28 * (z.D > 32),
    lambda z: z.n * (1e-4 + 5e-9 * (z.m + 2000) * z.D),
)
LARGEST = Cost(lambda z: 2**27 + 16 * z.n * z.D, lambda z: 3e-8 * z.n * z.m)
BALANCED = Cost(lambda z: z.n * (4096 + 160 * z.s), lambda z: 1e-3 * z.n)
ROUNDS = Cost(lambda z: 8 * z.n * z.m, _path_seconds)
GRAPH = Cost(lambda z: z.n * (1536 + 64 * z.s + 8 * z.m * (z.s > 0.15 * z.m)), lambda z: 3e-5 * z.n)
PAIRS = Cost(lambda z: 8 * z.sample**2, lambda z: 1e-9 * z.sample**2 * (z.D + 50))
# Iterations over pairs of points, of which a bound excludes most.
SCREENED = Cost(lambda z: 6000 * z.n, lambda z: 2e-9 * z.steps * z.n**1.4 * (z.D + 16))
# K-means over all points of a sample, a pass at a time.
PASSES = Cost(lambda z: 8 * z.sample * (z.D + 8), lambda z: 6e-11 * z.steps * z.sample * z.m * (z.D + 16))
SQUARE = Cost(lambda z: 32 * z.n**2, lambda z: 2e-10 * z.steps * z.n**2 * (z.D + 50))
CUBIC = Cost(lambda z: 64 * z.n**2, lambda z: 6e-11 * z.steps * z.n**3)
# Measured at D = 500; the points are held once more, in single precision.
NEIGHBOURS = Cost(lambda z: z.n * (8 * z.D + 4000), lambda z: 2e-4 * z.n)
UMAP = Cost(NEIGHBOURS.bytes, lambda z: 20 + 2e-3 * z.n + 2e-8 * z.n**2)
# EM: probabilities of all points, and products with the covariances of K components.
MIXTURE = Cost(lambda z: z.n * (8 * z.D + 4000), lambda z: 1e-3 * z.n)
# Images whose trials are reduced once, together, and each on its own.
DRAWN = Cost(lambda z: 4 * z.N * z.D, lambda z: 5e-8 * z.n * z.D)
REDUCED = Cost(lambda z: (24 * z.n + 4 * z.shard) * z.F, lambda z: 1e-10 * z.F**2 * (z.n + z.F))

# Class of each part that is not of class LANDMARKS.
PARTS = {
    "synthetic": LIGHT,
    "file": LIGHT,
    "table": LIGHT,
    "all": LIGHT,
    "uniform": LIGHT,
    "farthest_first": ROUNDS,
    "s5c": Cost(lambda z: 16 * z.m**2, lambda z: 4e-10 * z.m * z.n * (z.D + 16)),
    "kmedoids_full": PAIRS,
    "fasterpam": PAIRS,
    "elastic_net": WORKING_SETS,
    "least_squares": LARGEST,
    "doubly_stochastic": BALANCED,
    "admm": SCREENED,
    "admm_modified": SCREENED,
    "landmark_svd": Cost(lambda z: 16 * min(z.m, z.params["gram_up_to"]) ** 2, LIGHT.seconds),
    "anchor_graph": Cost(lambda z: 64 * z.n * z.s, _path_seconds),
    "thresholded": Cost(lambda z: z.n * (8 * z.D + 64 * z.s), lambda z: 4e-11 * z.n**2 * (z.D + 50)),
    "lsc": Cost(lambda z: 16 * min(z.m, 3000) ** 2, LIGHT.seconds),
    "affinity": GRAPH,
    "neighbours": GRAPH,
    "explicit": CUBIC,
    "kmeans": LIGHT,
    "spherical_kmeans": Cost(lambda z: 16 * z.n * z.D, lambda z: 2e-6 * z.n * z.D),
    "minibatch_kmeans": Cost(lambda z: 8 * z.n * z.D, lambda z: 5e-8 * z.n * z.D),
    "gmm": MIXTURE,
    "knn_spectral": NEIGHBOURS,
    "umap_hdbscan": UMAP,
    "kfsc": Cost(_kfsc_bytes, _kfsc_seconds),
}
# A value of a parameter that puts a part into another class.
SWITCHES = {
    ("products", "dense"): CUBIC,
    ("plain", True): SQUARE,
    ("batches", False): PASSES,
    ("pca_on", "all"): DRAWN,
    ("pca_on", "subset"): REDUCED,
}
# Rules that run no part of a method; those not in the table are of class NOTHING.
RULES = {
    "featurise_images": Cost(lambda z: 1600 * z.N + 8 * z.shard * z.F, lambda z: 1.1e-6 * z.shard * z.F),
    "reduce_features": Cost(
        lambda z: 32 * z.F**2 + 12 * z.shard * z.F + 4 * z.N * MANY_DIMENSIONS, lambda z: 7e-11 * z.F**2 * (z.N + z.F)
    ),
    "score_labels": LIGHT,
    "draw_pictures": Cost(lambda z: 600 * MIB, lambda z: 12),
    "write_report": Cost(lambda z: 0, lambda z: 16),
}


class Limits(NamedTuple):
    """Of a cluster: how many times slower its nodes are, and the most that any job may request.

    The defaults are a year and 1 PB: config takes numbers of any size, a cluster does not.
    """

    slower: int = 1
    max_runtime: int = 365 * 24 * 60
    max_mem_mb: int = 2**30


NONE = Limits()


def request(
    study: Study, rule: str, wildcards: Mapping[str, str], attempt: int = 1, limits: Limits = NONE
) -> dict[str, int]:
    """`mem_mb` and `runtime` (minutes) of a job, doubled with every attempt after the first."""
    factor = 2 ** (attempt - 1)
    minutes = limits.slower * TIME_MARGIN * seconds(study, rule, wildcards) / 60
    memory = factor * math.ceil(megabytes(study, rule, wildcards) + SNAKEMAKE_MB)
    runtime = factor * max(LEAST_MINUTES, math.ceil(minutes))
    return {"mem_mb": min(memory, limits.max_mem_mb), "runtime": min(runtime, limits.max_runtime)}


def group_minutes(expected: Sequence[float], attempt: int = 1, limits: Limits = NONE) -> int:
    """`runtime` of jobs that follow each other in one submission, from their expected seconds."""
    work = limits.slower * TIME_MARGIN * (sum(expected) + MEMBER_SECONDS * len(expected))
    return min(2 ** (attempt - 1) * (LEAST_MINUTES + math.ceil(work / 60)), limits.max_runtime)


def expected_seconds(study: Study, rule: str, wildcards: Mapping[str, str]) -> float:
    """Wall-clock seconds of a job."""
    return min(START_SECONDS + seconds(study, rule, wildcards), 60 * NONE.max_runtime)


def megabytes(study: Study, rule: str, wildcards: Mapping[str, str]) -> float:
    """Memory of a job's own process."""
    cost, z = _cost(study, rule, wildcards)
    shared = 2 * z.points + 16 * z.m * z.D + z.held
    return MEMORY_MARGIN * (BASE_MB + (shared + cost.bytes(z)) / MIB)


def file_bytes(study: Study, rule: str, wildcards: Mapping[str, str]) -> float:
    """Bytes of the file that a job makes, if it has a row for every point."""
    z = _sizes(study, wildcards)
    row = {
        "generate_data": 8 * (z.D + 1),
        # In single precision where points are read by rows.
        "code_points": (8 if z.n * z.D > MAX_IN_MEMORY else 16) * z.s + 8,
        "embed_points": 8 * z.K,
        "cluster_points": 8,
        "refine_labels": 8,
        "apply_method": 8,
    }
    return row.get(rule, 0) * z.n * z.trials


def seconds(study: Study, rule: str, wildcards: Mapping[str, str]) -> float:
    """CPU seconds of all trials of a job."""
    cost, z = _cost(study, rule, wildcards)
    limit = study.limits(wildcards["block"]).get("time_limit") if wildcards.get("block") else None
    return z.trials * (min(cost.seconds(z), limit) if limit else cost.seconds(z))


def _cost(study: Study, rule: str, wildcards: Mapping[str, str]) -> tuple[Cost, Sizes]:
    step = next((step for step in STEPS if step.rule == rule), None)
    if step:
        part, used = study.parts[step.kind, wildcards[step.kind]], {*step.reads, step.makes}
    elif rule == "generate_data":
        part, used = study.datasets[wildcards["dataset"]].generator, {"data"}
    else:
        return RULES.get(rule, NOTHING), _sizes(study, wildcards)
    z = _sizes(study, wildcards)
    streams = z.n * z.D > MAX_IN_MEMORY and find(part.kind, part.name).by_rows
    s = z.s if "codes" in used or "lam" in part.params else 0
    K = z.K if "embedding" in used or part.kind == "method" else 0
    points = 8 * z.n * z.D * min(z.trials, 2) if "data" in used and not streams else 0
    held = z.n * (24 * s + 24 * K)
    if streams:
        # Beyond what is held in memory, the pointers of the codes, or labels.
        held = min(held, 24 * MAX_IN_MEMORY + 16 * z.n)
    z = replace(z, params=part.params, points=points, s=s, K=K, held=held)
    switched = (cost for (key, value), cost in SWITCHES.items() if part.params.get(key) == value)
    return next(switched, PARTS.get(part.name, LANDMARKS)), z


def _sizes(study: Study, wildcards: Mapping[str, str]) -> Sizes:
    """The sizes that the wildcards of a rule name."""
    if images := wildcards.get("images"):
        return Sizes(**_image_sizes(study, images))
    if not wildcards.get("dataset"):
        return Sizes()
    data = study.datasets[wildcards["dataset"]]
    params = data.generator.params
    columns = study.tables[data.table].columns if data.table else MANY_DIMENSIONS
    m, D = int(wildcards.get("m", 0)), params.get("ambient_dim") or params.get("dim") or columns
    return Sizes(
        n=int(wildcards["n"]),
        m=m,
        D=D,
        K=data.n_clusters,
        s=min(m, D, _nonzeros(study, wildcards)),
        trials=len(Block.parse(wildcards["block"]).trials),
        **(_image_sizes(study, data.collection) if data.collection else {}),
    )


def _image_sizes(study: Study, collection: str) -> dict[str, int]:
    images = study.collections[collection]
    return {"N": images.size, "F": images.width or MANY_FEATURES, "shard": min(images.shard, images.size)}


def _nonzeros(study: Study, wildcards: Mapping[str, str]) -> float:
    """Nonzeros of a code: a count, or about lam for points of unit length; a selector may make codes of its own."""
    kind = next((kind for kind in ("coder", "selector") if wildcards.get(kind)), None)
    params = study.parts[kind, wildcards[kind]].params if kind else {}
    for count in ("k", "r", "q", "n_nonzero"):
        if params.get(count):
            return params[count]
    if "lam" in params and study.datasets[wildcards["dataset"]].unit_norm:
        return 1.6 * params["lam"]
    return MANY_NONZEROS if "lam" in params or kind == "coder" else 0
