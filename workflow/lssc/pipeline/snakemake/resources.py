"""What a job asks a cluster for: memory and minutes, from the sizes of its run and the parts of its method.

Costs are those of one trial on one core: for time the operations that dominate and the measured seconds of one, for
memory what the interpreter takes with its libraries and the arrays that are alive. Trials of a block follow one
another: their times add up; of their memory only the points do, of which two trials are held for a moment.

Rules and tests alone may import this module: it would enter the fingerprint of a stage, and every better estimate would
run its jobs again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

from lssc.pipeline.study.blocks import Block
from lssc.pipeline.study.model import Part, Study
from lssc.pipeline.study.recipes import reduction_recipe
from lssc.pipeline.study.steps import STEPS
from lssc.types import HELD

MIB = 2**20
# Asked for over what is expected: machines differ, and so do datasets.
MEMORY_MARGIN, TIME_MARGIN = 1.2, 1.4
# Beside the job a node runs Snakemake, twice under Slurm: 152 MB each, and some for the shells around them.
SNAKEMAKE_MB = 400
# Minutes that every job may take: Snakemake and imports start from a shared disk, and a node whose processor is not
# that of the others compiles its kernels first.
LEAST = 5
# Seconds by the clock that a job takes beside its work: Snakemake starts it, and it imports its libraries. For each
# member of a group two more are started on the node.
STARTING, MEMBER = 1.0, 8.0
# MB of an interpreter with what it has imported.
PLAIN, SCIPY, NUMBA, DRAWING = 52, 74, 172, 200
# Parameters beyond this cost no more; long before, more is asked for than there is.
HUGE = 1e18
# Seconds for a MB of points or codes to be read or written, with its checksum; all other files are small.
FILES = 0.01
WITH_POINTS = ("generate_data", "select_landmarks", "code_points", "score_labels")


@dataclass(frozen=True)
class Job:
    """n points of D dimensions and mean squared length `length`, m landmarks, K clusters; `p` are the part's options.

    `spread` says how many landmarks a point needs, `s` is the expected number of nonzeros in its code. Of images there
    are N with F features each, `shard` of them in a file.
    """

    n: int = 0
    m: int = 0
    D: int = 0
    K: int = 0
    trials: int = 1
    length: float = 1.0
    spread: float = 0.0
    s: float = 0.0
    N: int = 0
    F: int = 0
    shard: int = 0
    p: SimpleNamespace = field(default_factory=SimpleNamespace)

    @property
    def X(self) -> float:
        """Bytes of points in memory."""
        return 8 * self.n * self.D * min(self.trials, 2)

    @property
    def read(self) -> float:
        """The same for parts that read by rows what is too large to be held."""
        return self.X if self.n * self.D <= HELD else 0

    @property
    def L(self) -> float:
        """Bytes of landmarks."""
        return 8 * self.m * self.D * min(self.trials, 2)

    @property
    def sample(self) -> int:
        """Points that take part in a search for medoids."""
        return min(self.n, max(self.m, self.p.max_points))

    def nonzeros(self, lam: float) -> float:
        """Of a lasso code: few while the penalty counts, and never more than landmarks or dimensions."""
        bounds = 1 / (self.spread * lam * self.length) + 1 / (0.9 * self.m) + 1 / (1.7 * self.D)
        return min(1 / bounds, self.m, self.D)


class Cost(NamedTuple):
    """MB of the interpreter, bytes of a job's arrays, seconds of a trial, MB to compile its kernel anew."""

    base: float
    bytes: Callable[[Job], float] = lambda j: 0
    seconds: Callable[[Job], float] = lambda j: 0
    compiling: float = 0


def _products(j: Job, lam: float) -> float:
    """Correlations with all landmarks, and their checks as points walk along their paths."""
    one = 2.7e-10 if j.D <= 32 else 8e-11
    return j.n * (3e-6 + j.m * (one * j.D + 2.6e-10 * (lam * j.length) ** 1.3))


def _paths(j: Job, s: float) -> float:
    """Homotopy: s steps, each of which solves a system of up to s unknowns."""
    return 1.05e-9 * j.n * s**3


def _lasso(j: Job) -> float:
    return _products(j, j.p.lam) + _paths(j, j.s)


def _gram(j: Job) -> float:
    """Bytes of the homotopy's inner products of landmarks: all, or those of a block of points."""
    return 2600 * j.m if j.m > 2048 and j.D <= 32 else 8 * j.m**2


