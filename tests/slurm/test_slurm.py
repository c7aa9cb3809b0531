"""The pipeline through a real Slurm: the labels of a local run, whatever happens to jobs and controller on the way."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import time

import numpy as np
import pytest

from tests.slurm.cluster import Cluster, say, wait_until
from tests.slurm.conftest import Remote
from tests.workflow.conftest import Pipeline

pytestmark = pytest.mark.slurm

SCORES = "results/experiments/landmarks/scores.csv"
FEW = ["fsc_uniform", "ssc_omp"]
# Less than Snakemake itself takes on a node, at first.
TOO_LITTLE, ENOUGH = 100, 1000


def check_same(run: Remote, finished: Pipeline) -> None:
    """Every label and every score but for the clock, of the methods that were run."""
    head, *rows = finished.scores()
    place = head.split(",").index("method")
    assert run.scores() == [head, *(row for row in rows if row.split(",")[place] in run.experiment["methods"])]
    ours, theirs = run.labels(), finished.labels()
    assert ours.keys() <= theirs.keys()
    assert ours.keys() == theirs.keys() or run.experiment["methods"] != finished.experiment["methods"]
    for name, value in ours.items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=str(name))


def history(cluster: Cluster, run: Remote) -> list[tuple[str, str, str]]:
    """Comment, state and memory of all jobs of a run, in the order of their submission."""
    lines = say("squeue", "--noheader", "--states=all", "--sort=i", "--format=%j|%k|%T|%m").splitlines()
    return [tuple(line.split("|")[1:]) for line in lines if run.owner in line]


@pytest.mark.parametrize(("profile", "methods"), [("slurm", None), ("cluster-generic", FEW)])
def test_cancelled_and_short_of_memory_a_run_ends_with_every_label_of_a_local_one(
    profile, methods, cluster, finished, begin, tmp_path
):
    less = f"gather_scores:mem_mb={TOO_LITTLE} if attempt == 1 else {ENOUGH}"
    run = Remote(tmp_path / "run", profile, methods, options=("--set-resources", less))
    controller = begin(run)
    running = wait_until(lambda: run.artifacts("data") and cluster.jobs("RUNNING"), "data are there")
    say("scancel", *running)
    shares = shares_used(cluster, controller)
    assert controller.wait(timeout=600) == 0, run.output[-4000:]
    check_same(run, finished)
    # The other profile runs one Snakemake less, and its few jobs are over before Slurm has counted.
    assert profile != "slurm" or 0.5 < statistics.median(shares) < 1
    past = history(cluster, run)
    assert [state for comment, state, _ in past if "generate_data" in comment] == ["CANCELLED", "COMPLETED"]
    tables = [(state, memory) for comment, state, memory in past if "gather_scores" in comment]
    assert tables == [("FAILED", f"{TOO_LITTLE}M"), ("COMPLETED", f"{ENOUGH}M")]
    assert (run.folder / "results/report.html").is_file()
    check_told(run)


def shares_used(cluster: Cluster, controller: subprocess.Popen) -> list[float]:
    """Of the memory that jobs ask for, until the controller ends."""
    shares = {}
    while controller.poll() is None:
        for id, (used, asked) in cluster.memory().items():
            shares[id] = max(shares.get(id, 0), used / asked)
        time.sleep(1)
    return list(shares.values())


def check_told(run: Remote) -> None:
    """The log knows every job, and the lines on progress count them all."""
    total = int(run.output.split("\ntotal ")[1].split()[0])
    done = [line for line in run.output.splitlines() if line.startswith("lssc: ")][-1]
    assert done.startswith(f"lssc: {total} jobs done in ")
    assert run.output.count("rule code_points:") == len(run.artifacts("codes"))
    failed = [path for path in (run.folder / "logs").rglob("*.log") if "exceeded memory limit" in path.read_text()]
    assert len(failed) == 1


@pytest.mark.parametrize("profile", ["slurm", "cluster-generic"])
def test_jobs_of_a_killed_controller_are_gone_before_the_next_one_writes(profile, cluster, finished, begin, tmp_path):
    # More submissions than CPUs, so that some wait in the queue.
    methods = [*FEW, "ssc_admm_modified", "ssc_lasso"]
    run = Remote(tmp_path / "run", profile, methods, options=("--group-components", "codes=1"))
    controller = begin(run, SCORES)
    wait_until(lambda: cluster.jobs("RUNNING") and cluster.jobs("PENDING"), "some jobs run and others wait")
    os.kill(controller.pid, signal.SIGKILL)
    controller.wait()
    left, killed = cluster.jobs(), run.owner
    assert left
    again = begin(run, SCORES)
    wait_until(lambda: run.owner not in (None, killed), "the next run has the folder")
    assert not left.keys() & cluster.jobs().keys()
    assert again.wait(timeout=600) == 0, run.output[-4000:]
    assert "had left behind" in run.output
    check_same(run, finished)


def test_an_account_that_does_not_exist_is_told(cluster, tmp_path, monkeypatch):
    (tmp_path / "sacctmgr").write_text("#!/bin/sh\necho others\n")
    (tmp_path / "sacctmgr").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    run = Remote(
        tmp_path / "run", "slurm", FEW, options=("--retries", "0", "--default-resources", "slurm_account=mine")
    )
    done = run.run(SCORES)
    assert done.returncode != 0
    assert "The given account mine appears to be invalid" in done.stderr


def test_what_sbatch_says_to_a_group_is_told(cluster, tmp_path, monkeypatch):
    said = "sbatch: error: Batch job submission failed: Requested time limit is invalid"
    (tmp_path / "sbatch").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = Remote(tmp_path / "run", "slurm", FEW, options=("--retries", "0")).run(SCORES)
    assert done.returncode != 0
    assert said in done.stderr
