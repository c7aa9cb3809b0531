"""What a disturbed run has left is never taken for what another config would make, and a late job harms nobody."""

import fcntl
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from lssc.pipeline.store.locks import lock
from tests.crash.test_crash import begin, environment, wait_for
from tests.workflow.conftest import REPO, Pipeline

__all__ = ["begin"]

OTHER = 77  # a seed
TABLE = "results/experiments/landmarks/scores.csv"
# Jobs that go through a queue of which the test says what becomes of them.
QUEUE = ("--profile", str(REPO / "profiles/cluster-generic"), "--retries", "0")
REFUSES = (*QUEUE, "--cluster-generic-submit-cmd", "false #")
LOSES = (*QUEUE, "--cluster-generic-submit-cmd", "echo 7 #", "--cluster-generic-status-cmd", "echo running #")


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Pipeline:
    """One method, finished; tests must leave it as it is."""
    return finish_small(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> Pipeline:
    """The same of another seed, from nothing."""
    return finish_small(tmp_path_factory.mktemp("other"), seed=OTHER)


def finish_small(folder: Path, **config) -> Pipeline:
    pipeline = of_one_method(folder)
    pipeline.config |= config
    pipeline.finish(TABLE)
    return pipeline


def of_one_method(folder: Path) -> Pipeline:
    pipeline = Pipeline(folder)
    pipeline.experiment["methods"] = ["fsc_uniform"]
    return pipeline


@pytest.fixture
def again(small, tmp_path) -> Pipeline:
    shutil.copytree(small.folder, tmp_path / "run")
    return of_one_method(tmp_path / "run")


def test_the_seeds_differ(small, other):
    assert small.scores() != other.scores()


@pytest.fixture(autouse=True)
def _empty_queue(tmp_path, monkeypatch):
    """A queue that knows of nothing, whatever this machine has."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/squeue").write_text("#!/bin/sh\n")
    (tmp_path / "bin/squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")


def test_jobs_that_could_not_be_submitted_leave_nothing_that_looks_new(again, other):
    again.config["seed"] = OTHER
    assert again.run(TABLE, *REFUSES, cores=None).returncode != 0
    again.finish(TABLE)
    assert again.scores() == other.scores()


def test_what_was_made_while_nobody_kept_records_is_known_all_the_same(again, small, other):
    shutil.rmtree(again.folder / ".snakemake")
    made = {path: path.stat().st_mtime_ns for path in again.folder.glob("results/**/*.h5")}
    # Tables cannot tell.
    assert again.finish(TABLE) == {"gather_scores": 1}
    assert made == {path: path.stat().st_mtime_ns for path in made}
    assert again.scores() == small.scores()
    shutil.rmtree(again.folder / ".snakemake")
    again.config["seed"] = OTHER
    again.finish(TABLE)
    assert again.scores() == other.scores()


def test_results_that_two_working_folders_share_are_of_the_config_that_ran_last(again, small, other, tmp_path):
    second = of_one_method(tmp_path / "second")
    second.config |= {"seed": OTHER, "results": str(again.folder / "results")}
    table = again.folder / TABLE
    second.finish(str(table))
    assert again.scores() == other.scores()
    again.finish(TABLE)
    assert again.scores() == small.scores()


def test_whoever_leaves_parameters_out_gets_files_as_they_are(again):
    again.config["seed"] = OTHER
    assert "generate_data" in again.planned()
    done = again.run("--dry-run", "--rerun-triggers", "mtime", "--", TABLE)
    assert "Nothing to be done" in done.stdout + done.stderr


def test_a_job_of_a_killed_run_that_starts_late_leaves_everything_as_it_is(again, small, begin):
    shutil.rmtree(again.folder / "results")
    run = begin(again, TABLE, *LOSES)
    [script] = wait_for(lambda: submitted(again))
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    again.finish(TABLE)
    made = contents(again)
    late = subprocess.run(["bash", script], capture_output=True, text=True, env=environment(), cwd=again.folder)
    assert late.returncode != 0
    assert "belongs to a later run; this job of an earlier one ends" in late.stderr
    assert contents(again) == made


def submitted(pipeline: Pipeline) -> list[Path]:
    """Scripts of jobs, once the queue has said that it has them."""
    told = "with external jobid '7'" in (pipeline.folder / "output").read_text()
    return list(pipeline.folder.glob(".snakemake/tmp.*/*.sh")) if told else []


def contents(pipeline: Pipeline) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in pipeline.folder.glob("results/**/*") if path.is_file()}


def test_nothing_is_deleted_beside_a_run(again):
    made = contents(again)
    # As a run that is under way.
    held = lock(again.folder / "results/.run", fcntl.LOCK_EX)
    done = again.run("--delete-all-output")
    looked = again.run("--delete-all-output", "--dry-run")
    os.close(held)
    assert done.returncode != 0
    assert "another run is under way" in done.stderr
    assert looked.returncode == 0
    assert contents(again) == made
    assert again.run("--delete-all-output").returncode == 0
    assert not (again.folder / TABLE).exists()
