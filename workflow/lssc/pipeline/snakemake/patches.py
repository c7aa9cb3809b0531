"""Patches of Snakemake names that are private, or that it offers no hook for. The lock pins the versions.

All were needed at Snakemake 9.27.1, those of the Slurm executor at its plugin 2.6.1. Each docstring says what goes
wrong without the patch, and a test in test_patches.py fails once that is no longer so. The logger plugin imports this
module before config is read, so it imports nothing heavy.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

logger = logging.getLogger("snakemake.logging")

# Rounds of status checks in which the queue may not know a job before the job counts as failed.
MAX_MISSED_CHECKS = 3
# Jobs a second of Snakemake's own rate limit, which nobody asked for.
DEFAULT_RATE = 100


def read_config_as_data() -> None:
    """Read config files as plain data, and end with one line if one is broken.

    Snakemake's reader runs Python code that a config file may hold (YTE templates), and wraps errors in tracebacks.
    """
    from snakemake.common import configfile

    def read(path: str | Path, filetype: str = "Config") -> dict[str, Any]:
        from lssc.errors import ConfigError
        from lssc.pipeline.config.files import read_config

        try:
            return read_config(path)
        except ConfigError as error:
            sys.exit(str(error))

    configfile._load_configfile = read


def run_within(workflow: Any, method: str, context: Callable[..., AbstractContextManager]) -> None:
    """Run a method of the workflow within a context, which is called with the method's keyword arguments.

    Snakemake's `onstart` comes only after planning, which already takes files away; deleting output has no hook at all.
    """
    original = getattr(workflow, method)

    def wrapped(*args: Any, **options: Any) -> Any:
        with context(**options):
            return original(*args, **options)

    setattr(workflow, method, wrapped)


def plan_by_artifacts(workflow: Any, is_own: Callable[[Any, str], bool]) -> None:
    """Make again what `is_own(job, file)` denies to be the job's output: a file may lie there that another job made.

    Snakemake trusts its records, which the planning process keeps. There is no record of what a job made after that
    process was killed, none or an old one of what another working folder made in the same results, and a wrong one
    where a job failed before it started.
    """
    from snakemake.settings.types import RerunTrigger

    build = workflow._build_dag

    def build_dag() -> Any:
        marked = workflow.persistence.incomplete

        async def incomplete(job: Any) -> list[Any]:
            files = await marked(job)
            others = [file for file in job.output if file not in files and await file.exists()]
            return files + [file for file in others if not is_own(job, file)]

        # Files appear whole or not at all: what a killed job had begun can simply be made again.
        workflow.dag_settings.force_incomplete = True
        # A user who leaves parameters out of the rerun triggers wants files as they are.
        if RerunTrigger.PARAMS in workflow.dag_settings.rerun_triggers:
            workflow.persistence.incomplete = incomplete
        return build()

    workflow._build_dag = build_dag


def touch_within(workflow: Any, context: Callable[[list[Path]], AbstractContextManager]) -> None:
    """Touch the outputs of a job within a context, which is called with their paths.

    Snakemake touches them when the job is done, and offers no hook. A new time makes the next run read a whole file to
    see that it is the same.
    """
    original = workflow.dag.check_and_touch_output

    async def check_and_touch_output(job: Any, *args: Any, **options: Any) -> None:
        with context([Path(file) for file in job.output]):
            await original(job, *args, **options)

    workflow.dag.check_and_touch_output = check_and_touch_output


def has_record(workflow: Any, file: str) -> bool:
    """Whether Snakemake has a record of how a file was made."""
    return workflow.persistence.metadata(file) is not None


def default_resources(workflow: Any) -> dict[str, Any]:
    """What `default-resources` of a profile sets, None for an expression; Snakemake offers it to jobs only."""
    parsed = workflow.resource_settings._parsed_default_resources
    return {name: None if parsed[name].is_evaluable() else parsed[name].value for name in parsed}


def lift_rate_limit(workflow: Any) -> None:
    """Remove the default limit of 100 jobs a second; a lower one that a user set stays.

    With it Snakemake wakes its scheduler once a second for every job that ever finished: by the thousandth job that
    takes a whole core.
    """
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    if limiter and limiter.max_jobs / limiter.timespan >= DEFAULT_RATE:
        workflow.scheduler.job_rate_limiter = None


def prepare_submission(workflow: Any, group_minutes: Callable[[list[Any], int], int]) -> None:
    """Take old output away before a job is submitted, and request `group_minutes(jobs, attempt)` for a group.

    Snakemake takes old output away on the node. A job that never gets there leaves it in place, and with
    `keep-incomplete` it counts as new. And the minutes of a group are the sum of its jobs', each with time to start.
    """
    executor = workflow.scheduler._executor
    original = executor.run_job_pre
    overwritten = workflow.resource_settings.overwrite_resources
    by_user = {rule for rule, resources in overwritten.items() if "runtime" in resources}

    def runtime(group: Any) -> int:
        fixed = [job.resources["runtime"] for job in group.jobs if job.rule.name in by_user]
        return sum(fixed) + group_minutes([job for job in group.jobs if job.rule.name not in by_user], group.attempt)

    def run_job_pre(job: Any) -> None:
        if job.attempt == 1:
            workflow.async_run(job.remove_existing_output())
        if job.is_group() and job.resources:  # reading them computes them, for this attempt
            job._resources["runtime"] = runtime(job)
        original(job)

    executor.run_job_pre = run_job_pre


def report_group_errors(workflow: Any) -> None:
    """Log why a group failed, such as sbatch's answer to an unknown partition: Snakemake leaves it out."""
    executor = workflow.scheduler._executor
    original = executor.report_job_error

    def report_job_error(info: Any, msg: str | None = None, **options: Any) -> None:
        if msg and info.job.is_group():
            logger.error(msg)
        original(info, msg=msg, **options)

    executor.report_job_error = report_job_error


