"""Shared fixtures. Hypothesis draws the same examples on every run, so that a red test stays red until it is mended."""

import copy
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, settings

from lssc.datasets.synthetic import synthetic
from lssc.scaling import unit_rows

REPO = Path(__file__).parent.parent

settings.register_profile(
    "quick",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("quick")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def points():
    """60 points of 3 subspaces at unit norm, with their labels; read-only."""
    drawn = synthetic(60, n_clusters=3, ambient_dim=12, subspace_dim=3, noise=0.05, rng=np.random.default_rng(7))
    X = unit_rows(drawn.X)
    X.setflags(write=False)
    return X, drawn.labels


@pytest.fixture(scope="session")
def X(points):
    return points[0]


def laid_over(base, top):
    """A config with another laid over it, as Snakemake does with several config files."""
    merged = dict(base)
    for key, value in top.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = laid_over(merged[key], value) if both else value
    return merged


@pytest.fixture(scope="session")
def paper_config():
    return yaml.safe_load((REPO / "config/config.yaml").read_text())


@pytest.fixture(scope="session")
def demo_config(paper_config):
    return laid_over(paper_config, yaml.safe_load((REPO / "config/demo.yaml").read_text()))


SMALL = yaml.safe_load("""
seed: 1
block: 2
results: results/small
run: [grid]
kmeans: { n_init: 2, max_iter: 10 }
datasets:
  plain: { generator: synthetic, n_clusters: 3, unit_norm: true }
  raw: { generator: { name: synthetic, noise: 0.2 }, n_clusters: 3, unit_norm: false }
methods:
  fsc: { label: FSC, selector: uniform, coder: { name: lasso, lam: 10 }, embedder: landmark_svd }
  esc:
    label: ESC
    selector: { name: farthest_first, lam: 10 }
    coder: { name: lasso, lam: 10, exclude_self: false }
    embedder: { name: neighbours, t: 3 }
  omp: { label: OMP, selector: all, coder: { name: omp, k: 2 }, embedder: affinity }
experiments:
  grid:
    dataset: plain
    n: [30, 60]
    m: [6, 9]
    trials: 3
    methods: [fsc, esc, omp]
    overrides: { esc: { trials: 1, dataset: raw } }
  line:
    dataset: plain
    n: [30]
    m: [6, 9]
    trials: 3
    methods: [fsc, esc, omp]
    figures: { fig: { x: m, y: accuracy, methods: [fsc, omp] } }
  sweeping:
    dataset: plain
    stream: tuning
    n: [30]
    m: [6]
    trials: 2
    sweep:
      fsc: { dataset: [plain, raw], lam: [5, 10], scale_rows: [true, false] }
      omp: { k: [1, 2] }
    held: [scale_rows]
""")


@pytest.fixture
def small_config():
    """A small config of its own, so that tests do not depend on the paper's tuned values; free to be changed."""
    return copy.deepcopy(SMALL)