def _admm(j: Job) -> float:
    """Screening passes over most points in few dimensions and with a small alpha; elsewhere it cannot."""
    dense = 1.35e-10 * j.n**2 * j.D
    screened = 5.4e-10 * j.p.alpha**0.85 * j.n**1.4 * j.D
    return j.p.max_iter * (min(dense, screened) if j.D <= 32 else dense)


def _moments(j: Job, n: int) -> float:
    """Seconds of principal components of n images."""
    return 6.6e-11 * j.F**2 * (n + j.F)


# Codes are kept as 12 bytes a nonzero, and for a moment as 24.
COSTS: dict[tuple[str, str | None], Cost] = {
    ("generate_data", "synthetic"): Cost(
        PLAIN,
        lambda j: 1.5 * j.read + 8 * j.n,
        lambda j: 4e-8 * j.n * j.D,
    ),
    ("generate_data", "images"): Cost(
        PLAIN,
        lambda j: 16 * j.n * j.D + 4 * j.N * j.D if j.p.pca_on == "all" else 24 * j.n * j.F + 4 * j.shard * j.F,
        lambda j: 5e-8 * j.n * j.D + 4e-9 * j.N * j.D if j.p.pca_on == "all" else 1.4 * _moments(j, j.n),
    ),
    ("featurise_images", "scattering"): Cost(
        80,
        lambda j: 1600 * j.N + 8 * j.shard * j.F,
        lambda j: 1.3e-6 * j.shard * j.F,
    ),
    # Any other.
    ("featurise_images", None): Cost(
        300,
        lambda j: 1600 * j.N + 24 * j.shard * j.F,
        lambda j: 5e-6 * j.shard * j.F,
    ),
    ("reduce_features", None): Cost(
        SCIPY,
        lambda j: 32 * j.F**2 + 12 * j.shard * j.F + 4 * j.N * j.D,
        lambda j: _moments(j, j.N),
    ),
    ("apply_method", None): Cost(NUMBA, lambda j: 3 * j.X, lambda j: 1e-7 * j.n * j.D * j.K, 500),
    ("select_landmarks", "all"): Cost(PLAIN, lambda j: j.X),
    ("select_landmarks", "uniform"): Cost(PLAIN, lambda j: j.read),
    ("select_landmarks", "kmedoids"): Cost(
        NUMBA,
        lambda j: j.read + 12 * j.sample * j.D,
        lambda j: 4e-10 * j.sample * (j.D + 24) * (j.m + 500),
        compiling=235,
    ),
    ("select_landmarks", "kmedoids_full"): Cost(
        NUMBA,
        lambda j: j.X + 8 * j.sample * (j.sample + 2 * j.m),
        lambda j: (4e-8 + 1e-9 * j.D) * j.sample**2,
    ),
    ("select_landmarks", "fasterpam"): Cost(
        NUMBA,
        lambda j: j.X + 4 * j.sample * (j.sample + 1024),
        lambda j: (4.2e-8 + 7e-10 * j.D) * j.sample**2,
    ),
    # Points are coded again as landmarks come: most of them early, by few.
    ("select_landmarks", "farthest_first"): Cost(
        NUMBA,
        lambda j: 2 * j.X + 8 * j.n * j.m,
        lambda j: 1e-5 * j.n + 3 * _products(j, j.p.lam) + j.m / 500 * _paths(j, j.nonzeros(j.p.lam)),
        compiling=350,
    ),
    ("code_points", "lasso"): Cost(
        NUMBA,
        lambda j: j.read + 2 * j.L + 24 * j.n * j.s + 8 * j.n + _gram(j),
        _lasso,
        compiling=325,
    ),
    ("code_points", "lasso_spams"): Cost(
        NUMBA,
        lambda j: 2 * j.X + 2 * j.L + 24 * j.n * j.s + 8 * j.m * (j.m + 1024),
        lambda j: 8 * _lasso(j),
    ),
    ("code_points", "omp"): Cost(
        NUMBA,
        lambda j: 1.5 * (j.X + j.L) + 24 * j.n * j.s,
        lambda j: 3.3e-11 * j.n * j.m * j.p.k * (j.D + 12),
        compiling=245,
    ),
    # In full: eight n x n matrices; otherwise some of n x 64.
    ("code_points", "admm"): Cost(
        NUMBA,
        lambda j: j.X + (64 * j.n**2 if j.p.products == "dense" else 5120 * j.n + 24 * j.n * j.s),
        lambda j: 7.3e-11 * j.n**3 * j.p.max_iter if j.p.products == "dense" else _admm(j),
        compiling=265,
    ),
    ("code_points", "admm_modified"): Cost(
        NUMBA,
        lambda j: j.X + (32 * j.n**2 if j.p.plain else 5120 * j.n + 24 * j.n * j.s),
        lambda j: (1.2e-8 + 1.5e-10 * j.D) * j.n**2 * j.p.max_iter if j.p.plain else _admm(j),
        compiling=265,
    ),
    ("embed_points", "landmark_svd"): Cost(
        NUMBA,
        lambda j: 20 * j.n * j.s + 24 * j.n * j.K + 16 * min(j.m, j.p.gram_up_to) ** 2,
        lambda j: j.n * (5e-7 + 1e-9 * j.s**2) + 7e-11 * min(j.m, j.p.gram_up_to) ** 3,
    ),
    ("embed_points", "neighbours"): Cost(
        NUMBA,
        lambda j: j.n * (24 * j.s + 64 * j.p.t + 1536) + (j.n * (8 * j.m + 4096) if j.s > 0.15 * j.m else 0),
        lambda j: 5e-5 * j.n + j.n**2 * min(1.5e-9 * j.s**2 / j.m, 5e-11 * j.m),
    ),
    ("embed_points", "affinity"): Cost(SCIPY, lambda j: j.n * (64 * j.s + 1536), lambda j: j.n * (3e-5 + 3e-7 * j.s)),
    ("embed_points", "explicit"): Cost(SCIPY, lambda j: 17 * j.n**2, lambda j: 1.1e-10 * j.n**3),
    ("cluster_points", "kmeans"): Cost(
        NUMBA,
        lambda j: j.n * (16 * j.K + 24),
        lambda j: 7e-9 * j.p.n_init * j.n * j.K**2,
        compiling=210,
    ),
    ("score_labels", None): Cost(85, lambda j: 64 * j.n, lambda j: 1e-7 * j.n),
    ("gather_scores", None): Cost(SCIPY),
    ("plot_figures", None): Cost(DRAWING),
    # One trial of each method: its images, and a picture of every landmark.
    ("draw_pictures", None): Cost(
        DRAWING,
        lambda j: 1200 * j.N + j.trials * (784 * j.n + 2e5 * j.m),
        lambda j: 3.5 + 6e-5 * j.n,
    ),
    ("compare_embeddings", None): Cost(85, lambda j: 64 * j.n),
    ("check_claims", None): Cost(SCIPY),
    ("choose_parameters", None): Cost(220),
    ("write_report", None): Cost(290, seconds=lambda j: 16),
    # The network's minutes.
    ("fetch_images", None): Cost(250, seconds=lambda j: 600),
}
# A part that is not in the table: matrices in full, and nothing clever.
UNKNOWN = Cost(300, lambda j: 3 * j.X + 24 * j.n * max(j.m, j.D), lambda j: 1e-8 * j.n * (j.m + 1000) * (j.D + 16))