def log_slurm_jobs(workflow: Any) -> None:
    """Log the jobs that the Slurm executor submits: it does not call `run_job_pre`, which logs them."""
    executor = workflow.scheduler._executor
    original = executor.run_jobs

    def run_jobs(jobs: list[Any]) -> None:
        for job in jobs:
            executor.run_job_pre(job)
        original(jobs)

    executor.run_jobs = run_jobs


def report_slurm_submission(workflow: Any) -> None:
    """Log why a job was not submitted, such as an unknown account, and count it as failed.

    The Slurm executor submits in a thread, in which an error is lost, and the run waits for the job for ever.
    """
    from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

    executor = workflow.scheduler._executor
    original = executor.run_job

    def run_job(job: Any) -> None:
        try:
            original(job)
        except Exception as error:
            logger.error(f"job {job.jobid} was not submitted: {error}")
            executor.report_job_error(SubmittedJobInfo(job))

    executor.run_job = run_job


def give_up_lost_jobs(workflow: Any, known_jobs: Callable[[], set[str] | None]) -> None:
    """Count a job as failed once `known_jobs`, the ids the queue knows, has lacked it for several rounds.

    The Slurm executor waits for ever for jobs that were preempted, or that the queue forgot while it did not answer.
    None instead of ids means that the queue does not answer now.
    """
    executor = workflow.scheduler._executor
    original = executor.check_active_jobs
    missed: dict[str, int] = {}

    async def check_active_jobs(active: list[Any]) -> AsyncIterator[Any]:
        under_way = [info async for info in original(active)]
        known = known_jobs() if under_way else None
        for info in under_way:
            id = str(info.external_jobid).partition("_")[0]
            missed[id] = 0 if known is None or id in known else missed.get(id, 0) + 1
            if missed[id] < MAX_MISSED_CHECKS:
                yield info
            else:
                executor.cancel_jobs([info])  # it may still live, and another attempt takes its place
                executor.report_job_error(info, msg=f"Slurm does not know job {id} any more, or has preempted it")

    executor.check_active_jobs = check_active_jobs
