"""Where Snakemake does not do what this workflow needs: what is put in its way once config is read, and why.

Some of the names used here are Snakemake's own affair: the lock keeps its version, and real runs test them. How config
files are read has to be settled earlier, by our logger plugin.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.settings.types import RerunTrigger
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo

from lssc.errors import InputError
from lssc.pipeline.snakemake.resources import Limits, expected_seconds, group_minutes
from lssc.pipeline.store.files import write_text
from lssc.pipeline.store.locks import FOLDERS, RUN, allowed_to_write
from lssc.pipeline.study.recipes import Study

# Rounds of questions in which the queue may not know a job before it is given up.
FORGOTTEN = 3


def when_read(workflow: Any, study: Study) -> None:
    """What has to be in place before a run plans, here or for one job on a node of a cluster."""
    limits(workflow)
    if not workflow.is_main_process:
        workflow.execute = _run_if_owned(workflow.execute)
        return
    workflow.execute = _run_alone(workflow, study)
    workflow.delete_output = _delete_alone(workflow, study)
    workflow._build_dag = _know_by_files(workflow)


def when_begun(workflow: Any, study: Study, config: Mapping[str, Any]) -> None:
    """What has to be in place before the first job."""
    _lift_rate_limit(workflow.scheduler)
    if not workflow.local_exec:
        executor = workflow.scheduler._executor
        _prepare_submission(workflow, study)
        _tell_of_groups(executor)
        if type(executor).__module__ == "snakemake_executor_plugin_slurm":
            _mend_slurm_plugin(executor)
    _tell_expected_times(workflow, study)
    _keep_config(study, config)


def limits(workflow: Any) -> Limits:
    """What `default-resources` of a profile says about all jobs."""
    given = workflow.resource_settings._parsed_default_resources
    found = {name: given[name] for name in Limits._fields if name in given}
    for name, amount in found.items():
        if amount.is_evaluable() or not isinstance(amount.value, int) or amount.value < 1:
            raise WorkflowError(f"default-resources: {name} must be a whole number from 1 on")
    return Limits(**{name: amount.value for name, amount in found.items()})


@contextlib.contextmanager
def _alone(workflow: Any, study: Study, *, remote: bool = False) -> Iterator[str]:
    """Own the folders from before anything is planned, for which Snakemake has no hook, to the end."""
    from lssc.pipeline.snakemake.folders import claimed, tell_full_disk

    folders = study.folders_of(study.experiments if workflow.dag_settings.targets else study.run)
    try:
        with claimed(folders, remote=remote, tell=logger.warning) as run:
            yield run
    except (InputError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command goes on where it was")
    except WorkflowError:
        tell_full_disk(folders, logger.error)
        raise


def _run_alone(workflow: Any, study: Study) -> Callable:
    execute = workflow.execute

    def executed(*args: Any, executor_plugin: Any, executor_settings: Any = None, **more: Any) -> Any:
        more |= {"executor_plugin": executor_plugin, "executor_settings": executor_settings}
        if executor_plugin.common_settings.dryrun_exec:
            return execute(*args, **more)
        with _alone(workflow, study, remote=not executor_plugin.common_settings.local_exec) as run:
            # Snakemake's own lock outlives a killed run; ours does not.
            workflow.execution_settings.lock = False
            workflow.register_envvars(RUN, FOLDERS)
            if hasattr(executor_settings, "jobname_prefix"):
                executor_settings.jobname_prefix = f"lssc-{run}"
            if getattr(executor_settings, "status_cmd", None):
                executor_settings.status_cmd = _found(executor_settings.status_cmd, workflow)
            return execute(*args, **more)

    return executed


def _found(command: str, workflow: Any) -> str:
    """A program of a profile for the shell: Snakemake is in another working folder by now, and quotes nothing."""
    for folder in (Path.cwd(), Path(workflow.basedir)):
        if (folder / command).is_file():
            return shlex.quote(str((folder / command).resolve()))
    return command


def _delete_alone(workflow: Any, study: Study) -> Callable:
    delete = workflow.delete_output

    def deleted(*args: Any, dryrun: bool = False, **more: Any) -> Any:
        with contextlib.nullcontext() if dryrun else _alone(workflow, study):
            return delete(*args, dryrun=dryrun, **more)

    return deleted


def _run_if_owned(execute: Callable) -> Callable:
    """On a node Snakemake itself takes old files away, before a stage looks whose the folder is."""

    def executed(*args: Any, **more: Any) -> Any:
        try:
            with allowed_to_write():
                return execute(*args, **more)
        except InputError as error:
            sys.exit(str(error))

    return executed


def _know_by_files(workflow: Any) -> Callable:
    """Plan by what files are: an artifact names the job that made it, any other must at least be on record.

    Snakemake's records alone are kept by the process that plans. Of what a job has made while that one was killed there
    is none; of what another working folder has made in the same results none or an old one; and where jobs fail before
    they start, the record tells what should have been made.
    """
    build = workflow._build_dag

    def built() -> Any:
        persistence = workflow.persistence
        marked = persistence.incomplete

        async def incomplete(job: Any) -> list[Any]:
            found = await marked(job)
            return found + [file for file in job.output if file not in found and not await is_own(job, file)]

        async def is_own(job: Any, file: Any) -> bool:
            # Images are known by their checksums.
            if job.rule.name == "fetch_images" or not await file.exists():
                return True
            if file.endswith(".h5"):
                from lssc.pipeline.store.heads import is_made_by

                return is_made_by(Path(file), json.loads(job.params.recipe), job.params.code)
            return persistence.metadata(file) is not None

        # Files appear whole or not at all: what a killed job had begun can simply be made again.
        workflow.dag_settings.force_incomplete = True
        # Whoever leaves parameters out of what makes files outdated means it.
        if RerunTrigger.PARAMS in workflow.dag_settings.rerun_triggers:
            persistence.incomplete = incomplete
        return build()

    return built


def _lift_rate_limit(scheduler: Any) -> None:
    # Snakemake's own limit of 100 jobs a second wakes the scheduler once a second for every job that ever finished: by
    # the thousandth job that takes a whole core, and be it the login node's. Cores, and the time that a submission
    # takes, are limit enough; one that was asked for stays.
    limiter = getattr(scheduler, "job_rate_limiter", None)
    if limiter and limiter.max_jobs / limiter.timespan >= 100:
        scheduler.job_rate_limiter = None


def _prepare_submission(workflow: Any, study: Study) -> None:
    """Take old files away where the run is, as for local jobs, and ask for the time of a group as a whole.

    A job that never gets to a node would leave old files in place, and `keep-incomplete`, which saves what others of
    its group have made, would have them taken for new. And the least time of a job, meant for its start, would be asked
    for as often as a group has members.
    """
    executor, bounds = workflow.scheduler._executor, limits(workflow)
    begin = executor.run_job_pre
    settings = workflow.resource_settings.overwrite_resources
    by_hand = {rule for rule, resources in settings.items() if "runtime" in resources}

    def runtime(group: Any) -> int:
        given = [member.resources["runtime"] for member in group.jobs if _rule(member) in by_hand]
        expected = [_expected(study, member) for member in group.jobs if _rule(member) not in by_hand]
        return sum(given) + group_minutes(expected, group.attempt, bounds)

    def begun(job: Any) -> None:
        if job.attempt == 1:
            workflow.async_run(job.remove_existing_output())
        if job.is_group() and job.resources:  # now they are computed, until the next attempt
            job._resources["runtime"] = runtime(job)
        begin(job)

    executor.run_job_pre = begun


def _rule(job: Any) -> str:
    return job.rule.name


def _expected(study: Study, job: Any) -> float:
    return expected_seconds(study, _rule(job), job.wildcards_dict)


def _tell_of_groups(executor: Any) -> None:
    """Snakemake leaves out why a group failed, such as what sbatch says to a partition that does not exist."""
    report = executor.report_job_error

    def reported(info: Any, msg: str | None = None, **more: Any) -> None:
        if msg and info.job.is_group():
            logger.error(msg)
        report(info, msg=msg, **more)

    executor.report_job_error = reported


def _mend_slurm_plugin(executor: Any) -> None:
    """Have the Slurm plugin say which jobs it submits, what keeps it from that, and give up jobs that are no more.

    Without, neither the log nor the lines on progress know what is under way; errors, such as that of an account that
    does not exist, are lost in a thread, while the run waits for ever; and so it does for jobs that were preempted or
    that the queue forgot while nobody could ask it.
    """
    begin, submit, check = executor.run_jobs, executor.run_job, executor.check_active_jobs
    missed: dict[str, int] = {}

    def announced(jobs: list[Any]) -> None:
        for job in jobs:
            executor.run_job_pre(job)
        begin(jobs)

    def told(job: Any) -> None:
        try:
            submit(job)
        except Exception as error:
            logger.error(f"job {job.jobid} was not submitted: {error}")
            executor.report_job_error(SubmittedJobInfo(job))

    async def checked(active: list[Any]) -> AsyncIterator[Any]:
        under_way = [info async for info in check(active)]
        alive = _alive() if under_way else None
        for info in under_way:
            id = str(info.external_jobid).partition("_")[0]
            missed[id] = 0 if alive is None or id in alive else missed.get(id, 0) + 1
            if missed[id] < FORGOTTEN:
                yield info
            else:
                executor.cancel_jobs([info])
                executor.report_job_error(info, msg=f"Slurm does not know job {id} any more, or has preempted it")

    executor.run_jobs, executor.run_job, executor.check_active_jobs = announced, told, checked


def _alive() -> set[str] | None:
    """Slurm's ids of jobs that are waiting, running or over, but not preempted; None if the queue does not answer."""
    from lssc.pipeline.snakemake.folders import queue

    with contextlib.suppress(InputError):
        return {id for id, state, _ in queue("--states=all") if state != "PREEMPTED"}
    return None


def _tell_expected_times(workflow: Any, study: Study) -> None:
    """For the lines on progress: what every job of this run should take."""
    from snakemake_logger_plugin_lssc import expected

    for job in workflow.dag.needrun_jobs():
        expected[job.jobid] = _expected(study, job)


def _keep_config(study: Study, config: Mapping[str, Any]) -> None:
    """For the archive: figures are in no experiment's provenance, as no score depends on them."""
    from lssc.report.archive import LAST_CONFIG

    write_text(Path(study.results) / LAST_CONFIG, json.dumps(config, indent=2) + "\n")
