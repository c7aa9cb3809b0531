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

pytestmark = [pytest.mark.workflow, pytest.mark.slow]
WITHOUT_EXTRAS = """
import importlib.util

assert importlib.util.find_spec("snakemake") is None
assert importlib.util.find_spec("h5py") is None
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
        # The kernels are those of the checkout, so their machine code is, too.
        environment |= {"PYTHONSAFEPATH": "1", "NUMBA_CACHE_DIR": str(REPO / "workflow/lssc/kernels/__pycache__")}
        return subprocess.run(
            command, cwd=cwd or self.folder, env=environment, capture_output=True, text=True, **options
        )

    def script(self, text, *arguments):
        done = self.run([self.python, "-c", text, *arguments])
        assert done.returncode == 0, done.stderr
        return done.stdout


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


def test_example_of_the_readme_runs_without_extras(installed):
    [code] = re.findall(r"```python\n(.*?)```", (REPO / "README.md").read_text(), re.DOTALL)
    printed = installed.script(WITHOUT_EXTRAS + code)
    assert printed.splitlines() == re.findall(r"print\(.*\)  # (.*)", code)


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


def test_installed_package_runs_the_workflow_of_a_checkout(with_pipeline):
    """The checkout has no package: rules and jobs import the wheel."""
    checkout = with_pipeline.folder / "checkout"
    ignore = shutil.ignore_patterns("lssc", "snakemake_logger_plugin_lssc", "*.egg-info")
    for name in ("workflow", "config", "profiles", "envs"):
        shutil.copytree(REPO / name, checkout / name, ignore=ignore)
    shutil.copy(REPO / "Snakefile", checkout)
    methods = {"trials": 2, "n": [100], "m": [20], "methods": ["fsc_uniform", "ssc_omp"], "figures": {}}
    config = {"run": ["landmarks"], "experiments": {"landmarks": {**methods, "overrides": {}}}}
    (checkout / "small.json").write_text(json.dumps(config))
    command = [with_pipeline.python, "-m", "snakemake", "--cores", "2", "--configfile", "small.json"]
    done = with_pipeline.run([*command, "--until", "gather_scores"], cwd=checkout)
    assert done.returncode == 0, done.stderr[-4000:]
    assert len((checkout / "results/experiments/landmarks/scores.csv").read_text().splitlines()) == 5
