"""Repeating a run from its archive alone gives the same score tables."""

import subprocess
import sys

import pytest

from lssc.kernels.compiled import cache_folder
from tests.workflow.conftest import Pipeline

pytestmark = pytest.mark.workflow
SCORES = "results/experiments/landmarks/scores.csv"


class Repeat(Pipeline):
    """An unpacked archive, run as its Makefile does."""

    server = None

    def command(self, *options, cores=2):
        there = ("--directory", str(self.folder), "--snakefile", str(self.folder / "Snakefile"))
        config = ("--replace-workflow-config", "--configfile", str(self.folder.parent / "config.yaml"))
        return [sys.executable, "-m", "snakemake", *there, *config, "--cores", str(cores), *options]


def run_archive(*command):
    return subprocess.run(
        [sys.executable, "-m", "lssc.report.archive", *map(str, command)], capture_output=True, text=True
    )


@pytest.fixture
def small(tmp_path):
    pipeline = Pipeline(tmp_path / "mine")
    # Not the values of config.yaml, to notice if a repeat used those.
    pipeline.config["methods"] = {"fsc_uniform": {"coder": {"name": "lasso_spams", "lam": 7}}}
    pipeline.config["experiments"]["landmarks"] |= {"methods": ["fsc_uniform"], "stream": "s"}
    pipeline.finish(SCORES)
    return pipeline


@pytest.fixture
def compiled(monkeypatch):
    """An unpacked source has no compiled kernels; its kernels are those of this checkout."""
    if cache_folder():
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache_folder().parents[1]))


def test_repeat_from_archive_gives_same_scores(small, compiled, tmp_path):
    archive, unpacked = tmp_path / "archive.tar.gz", tmp_path / "lssc-archive"
    packed = run_archive("pack", "--results", small.folder / "results", "--out", archive)
    assert packed.returncode == 0, packed.stderr
    assert run_archive("verify", archive).returncode == 0
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)

    Repeat(unpacked / "source").finish(SCORES)
    same = run_archive("compare", unpacked / "results", unpacked / "source/results")
    assert same.stdout == "the repeat gives the same scores (2 rows)\n", same.stderr

    small.config["seed"] = 1
    small.finish(SCORES)
    other = run_archive("compare", unpacked / "results", small.folder / "results")
    assert other.returncode == 1
    assert "accuracy" in other.stderr
