"""Files left by a disturbed run are never taken for those of another config, and a late job changes nothing."""

import fcntl
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from lssc.pipeline.store.locks import lock
from tests.crash.test_crash import begin, wait_for
from tests.workflow.conftest import REPO, SCORES, Pipeline, environment

__all__ = ["begin"]

OTHER_SEED = 77
# A queue that refuses every job, and one that takes a job and never runs it.
QUEUE = ("--profile", str(REPO / "profiles/cluster-generic"), "--retries", "0")
REFUSES = (*QUEUE, "--cluster-generic-submit-cmd", "false #")
LOSES = (*QUEUE, "--cluster-generic-submit-cmd", "echo 7 #", "--cluster-generic-status-cmd", "echo running #")


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Pipeline:
    """A finished run of one method; read-only."""
    return finish_small(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="module")
def other(tmp_path_factory) -> Pipeline:
    """A finished run of one method with another seed; read-only."""
    return finish_small(tmp_path_factory.mktemp("other"), seed=OTHER_SEED)


def finish_small(folder: Path, **config) -> Pipeline:
    pipeline = of_one_method(folder)
    pipeline.config |= config
    pipeline.finish(SCORES)
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
    """An empty queue, whatever this machine has."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/squeue").write_text("#!/bin/sh\n")
    (tmp_path / "bin/squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")


def test_old_files_of_jobs_that_were_not_submitted_do_not_count_as_new(again, other):
    again.config["seed"] = OTHER_SEED
    assert again.run(SCORES, *REFUSES, cores=None).returncode != 0
    again.finish(SCORES)
    assert again.scores() == other.scores()


def test_artifacts_are_known_without_snakemakes_records(again, small, other):
    shutil.rmtree(again.folder / ".snakemake")
    made = {path: path.stat().st_mtime_ns for path in again.folder.glob("results/**/*.h5")}
    # Tables do not name the job that made them.
    assert again.finish(SCORES) == {"describe_experiment": 1, "gather_scores": 1}
    assert made == {path: path.stat().st_mtime_ns for path in made}
    assert again.scores() == small.scores()
    shutil.rmtree(again.folder / ".snakemake")
    again.config["seed"] = OTHER_SEED
    again.finish(SCORES)
    assert again.scores() == other.scores()


def test_results_shared_by_two_working_folders_follow_the_last_config(again, small, other, tmp_path):
    second = of_one_method(tmp_path / "second")
    second.config |= {"seed": OTHER_SEED, "results": str(again.folder / "results")}
    table = again.folder / SCORES
    second.finish(str(table))
    assert again.scores() == other.scores()
    again.finish(SCORES)
    assert again.scores() == small.scores()


def test_without_the_trigger_params_files_stay_as_they_are(again):
    again.config["seed"] = OTHER_SEED
    assert "generate_data" in again.planned()
    done = again.run("--dry-run", "--rerun-triggers", "mtime", "--", SCORES)
    assert "Nothing to be done" in done.stdout + done.stderr


def test_a_late_job_of_a_killed_run_changes_nothing(again, small, begin):
    shutil.rmtree(again.folder / "results")
    run = begin(again, SCORES, *LOSES)
    [script] = wait_for(lambda: submitted(again))
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    again.finish(SCORES)
    made = contents(again)
    late = subprocess.run(["bash", script], capture_output=True, text=True, env=environment(), cwd=again.folder)
    assert late.returncode != 0
    assert "belongs to a later run; this job of an earlier one ends" in late.stderr
    assert contents(again) == made


def submitted(pipeline: Pipeline) -> list[Path]:
    """Scripts of jobs that the queue has taken."""
    is_submitted = "with external jobid '7'" in (pipeline.folder / "output").read_text()
    return list(pipeline.folder.glob(".snakemake/tmp.*/*.sh")) if is_submitted else []


def contents(pipeline: Pipeline) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in pipeline.folder.glob("results/**/*") if path.is_file()}


def test_deletes_nothing_during_a_run(again):
    made = contents(again)
    # Held as by a run that is under way.
    held = lock(again.folder / "results/.run", fcntl.LOCK_EX)
    done = again.run("--delete-all-output")
    dry = again.run("--delete-all-output", "--dry-run")
    os.close(held)
    assert done.returncode != 0
    assert "another run is under way" in done.stderr
    assert dry.returncode == 0
    assert contents(again) == made
    assert again.run("--delete-all-output").returncode == 0
    assert not (again.folder / SCORES).exists()
