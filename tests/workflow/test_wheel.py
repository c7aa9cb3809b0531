"""The wheel works in an empty virtual environment, away from the checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv

import pytest

from tests.conftest import REPO

pytestmark = pytest.mark.workflow
CHAIN = """
import importlib.util
import numpy as np
from lssc.data.datasets.synthetic import synthetic
from lssc.linalg.scaling import unit_rows
from lssc.metrics import scores
from lssc.parts.registry import find

assert importlib.util.find_spec("snakemake") is None
assert importlib.util.find_spec("h5py") is None
rng = np.random.default_rng(0)
drawn = synthetic(300, n_clusters=3, ambient_dim=20, subspace_dim=3, noise=0.02, rng=rng)
X = unit_rows(drawn.X)
landmarks = find("selector", "uniform")(X, 60, rng=rng)
codes = find("coder", "omp")(X, landmarks.indices, k=3)
embedding = find("embedder", "landmark_svd")(codes.matrix, n_clusters=3, rng=rng)
clusters = find("clusterer", "kmeans")(embedding.vectors, n_clusters=3, rng=rng)
assert scores(drawn.labels, clusters.labels)["accuracy"] > 0.9
"""
CONFIG = """
import json
import sys
from lssc.pipeline.config.checks import config_problems

config = json.loads(sys.argv[1])
assert config_problems(config) == []
assert len(config_problems({**config, "block": 0})) == 1
"""


class Installed:
    """A virtual environment with the wheel in it."""

    def __init__(self, folder):
        self.folder = folder
        venv.create(folder / "env")
        self.python = str(folder / "env/bin/python")

    def pip(self, *arguments):
        done = self.run([sys.executable, "-m", "pip", *arguments])
        assert done.returncode == 0, done.stderr

    def run(self, command, cwd=None, **options):
        """Run a command that sees no other lssc than the one installed here."""
        # pip, too, would take an lssc on the PYTHONPATH for installed.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment |= {"PYTHONSAFEPATH": "1"}
        return subprocess.run(
            command, cwd=cwd or self.folder, env=environment, capture_output=True, text=True, **options
        )

    def script(self, text, *arguments):
        done = self.run([self.python, "-c", text, *arguments])
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel with the dependencies of the library alone, in the locked versions."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (folder / "source").mkdir(exist_ok=True)
        shutil.copy(REPO / name, folder / "source")
    shutil.copytree(
        REPO / "workflow", folder / "source/workflow", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    installed = Installed(folder)
    installed.pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", "./source")
    locked = re.findall(r"^[\w.-]+==[\w.]+", (REPO / "envs/requirements.lock").read_text(), re.MULTILINE)
    (folder / "constraints.txt").write_text("\n".join(locked))
    [wheel] = (folder / "dist").glob("*.whl")
    installed.pip(
        "--python", installed.python, "install", "--no-compile", "--constraint", "constraints.txt", str(wheel)
    )
    return installed


@pytest.fixture(scope="module")
def with_pipeline(installed):
    """The same environment, which also sees the packages of the extras installed here."""
    [site] = installed.folder.glob("env/lib/python*/site-packages")
    (site / "extras.pth").write_text(sysconfig.get_path("purelib"))
    yield installed
    (site / "extras.pth").unlink()


def test_library_clusters_points_without_extras(installed):
    installed.script(CHAIN)


def test_command_prints_its_help_without_extras(installed):
    done = installed.run([installed.folder / "env/bin/lssc", "--help"])
    assert done.stdout.startswith("usage: lssc"), done.stderr


def test_package_comes_from_the_wheel(with_pipeline):
    done = with_pipeline.run([with_pipeline.python, "-c", "import lssc, snakemake; print(lssc.__file__)"])
    assert done.stdout.startswith(str(with_pipeline.folder)), done.stderr


def test_schema_in_the_wheel_accepts_the_demo(with_pipeline, demo_config):
    with_pipeline.script(CONFIG, json.dumps(demo_config))


def test_template_in_the_wheel_renders_the_same_report(with_pipeline, pipeline):
    printed = pipeline.run("--dry-run", "--printshellcmds", "--force", "results/report.html").stdout
    [arguments] = re.findall(r"-m (lssc\.report\.stages\.write_report .*) 2> ", printed)
    report = pipeline.folder / "results/report.html"
    expected = report.read_text()
    report.unlink()
    done = with_pipeline.run(f"'{with_pipeline.python}' -m {arguments}", cwd=pipeline.folder, shell=True)
    assert done.returncode == 0, done.stderr
    assert report.read_text() == expected
