"""Real small runs of the whole pipeline, each in a folder of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import yaml

REPO = Path(__file__).parents[2]
# Grids that take seconds; laid over config.yaml as any user's config would be.
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
            # The same points for all; and one for a method that is not run here.
            "overrides": {
                "ssc_admm": {"trials": 2},
                "esc_raw": {"trials": 1},
                "esc": {"dataset": "synthetic"},
                "ssc_omp": {"dataset": "synthetic"},
            },
        }
    },
}


class Pipeline:
    """A working folder with a config, and Snakemake to run in it."""

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
            *(("--cores", str(cores)) if cores else ()),
            *options,
        ]

    def run(self, *options: str, cores: int = 2) -> subprocess.CompletedProcess:
        scripts = Path(sys.executable).parent
        environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(
            self.command(*options, cores=cores), capture_output=True, text=True, env=environment, timeout=600
        )

    def finish(self, *options: str, cores: int = 2) -> dict[str, int]:
        """Run to the end; how many jobs of each rule that took."""
        done = self.run(*options, cores=cores)
        assert done.returncode == 0, done.stderr[-4000:]
        return jobs(done)

    def planned(self) -> dict[str, int]:
        """How many jobs of each rule a run would take."""
        return jobs(self.run("--dry-run"))

    def scores(self) -> list[str]:
        """The score table without what depends on the clock."""
        lines = (self.folder / "results/experiments/landmarks/scores.csv").read_text().splitlines()
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


def jobs(done: subprocess.CompletedProcess) -> dict[str, int]:
    """The job table that Snakemake prints, without its total."""
    text = done.stdout + done.stderr
    table = re.search(r"^job +count\n-[- ]+\n((?:\w+ +\d+\n)+)", text, re.MULTILINE)
    rows = [line.split() for line in table.group(1).splitlines()] if table else []
    return {rule: int(count) for rule, count in rows if rule not in ("total", "all")}


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Pipeline:
    """One undisturbed run, to compare with; tests must leave it as it is."""
    pipeline = Pipeline(tmp_path_factory.mktemp("finished"))
    pipeline.finish()
    return pipeline


@pytest.fixture
def pipeline(tmp_path: Path, finished: Pipeline) -> Pipeline:
    """A copy of the finished run, to change at will."""
    subprocess.run(["cp", "-a", f"{finished.folder}/.", str(tmp_path / "run")], check=True)
    return Pipeline(tmp_path / "run")
