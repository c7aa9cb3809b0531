"""Runs through a real Slurm give the labels of a local run, whatever happens to jobs and controller."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import time

import numpy as np
import pytest

from tests.slurm.cluster import Cluster, output_of, wait_until
from tests.slurm.conftest import Remote
from tests.workflow.conftest import SCORES, Pipeline

pytestmark = pytest.mark.slurm

FEW = ["fsc_uniform", "ssc_omp"]
# MB: less than Snakemake itself takes on a node, and enough.
TOO_LITTLE, ENOUGH = 100, 1000


def check_same(run: Remote, finished: Pipeline) -> None:
    """Labels and scores are those of the local run, for the methods that were run."""
    head, *rows = finished.scores()
    column = head.split(",").index("method")
    assert run.scores() == [head, *(row for row in rows if row.split(",")[column] in run.experiment["methods"])]
    labels, expected = run.labels(), finished.labels()
    assert labels.keys() <= expected.keys()
    assert labels.keys() == expected.keys() or run.experiment["methods"] != finished.experiment["methods"]
    for name, value in labels.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=str(name))


def history(cluster: Cluster, run: Remote) -> list[tuple[str, str, str]]:
    """Comment, state and memory of all jobs of a run, in order of submission."""
    lines = output_of("squeue", "--noheader", "--states=all", "--sort=i", "--format=%j|%k|%T|%m").splitlines()
    return [tuple(line.split("|")[1:]) for line in lines if run.owner in line]


@pytest.mark.parametrize(("profile", "methods"), [("slurm", None), ("cluster-generic", FEW)])
def test_cancelled_jobs_and_lack_of_memory_change_no_label(profile, methods, cluster, finished, begin, tmp_path):
    less = f"gather_scores:mem_mb={TOO_LITTLE} if attempt == 1 else {ENOUGH}"
    run = Remote(tmp_path / "run", profile, methods, options=("--set-resources", less))
    controller = begin(run)
    running = wait_until(lambda: run.artifacts("data") and cluster.jobs("RUNNING"), "data are there")
    output_of("scancel", *running)
    shares = shares_used(cluster, controller)
    assert controller.wait(timeout=600) == 0, run.output[-4000:]
    check_same(run, finished)
    # With the other profile a node runs one Snakemake less, and jobs end before Slurm has measured them.
    assert profile != "slurm" or 0.5 < statistics.median(shares) < 1
    past = history(cluster, run)
    assert [state for comment, state, _ in past if "generate_data" in comment] == ["CANCELLED", "COMPLETED"]
    tables = [(state, memory) for comment, state, memory in past if "gather_scores" in comment]
    assert tables == [("FAILED", f"{TOO_LITTLE}M"), ("COMPLETED", f"{ENOUGH}M")]
    assert (run.folder / "results/report.html").is_file()
    check_output(run)


def shares_used(cluster: Cluster, controller: subprocess.Popen) -> list[float]:
    """Shares of the requested memory that jobs use, until the controller ends."""
    shares = {}
    while controller.poll() is None:
        for id, (used, requested) in cluster.memory().items():
            shares[id] = max(shares.get(id, 0), used / requested)
        time.sleep(1)
    return list(shares.values())


def check_output(run: Remote) -> None:
    """The log has every job, and the progress counts them all."""
    total = int(run.output.split("\ntotal ")[1].split()[0])
    done = [line for line in run.output.splitlines() if line.startswith("lssc: ")][-1]
    assert done.startswith(f"lssc: {total} jobs done in ")
    assert run.output.count("rule code_points:") == len(run.artifacts("codes"))
    failed = [path for path in (run.folder / "logs").rglob("*.log") if "exceeded memory limit" in path.read_text()]
    assert len(failed) == 1


@pytest.mark.parametrize("profile", ["slurm", "cluster-generic"])
def test_the_next_run_cancels_jobs_of_a_killed_controller(profile, cluster, finished, begin, tmp_path):
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


def test_reports_an_unknown_account(cluster, tmp_path, monkeypatch):
    (tmp_path / "sacctmgr").write_text("#!/bin/sh\necho others\n")
    (tmp_path / "sacctmgr").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    run = Remote(
        tmp_path / "run", "slurm", FEW, options=("--retries", "0", "--default-resources", "slurm_account=mine")
    )
    done = run.run(SCORES)
    assert done.returncode != 0
    assert "The given account mine appears to be invalid" in done.stderr


def test_reports_why_sbatch_refuses_a_group(cluster, tmp_path, monkeypatch):
    message = "sbatch: error: Batch job submission failed: Requested time limit is invalid"
    (tmp_path / "sbatch").write_text(f"#!/bin/sh\necho '{message}' >&2\nexit 1\n")
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    done = Remote(tmp_path / "run", "slurm", FEW, options=("--retries", "0")).run(SCORES)
    assert done.returncode != 0
    assert message in done.stderr
