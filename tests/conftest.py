"""Shared fixtures and configs. Hypothesis is derandomised: a failing test fails on every run."""

import os

# Before NumPy starts: the threads of two workers on two cores wait for each other longer than they compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import copy
import hashlib
import struct
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from lssc.data.datasets.synthetic import synthetic
from lssc.errors import ConfigError
from lssc.linalg.scaling import unit_rows

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


def pytest_addoption(parser):
    parser.addoption("--core", action="store_true", help="skip tests that need packages which only an extra brings")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """UMAP compiles for seconds in every process: its code cannot be cached."""
    for item in items:
        if "umap_hdbscan" in item.name:
            item.add_marker("slow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    return (yield from skipping_without_extras(item.config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    return (yield from skipping_without_extras(item.config))


def skipping_without_extras(config):
    """With --core, a missing package skips the test that needs it. Without, it fails the test."""
    try:
        return (yield)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if config.getoption("--core") and package != "lssc" and find_spec(package) is None:
            pytest.skip(f"needs {package}, which only an extra brings")
        raise


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def points():
    """60 unit-norm points from 3 subspaces, with their labels; read-only."""
    drawn = synthetic(60, n_clusters=3, ambient_dim=12, subspace_dim=3, noise=0.05, rng=np.random.default_rng(7))
    X = unit_rows(drawn.X)
    X.setflags(write=False)
    return X, drawn.labels


@pytest.fixture(scope="session")
def X(points):
    return points[0]


def merge_configs(base, top):
    """Merge two configs as Snakemake merges config files."""
    merged = dict(base)
    for key, value in top.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge_configs(merged[key], value) if both else value
    return merged


def parse(text):
    # Imported on use: the library's tests run where only the core is installed.
    import yaml

    return yaml.safe_load(text)


@pytest.fixture(scope="session")
def paper_config():
    return parse((REPO / "config/config.yaml").read_text())


@pytest.fixture(scope="session")
def demo_config(paper_config):
    return merge_configs(paper_config, parse((REPO / "config/demo.yaml").read_text()))


SMALL = """
seed: 1
block: 2
results: results/small
data: data
run: [grid]
images: {}
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
"""


@pytest.fixture
def small_config():
    """The small config, which does not depend on the paper's tuned values."""
    return parse(SMALL)


# Images by class of the collection below.
TINY_COUNTS = [14, 12, 10]
# Merged over SMALL: a collection of 36 images in 3 classes, and experiments on them.
TINY = """
run: [grid, seen]
images:
  tiny:
    sources: [{ name: npm, package: tiny@1.0.0 }, { name: debian, package: tiny }]
    counts: [14, 12, 10]
    features: scattering
    shard: 10
tables:
  tiny_table:
    sources: [{ name: pypi, package: tiny==1.0 }]
    reader: text
    counts: [4, 4, 4]
    columns: 3
    sha256: { raw/tiny.dat: TINY_TABLE_SHA }
datasets:
  table: { generator: { name: table, table: tiny_table }, unit_norm: true }
  two: { generator: { name: images, collection: tiny, classes: [0, 2], dim: 5 }, n_clusters: 2, unit_norm: true }
  every: { generator: { name: images, collection: tiny, pca_on: subset, dim: 5 }, n_clusters: 3, unit_norm: true }
experiments:
  seen:
    dataset: two
    n: [20, 24]
    m: [6]
    trials: 2
    methods: [fsc, esc]
    overrides: { fsc: { params: { lam: 5 } } }
  whole: { dataset: every, n: [36], m: [6], trials: 2, methods: [fsc] }
  tabled: { dataset: table, m: [4], trials: 2, methods: [fsc] }
"""
# Twelve points of three numbers, and their classes.
TINY_TABLE = "".join(f"{i},{i * i}, {i % 3},{'abc'[i // 4]}\n" for i in range(12)).encode()
TINY = TINY.replace("TINY_TABLE_SHA", hashlib.sha256(TINY_TABLE).hexdigest())


def idx_file(array):
    """The bytes of an idx file of unsigned bytes."""
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


@pytest.fixture(scope="module")
def tiny_files():
    """The four files of the tiny collection by name: 24 + 12 random images of 8 x 6 pixels."""
    rng = np.random.default_rng(3)
    labels = rng.permutation(np.repeat([0, 1, 2], TINY_COUNTS))
    pixels = rng.integers(256, size=(36, 8, 6))
    return {
        "train-images-idx3-ubyte": idx_file(pixels[:24]),
        "train-labels-idx1-ubyte": idx_file(labels[:24]),
        "t10k-images-idx3-ubyte": idx_file(pixels[24:]),
        "t10k-labels-idx1-ubyte": idx_file(labels[24:]),
    }


@pytest.fixture
def image_config(small_config, tiny_files):
    """The small config with a collection of images."""
    config = merge_configs(small_config, parse(TINY))
    config["images"]["tiny"]["sha256"] = {name: hashlib.sha256(raw).hexdigest() for name, raw in tiny_files.items()}
    return config


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


def changed(config, where, value):
    """A copy of the config with a new value at a dotted path; MISSING deletes the key."""
    config = copy.deepcopy(config)
    *way, last = where.split(".") if isinstance(where, str) else where
    owner = config
    for step in way:
        owner = owner[step]
    if value is MISSING:
        del owner[last]
    else:
        owner[last] = value
    return config


def problems_of(config):
    """The error lines of an invalid config."""
    from lssc.pipeline.study.load import load

    with pytest.raises(ConfigError) as caught:
        load(config)
    return str(caught.value).splitlines()