# Nonzeros of a point's code, by coder; as many as there can be for one that is not here.
NONZEROS: dict[str, Callable[[Job], float]] = {
    "lasso": lambda j: j.nonzeros(j.p.lam),
    "lasso_spams": lambda j: j.nonzeros(j.p.lam),
    "omp": lambda j: j.p.k,
    "admm": lambda j: 3.5 * j.p.alpha**0.52,
    "admm_modified": lambda j: 3.5 * j.p.alpha**0.52,
}
# Nonzeros of a code over lambda, where lambda is small. Landmarks far from each other explain a point together.
SPREAD = {"all": 1.6, "uniform": 1.6, "kmedoids": 1.6, "kmedoids_full": 1.6, "fasterpam": 1.6}
FARTHEST = 2.5
# Dimensions and mean squared length of points as drawn, by dataset; many and long for one that is not here.
POINTS: dict[str, Callable[[Any], tuple[int, float]]] = {
    "synthetic": lambda p: (p.ambient_dim, p.subspace_dim + p.ambient_dim * p.noise**2),
    "images": lambda p: (p.dim, 107),
}
# Features of an image where their part does not tell.
WIDE = 4096
# Which part of a path a rule runs.
KINDS = {
    "featurise_images": "features",
    "generate_data": "dataset",
    **{step.rule: step.kind for step in STEPS},
}


class Limits(NamedTuple):
    """Of a cluster: how many times slower its nodes are, and the most that any job may ask for.

    A year and 1 PB if nothing is said: config takes numbers of any size, a cluster does not.
    """

    slower: int = 1
    max_runtime: int = 365 * 24 * 60
    max_mem_mb: int = 2**30


NONE = Limits()


