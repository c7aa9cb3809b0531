"""A run that somebody else repeats from nothing but the archive gives the same score tables."""

import subprocess
import sys

import pytest

from tests.workflow.conftest import Pipeline

pytestmark = pytest.mark.workflow
SCORES = "results/experiments/landmarks/scores.csv"


class Repeat(Pipeline):
    """An unpacked archive, run as its Makefile does."""

    def command(self, *options, cores=2):
        there = ("--directory", str(self.folder), "--snakefile", str(self.folder / "Snakefile"))
        config = ("--replace-workflow-config", "--configfile", str(self.folder.parent / "config.yaml"))
        return [sys.executable, "-m", "snakemake", *there, *config, "--cores", str(cores), *options]


def archiving(*command):
    return subprocess.run(
        [sys.executable, "-m", "lssc.report.archive", *map(str, command)], capture_output=True, text=True
    )


@pytest.fixture
def small(tmp_path):
    """A run of a method that needs little of what `make` compiles: an unpacked source has none of it."""
    pipeline = Pipeline(tmp_path / "mine")
    # Unlike the entries of config.yaml, so that these would be noticed if they came back in a repeat.
    pipeline.config["methods"] = {"fsc_uniform": {"coder": {"name": "lasso_spams", "lam": 7}}}
    pipeline.config["experiments"]["landmarks"] |= {"methods": ["fsc_uniform"], "stream": "s"}
    pipeline.finish(SCORES)
    return pipeline


def test_a_run_repeated_from_its_archive_gives_the_same_scores(small, tmp_path):
    archive, unpacked = tmp_path / "archive.tar.gz", tmp_path / "lssc-archive"
    packed = archiving("pack", "--results", small.folder / "results", "--out", archive)
    assert packed.returncode == 0, packed.stderr
    assert archiving("verify", archive).returncode == 0
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)

    Repeat(unpacked / "source").finish(SCORES)
    same = archiving("compare", unpacked / "results", unpacked / "source/results")
    assert same.stdout == "the repeat gives the same scores (2 rows)\n", same.stderr

    small.config["seed"] = 1
    small.finish(SCORES)
    other = archiving("compare", unpacked / "results", small.folder / "results")
    assert other.returncode == 1
    assert "accuracy" in other.stderr
