"""The profiles fit each other and the workflow; `make test-slurm` tests them on a cluster."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from snakemake.target_jobs import parse_target_jobs_cli_args
from snakemake_interface_executor_plugins.utils import TargetSpec, encode_target_jobs_cli_args

from lssc.pipeline.study.load import load

REPO = Path(__file__).parents[4]
CLUSTERS = ("slurm", "cluster-generic")
FORGOTTEN = "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"


def profile(name: str) -> dict:
    return yaml.safe_load((REPO / f"profiles/{name}/config.yaml").read_text())


@pytest.mark.parametrize("name", CLUSTERS)
def test_default_profile_overrides_no_key_of_a_cluster(name):
    assert not profile(name).keys() & profile("default").keys()


def test_cluster_profiles_differ_only_in_how_they_submit():
    one, other = ({k: v for k, v in profile(name).items() if name not in k} for name in CLUSTERS)
    for only in ("executor", "seconds-between-status-checks", "max-status-checks-per-second"):
        one.pop(only, None), other.pop(only)
    assert one == other


def test_groups_name_existing_rules():
    rules = {
        name
        for path in (REPO / "workflow/rules").glob("*.smk")
        for name in re.findall(r"^rule (\w+):", path.read_text(), re.M)
    }
    groups = profile("slurm")["groups"]
    assert groups.keys() <= rules
    assert profile("slurm")["group-components"].keys() <= set(groups.values())


def test_wildcards_reach_a_node_unchanged(paper_config):
    runs = [run for experiment in load(paper_config).experiments.values() for run in experiment.runs()]
    wildcards = [{name: str(value) for name, value in run.wildcards.items()} for run in runs]
    arguments = encode_target_jobs_cli_args([TargetSpec("score_labels", values) for values in wildcards])
    assert [spec.wildcards_dict for spec in parse_target_jobs_cli_args(arguments)] == wildcards


@pytest.mark.parametrize(
    ("squeue", "sacct", "state"),
    [
        ("echo PENDING", "exit 1", "running"),
        ("echo RUNNING", "exit 1", "running"),
        ("echo COMPLETED", "exit 1", "success"),
        ("echo CANCELLED", "exit 1", "failed"),
        ("echo OUT_OF_MEMORY", "exit 1", "failed"),
        ("echo PREEMPTED", "exit 1", "failed"),
        ("echo REQUEUE_HOLD", "exit 1", "running"),
        ("echo 'squeue: a warning' >&2; echo RUNNING", "exit 1", "running"),
        # The queue has forgotten the job; accounting knows it or not.
        (FORGOTTEN, "echo COMPLETED", "success"),
        (FORGOTTEN, "echo 'CANCELLED by 0'", "failed"),
        (FORGOTTEN, "exit 1", "failed"),
        ("true", "exit 1", "failed"),
        # Slurm does not answer at all.
        ("echo 'Unable to contact slurm controller' >&2; exit 1", "exit 1", "running"),
    ],
)
def test_status_of_a_job(tmp_path, squeue, sacct, state):
    for name, does in (("squeue", squeue), ("sacct", sacct)):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [REPO / "profiles/cluster-generic/status.sh", "17"],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert done.stdout == f"{state}\n"
