"""Real small runs of the whole pipeline, each in a folder of its own."""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
import yaml

from lssc.pipeline.server.client import VARIABLE
from lssc.pipeline.server.serving import serving
from tests.workflow.forking import TIMEOUT, Forker, forking

REPO = Path(__file__).parents[2]
SCORES = "results/experiments/landmarks/scores.csv"
# A grid that takes seconds, merged over config.yaml as any user's config is.
SMALL = {
    "run": ["landmarks"],
    "block": 2,
    "experiments": {
        "landmarks": {
            "n": [100],
            "m": [20],
            "trials": 2,
            "methods": [
                "fsc_uniform",
                "fsc_nonuniform",
                "esc",
                "ssc_omp",
                "ssc_admm_modified",
                "ssc_admm",
                "ssc_lasso",
            ],
            # All methods get the same points. The override of esc_raw has no effect: that method is not in the list.
            "overrides": {
                "ssc_admm": {"trials": 2, "block": 2},
                "esc_raw": {"trials": 1},
                "esc": {"dataset": "synthetic"},
                "ssc_omp": {"dataset": "synthetic"},
            },
        }
    },
}


class Pipeline:
    """A working folder with its config, where Snakemake runs.

    Runs of this checkout share the jobs' server, if there is one; those of a copy, whose code may differ, start theirs.
    All are forked from one process, if there is one.
    """

    server: str | None = None
    forker: Forker | None = None

    def __init__(self, folder: Path, repo: Path = REPO) -> None:
        self.folder, self.repo = folder, repo
        self.config = yaml.safe_load(yaml.safe_dump(SMALL))
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def experiment(self) -> dict:
        return self.config["experiments"]["landmarks"]

    def command(self, *options: str, cores: int | None = 2) -> list[str]:
        (self.folder / "config.yaml").write_text(yaml.safe_dump(self.config))
        return [
            *(sys.executable, "-m", "snakemake", "--snakefile", str(self.repo / "Snakefile")),
            *("--directory", str(self.folder), "--configfile", str(self.folder / "config.yaml")),
            *("--logger-lssc-show-jobs", *(("--cores", str(cores)) if cores else ())),
            *options,
        ]

    def run(self, *options: str, cores: int = 2) -> subprocess.CompletedProcess:
        command = self.command(*options, cores=cores)
        shared = {VARIABLE: self.server} if self.server and self.repo == REPO else {}
        if self.forker:
            return self.forker.run(command[command.index("snakemake") + 1 :], environment() | shared)
        return subprocess.run(command, capture_output=True, text=True, env=environment() | shared, timeout=TIMEOUT)

    def finish(self, *options: str, cores: int = 2) -> dict[str, int]:
        """Run to the end; return the number of jobs by rule."""
        done = self.run(*options, cores=cores)
        assert done.returncode == 0, done.stderr[-4000:]
        return jobs(done)

    def planned(self) -> dict[str, int]:
        """The number of jobs by rule that a run would start."""
        return jobs(self.run("--dry-run"))

    def scores(self) -> list[str]:
        """The score table without the columns that depend on the clock."""
        lines = (self.folder / SCORES).read_text().splitlines()
        keep = [i for i, name in enumerate(lines[0].split(",")) if not re.search("seconds|peak_mb", name)]
        return [",".join(line.split(",")[i] for i in keep) for line in lines]

    def labels(self) -> dict[tuple[str, ...], np.ndarray]:
        """(path without its block, trial) -> labels."""
        found = {}
        for path in self.artifacts("labels"):
            run = tuple(part for part in path.relative_to(self.folder).parts if not re.fullmatch(r"t\d+-\d+", part))
            with h5py.File(path) as file:
                found |= {(*run, trial): group["labels"][()] for trial, group in file.items()}
        return found

    def artifacts(self, name: str) -> list[Path]:
        return sorted(self.folder.glob(f"results/synthetic*/**/{name}.h5"))


def environment() -> dict[str, str]:
    """The environment of an activated virtual environment."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def jobs(done: subprocess.CompletedProcess) -> dict[str, int]:
    """The job table that Snakemake prints, without its total."""
    text = done.stdout + done.stderr
    table = re.search(r"^job +count\n-[- ]+\n((?:\w+ +\d+\n)+)", text, re.MULTILINE)
    rows = [line.split() for line in table.group(1).splitlines()] if table else []
    return {rule: int(count) for rule, count in rows if rule not in ("total", "all")}


def facts(path: Path) -> dict[str, dict]:
    """The facts of each trial in an artifact."""
    with h5py.File(path) as file:
        return {trial: json.loads(group.attrs["facts"]) for trial, group in file.items()}


def arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an artifact by trial and name."""
    with h5py.File(path) as file:
        return {f"{trial}/{name}": data[()] for trial, group in file.items() for name, data in group.items()}


def copy_checkout(folder: Path) -> Path:
    """Copy the parts of this repository that a run needs."""
    folder.mkdir()
    shutil.copy(REPO / "Snakefile", folder)
    for name in ("workflow", "config", "profiles", "envs"):
        shutil.copytree(REPO / name, folder / name)
    return folder


def shared_run(tmp_path_factory, name: str, make) -> Path:
    """The folder of a run that all pytest-xdist workers share: the first one calls `make` on it, the others wait."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    done = base / f"{name}.done"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make(base / name)
            done.touch()
    return base / name


@pytest.fixture(scope="session", autouse=True)
def server() -> Iterator[None]:
    """A server for all runs of a pytest-xdist worker. Other commands of tests do not see it."""
    with serving(), forking() as forker, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pipeline, "server", os.environ[VARIABLE])
        patch.setattr(Pipeline, "forker", forker)
        patch.delenv(VARIABLE)
        yield


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Pipeline:
    """A finished run, shared by all tests; read-only."""
    return Pipeline(shared_run(tmp_path_factory, "finished", lambda folder: Pipeline(folder).finish()))


@pytest.fixture
def pipeline(tmp_path: Path, finished: Pipeline) -> Pipeline:
    """A copy of the finished run that a test may change."""
    subprocess.run(["cp", "-a", f"{finished.folder}/.", str(tmp_path / "run")], check=True)
    return Pipeline(tmp_path / "run")