def ask(
    study: Study, rule: str, wildcards: Mapping[str, str], attempt: int = 1, limits: Limits = NONE
) -> dict[str, int]:
    """`mem_mb` and `runtime` (minutes) of a job, doubled with every attempt after the first."""
    again = 2 ** (attempt - 1)
    minutes = limits.slower * TIME_MARGIN * seconds(study, rule, wildcards) / 60
    memory = again * math.ceil(megabytes(study, rule, wildcards) + SNAKEMAKE_MB)
    runtime = again * max(LEAST, math.ceil(minutes))
    return {"mem_mb": min(memory, limits.max_mem_mb), "runtime": min(runtime, limits.max_runtime)}


def group_minutes(expected: Sequence[float], attempt: int = 1, limits: Limits = NONE) -> int:
    """`runtime` of jobs that follow each other in one submission, from their expected seconds."""
    work = limits.slower * TIME_MARGIN * (sum(expected) + MEMBER * len(expected))
    return min(2 ** (attempt - 1) * (LEAST + math.ceil(work / 60)), limits.max_runtime)


def expected_seconds(study: Study, rule: str, wildcards: Mapping[str, str]) -> float:
    """What a job should take by the clock."""
    return min(STARTING + seconds(study, rule, wildcards), 60 * NONE.max_runtime)


def megabytes(study: Study, rule: str, wildcards: Mapping[str, str]) -> float:
    """What a job's own process may take: its arrays, or the compiler first."""
    cost, job = _cost(study, rule, wildcards)
    return max(MEMORY_MARGIN * (cost.base + cost.bytes(job) / MIB), cost.compiling)


def seconds(study: Study, rule: str, wildcards: Mapping[str, str]) -> float:
    """What all trials of a job are expected to take on one core."""
    cost, job = _cost(study, rule, wildcards)
    moved = job.n * (8 * job.D * (rule in WITH_POINTS) + 12 * job.s)
    return job.trials * (cost.seconds(job) + FILES * moved / MIB)


def _cost(study: Study, rule: str, wildcards: Mapping[str, str]) -> tuple[Cost, Job]:
    job, other = _job(study, wildcards), COSTS.get((rule, None), UNKNOWN)
    if rule not in KINDS:
        return other, job
    part = _part(study, KINDS[rule], wildcards)
    return COSTS.get((rule, part.name), other), replace(job, p=_params(part))


def _part(study: Study, kind: str, wildcards: Mapping[str, str]) -> Part:
    if kind == "dataset":
        return study.datasets[wildcards["dataset"]].generator
    if kind == "features":
        return study.collections[wildcards["images"]].features
    return study.parts[kind, wildcards[kind]]


def _params(part: Part) -> SimpleNamespace:
    """A part's options, none so large that a cost overflows."""
    bounded = {key: min(value, HUGE) for key, value in part.params.items() if isinstance(value, float)}
    return SimpleNamespace(**{**part.params, **bounded})


def _job(study: Study, wildcards: Mapping[str, str]) -> Job:
    """The sizes that the wildcards of a rule tell."""
    if id := wildcards.get("experiment"):
        shown, images = study.experiments[id].pictures, study.collections_of(id)
        drawn = {"m": shown["m"], "trials": len(shown["methods"]), **_images(study, images[0])} if shown else {}
        return Job(n=max(study.experiments[id].ns), **drawn)
    if id := wildcards.get("images"):
        reduction = wildcards.get("reduction")
        return Job(
            D=json.loads(reduction_recipe(study, id, reduction))["dim"] if reduction else 0, **_images(study, id)
        )
    return _run(study, wildcards) if wildcards.get("dataset") else Job()


def _images(study: Study, id: str) -> dict[str, int]:
    images = study.collections[id]
    return {"N": images.size, "F": images.width or WIDE, "shard": min(images.shard, images.size)}


def _run(study: Study, wildcards: Mapping[str, str]) -> Job:
    """The sizes of a run, as far as its path has got."""
    data = study.datasets[wildcards["dataset"]]
    D, length = POINTS.get(data.generator.name, lambda p: (1000, 100))(_params(data.generator))
    job = Job(
        n=int(wildcards["n"]),
        m=int(wildcards.get("m", 0)),
        D=D,
        K=data.n_clusters,
        trials=len(Block.parse(wildcards["block"]).trials),
        length=1 if data.unit_norm else length,
        **(_images(study, data.collection) if data.collection else {}),
    )
    if wildcards.get("selector"):
        job = replace(job, spread=SPREAD.get(_part(study, "selector", wildcards).name, FARTHEST))
    if wildcards.get("coder"):
        coder = _part(study, "coder", wildcards)
        nonzeros = NONZEROS.get(coder.name, lambda j: min(j.m, j.D))
        job = replace(job, s=nonzeros(replace(job, p=_params(coder))))
    return job
