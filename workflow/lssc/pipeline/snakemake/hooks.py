"""Called by the Snakefile: `prepare` once config is read, `start` before the first job."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from lssc.errors import InputError
from lssc.pipeline.server.serving import serving
from lssc.pipeline.snakemake import patches
from lssc.pipeline.snakemake.folders import claim_folders, end_processes, report_full_disk, slurm_queue
from lssc.pipeline.snakemake.resources import Limits, expected_seconds, file_bytes, group_minutes
from lssc.pipeline.store.files import write_text
from lssc.pipeline.store.heads import is_made_by, touching
from lssc.pipeline.store.locks import FOLDERS_VARIABLE, RUN_VARIABLE, allowed_to_write
from lssc.pipeline.study.model import Study
from lssc.pipeline.study.paths import LAST_CONFIG
from lssc.pipeline.study.results import folders_of

# Seconds that jobs have to end by themselves after Ctrl-C, before they are killed.
INTERRUPT_SECONDS = 3
INTERRUPTED = "interrupted; the same command goes on where it was"


def prepare(workflow: Any, study: Study) -> None:
    """Patch Snakemake before it plans, for a run or, on a node of a cluster, for one job."""
    limits(workflow)
    if not workflow.is_main_process:
        patches.run_within(workflow, "execute", _job_on_node)
        return
    patches.run_within(workflow, "execute", partial(_run, workflow, study))
    patches.run_within(workflow, "delete_output", partial(_deletion, workflow, study))
    patches.plan_by_artifacts(workflow, partial(_is_own, workflow))


def start(workflow: Any, study: Study) -> None:
    """Patch Snakemake's scheduler and executor, and note what the display and the archive need."""
    patches.lift_rate_limit(workflow)
    patches.touch_within(workflow, touching)
    if not workflow.local_exec:
        patches.prepare_submission(workflow, partial(_group_minutes, workflow, study))
        patches.report_group_errors(workflow)
        if type(workflow.scheduler._executor).__module__ == "snakemake_executor_plugin_slurm":
            patches.log_slurm_jobs(workflow)
            patches.report_slurm_submission(workflow)
            patches.give_up_lost_jobs(workflow, known_slurm_jobs)
    _inform_display(workflow, study)
    _keep_config(study)


def limits(workflow: Any) -> Limits:
    """The limits of all jobs that `default-resources` of a profile sets."""
    defaults = patches.default_resources(workflow)
    values = {name: defaults[name] for name in Limits._fields if name in defaults}
    for name, value in values.items():
        if not isinstance(value, int) or value < 1:
            sys.exit(f"default-resources: {name} must be a whole number from 1 on")
    return Limits(**values)


@contextlib.contextmanager
def _run(
    workflow: Any, study: Study, *, executor_plugin: Any, executor_settings: Any = None, **_: Any
) -> Iterator[None]:
    """A run, from before planning to its end."""
    executor = executor_plugin.common_settings
    if executor.dryrun_exec:
        try:
            yield
        except KeyboardInterrupt:
            _exit_interrupted()
        return
    with _alone(workflow, study, remote=not executor.local_exec) as run:
        # Snakemake's own lock outlives a killed run; ours does not.
        workflow.execution_settings.lock = False
        workflow.register_envvars(RUN_VARIABLE, FOLDERS_VARIABLE)
        if hasattr(executor_settings, "jobname_prefix"):
            executor_settings.jobname_prefix = f"lssc-{run}"
        if getattr(executor_settings, "status_cmd", None):
            executor_settings.status_cmd = _program(executor_settings.status_cmd, workflow)
        with serving() if executor.local_exec else contextlib.nullcontext():
            yield


@contextlib.contextmanager
def _deletion(workflow: Any, study: Study, *, dryrun: bool = False, **_: Any) -> Iterator[None]:
    with contextlib.nullcontext() if dryrun else _alone(workflow, study):
        yield


@contextlib.contextmanager
def _job_on_node(**_: Any) -> Iterator[None]:
    """On a node Snakemake itself takes old files away, before a stage checks that its run still owns the folder."""
    try:
        with allowed_to_write():
            yield
    except InputError as error:
        sys.exit(str(error))


@contextlib.contextmanager
def _alone(workflow: Any, study: Study, *, remote: bool = False) -> Iterator[str]:
    """Own the folders; yields the id of the run. Errors that a user can mend end Snakemake with one line."""
    folders = folders_of(study, study.experiments if workflow.dag_settings.targets else study.run)
    try:
        with claim_folders(folders, remote=remote, warn=logger.warning) as run, _noting_interrupts(run):
            yield run
    except (InputError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        _exit_interrupted()
    except WorkflowError:
        if _facts().interrupted.is_set():
            _exit_interrupted()
        report_full_disk(folders, logger.error)
        raise


@contextlib.contextmanager
def _noting_interrupts(run: str) -> Iterator[None]:
    """On Ctrl-C note it for the display, which then hides that jobs fail, and kill jobs that do not end by themselves.

    Compiled code heeds no Ctrl-C. Files appear whole or not at all, so killing does no harm.
    """

    def interrupt(*_: Any) -> None:
        _facts().interrupted.set()
        timer = threading.Timer(INTERRUPT_SECONDS, end_processes, [run])
        timer.daemon = True
        timer.start()
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # in the background it is ignored
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _exit_interrupted() -> NoReturn:
    logger.info(INTERRUPTED)
    sys.exit(128 + signal.SIGINT)


def _facts() -> Any:
    """What the display reads; the logger plugin's copy, as this library may be loaded twice."""
    from snakemake_logger_plugin_lssc import facts

    return facts


def _program(command: str, workflow: Any) -> str:
    """A program of a profile as a quoted full path: Snakemake has changed the working folder, and quotes nothing."""
    for folder in (Path.cwd(), Path(workflow.basedir)):
        if (folder / command).is_file():
            return shlex.quote(str((folder / command).resolve()))
    return command


def _is_own(workflow: Any, job: Any, file: str) -> bool:
    """Whether a file is this job's output: an artifact names the job that made it, others must be on record."""
    if job.rule.name == "fetch_images":  # images are known by their checksums
        return True
    if file.endswith(".h5"):
        return is_made_by(Path(file), json.loads(job.params.recipe), job.params.code)
    return patches.has_record(workflow, file)


def _group_minutes(workflow: Any, study: Study, jobs: list[Any], attempt: int) -> int:
    return group_minutes([_expected(study, job) for job in jobs], attempt, limits(workflow))


def _expected(study: Study, job: Any) -> float:
    return expected_seconds(study, job.rule.name, job.wildcards_dict)


def known_slurm_jobs() -> set[str] | None:
    """Ids of Slurm jobs that wait, run or are over, but were not preempted; None if the queue does not answer."""
    with contextlib.suppress(InputError):
        return {id for id, state, _ in slurm_queue("--states=all") if state != "PREEMPTED"}
    return None


def _inform_display(workflow: Any, study: Study) -> None:
    facts = _facts()
    facts.results = str(study.results)
    jobs = list(workflow.dag.needrun_jobs())
    facts.expected_seconds.update({job.jobid: _expected(study, job) for job in jobs})
    facts.expected_bytes = sum(file_bytes(study, job.rule.name, job.wildcards_dict) for job in jobs)
    place = Path(study.results).absolute()
    facts.free_bytes = shutil.disk_usage(next(path for path in (place, *place.parents) if path.exists())).free


def _keep_config(study: Study) -> None:
    """Keep the config for the archive: no score depends on figures, so no provenance has them."""
    write_text(Path(study.results) / LAST_CONFIG, json.dumps(study.config, indent=2) + "\n")
