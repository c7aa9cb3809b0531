"""A run that somebody else repeats from nothing but the archive gives the same score tables."""

import subprocess
import sys

import pytest

from tests.workflow.conftest import Pipeline

pytestmark = pytest.mark.workflow


def archiving(*command):
    return subprocess.run([sys.executable, "-m", "lssc.archiving", *map(str, command)], capture_output=True, text=True)


@pytest.fixture
def small(tmp_path):
    """A method that needs little of what `make` compiles: an unpacked source has none of it."""
    pipeline = Pipeline(tmp_path / "mine")
    # Unlike the paper's entries, so that nothing of those may come back in a repeat.
    pipeline.config["methods"] = {"fsc_uniform": {"coder": {"name": "lasso_spams", "lam": 7}}}
    pipeline.config["experiments"]["landmarks"] |= {"methods": ["fsc_uniform"], "stream": "s", "overrides": {}}
    pipeline.finish()
    return pipeline


def test_a_run_repeated_from_its_archive_gives_the_same_scores(small, tmp_path):
    archive = tmp_path / "archive.tar.gz"
    packed = archiving("pack", "--results", small.folder / "results", "--out", archive)
    assert packed.returncode == 0, packed.stderr
    assert archiving("verify", archive).returncode == 0
    subprocess.run(["tar", "-xzf", archive, "-C", tmp_path], check=True)
    unpacked = tmp_path / "lssc-archive"

    class Repeat(Pipeline):
        def command(self, *options, cores=2):
            config = ("--replace-workflow-config", "--configfile", str(unpacked / "config.yaml"))
            return [sys.executable, "-m", "snakemake", "--cores", str(cores), *config, *options]

        def run(self, *options, cores=2):
            return super().run("--directory", str(self.folder), "--snakefile", str(self.repo / "Snakefile"), *options)

    repeat = Repeat(unpacked / "source", unpacked / "source")
    repeat.finish()
    same = archiving("compare", unpacked / "results", repeat.folder / "results")
    assert same.stdout == "the repeat gives the same scores (2 rows)\n", same.stderr
    figure = "experiments/landmarks/figures/fig1a.csv"
    assert (repeat.folder / "results" / figure).read_text() == (unpacked / "results" / figure).read_text()

    repeat.finish("--config", "seed=1", "results=results/other")
    other = archiving("compare", unpacked / "results", repeat.folder / "results/other")
    assert other.returncode == 1
    assert "accuracy" in other.stderr
