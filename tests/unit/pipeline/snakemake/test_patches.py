"""Each patch of Snakemake: that Snakemake still has the problem, and that the patch solves it.

A test of the first kind, `test_..._is_still_needed`, fails when a new Snakemake needs the patch no longer.
"""

import asyncio
import importlib.util
import inspect
import logging
import os
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import snakemake_executor_plugin_slurm as slurm
from snakemake.cli import get_argument_parser
from snakemake.common import configfile
from snakemake.dag import DAG
from snakemake.jobs import GroupJob
from snakemake.logging import DefaultFormatter, logger
from snakemake.persistence import PersistenceBase
from snakemake.resources import GroupResources, Resources
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.settings.types import MaxJobsPerTimespan, RerunTrigger
from snakemake.workflow import Workflow
from snakemake_interface_executor_plugins.executors.base import AbstractExecutor
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

from lssc.pipeline.snakemake import hooks, patches
from lssc.pipeline.snakemake.resources import Limits
from lssc.pipeline.store import heads
from lssc.pipeline.store.artifacts import Record, writing


class Executor:
    """Notes the calls of its methods; its jobs are under way for ever."""

    def __init__(self):
        self.logged, self.submitted, self.cancelled, self.failed = [], [], [], []

    def run_job_pre(self, job):
        self.logged.append(job.jobid)

    def run_jobs(self, jobs):
        self.submitted += [job.jobid for job in jobs]

    def run_job(self, job):
        raise ValueError("no such account")

    def cancel_jobs(self, infos):
        self.cancelled += [info.job.jobid for info in infos]

    def report_job_error(self, info, msg=None, **options):
        self.failed.append((info.job.jobid, msg))

    async def check_active_jobs(self, active):
        for info in active:
            yield info


@pytest.fixture
def executor():
    return Executor()


@pytest.fixture
def workflow(executor):
    scheduler = SimpleNamespace(_executor=executor)
    overwritten = {"embed": {"runtime": 1}}
    resources = SimpleNamespace(overwrite_resources=overwritten)
    return SimpleNamespace(scheduler=scheduler, resource_settings=resources, async_run=asyncio.run)


@pytest.fixture
def messages():
    lines, handler = [], logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


class Job(SimpleNamespace):
    """One job, or a group of the jobs in `jobs`."""

    def __init__(self, id, rule="code", jobs=None, runtime=10, attempt=1):
        super().__init__(jobid=id, rule=SimpleNamespace(name=rule), jobs=jobs or [], attempt=attempt, removed=0)
        self.resources = self._resources = {"runtime": runtime}
        self.pipe_group = None

    def is_group(self):
        return bool(self.jobs)

    async def remove_existing_output(self):
        self.removed += 1


def info(id, **options):
    return SimpleNamespace(job=Job(id, **options), external_jobid=str(id))


def test_reading_config_as_data_is_still_needed(tmp_path):
    """Snakemake's own reader, loaded afresh, runs code of a config file."""
    spec = importlib.util.spec_from_file_location("unpatched", configfile.__file__)
    unpatched = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(unpatched)
    (tmp_path / "config.yaml").write_text("__use_yte__: true\nseed: ?40 + 2\n")
    assert unpatched._load_configfile(tmp_path / "config.yaml") == {"seed": 42}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("__use_yte__: true\nseed: ?40 + 2\n", "__use_yte__: templates would run code"),
        ("methods: [a\nb: {", "line 2: expected"),
    ],
)
def test_a_broken_or_executable_config_file_ends_with_one_line(tmp_path, text, message, monkeypatch):
    monkeypatch.setattr(configfile, "_load_configfile", None)
    patches.read_config_as_data()
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(SystemExit, match=f"^config: {tmp_path}/config.yaml: {message}") as exit:
        configfile.load_configfile(tmp_path / "config.yaml")
    assert "\n" not in str(exit.value)


def test_running_within_a_context_is_still_needed():
    execute = inspect.getsource(Workflow.execute)
    assert execute.index("self._build_dag()") < execute.index("self._onstart(")
    assert "_onstart" not in inspect.getsource(Workflow.delete_output)


def test_runs_a_method_within_a_context():
    calls = []

    @contextmanager
    def context(**options):
        calls.append(options)
        yield
        calls.append("end")

    workflow = SimpleNamespace(execute=lambda *args, **options: calls.append(args))
    patches.run_within(workflow, "execute", context)
    workflow.execute(1, key=2)
    assert calls == [{"key": 2}, (1,), "end"]


class File(str):
    async def exists(self):
        return not self.startswith("missing")


def test_planning_by_artifacts_is_still_needed():
    """Snakemake calls no file incomplete that it has no mark of, whoever made it."""
    persistence = SimpleNamespace(_get_key=str, _filter_incomplete_keys=lambda keys: set())
    job = SimpleNamespace(output=[File("anybody's.h5")])
    assert asyncio.run(PersistenceBase.incomplete(persistence, job)) == []
    assert "_build_dag" in vars(Workflow)


@pytest.mark.parametrize("triggers", [{RerunTrigger.PARAMS}, set()])
def test_files_of_others_count_as_incomplete(triggers):
    async def incomplete(job):
        return [File("marked")]

    settings = SimpleNamespace(rerun_triggers=triggers, force_incomplete=False)
    persistence = SimpleNamespace(incomplete=incomplete)
    workflow = SimpleNamespace(persistence=persistence, dag_settings=settings, _build_dag=lambda: "built")
    patches.plan_by_artifacts(workflow, lambda job, file: file == "own")
    assert workflow._build_dag() == "built"
    assert settings.force_incomplete
    job = SimpleNamespace(output=[File(name) for name in ("own", "theirs", "marked", "missing")])
    others = ["theirs"] if triggers else []
    assert asyncio.run(workflow.persistence.incomplete(job)) == ["marked", *others]


def test_touching_within_a_context_is_still_needed():
    assert "output_path.touch()" in inspect.getsource(DAG.check_and_touch_output)


def test_touched_output_is_not_read_again(tmp_path, monkeypatch):
    path, missing, other = (tmp_path / name for name in ("x.h5", "missing.h5", "x.csv"))
    with writing(path) as writer:
        writer.add(0, Record({"a": np.zeros(3)}, {}))
    other.write_text("a,b")

    async def touch(job):
        os.utime(path, (0, 0))

    workflow = SimpleNamespace(dag=SimpleNamespace(check_and_touch_output=touch))
    patches.touch_within(workflow, heads.touching)
    asyncio.run(workflow.dag.check_and_touch_output(SimpleNamespace(output=[str(path), str(missing), str(other)])))
    monkeypatch.setattr(heads, "check_sum", lambda path: pytest.fail("the file was read"))
    assert path.stat().st_mtime == 0
    assert heads.is_intact(path)


def test_lifting_the_rate_limit_is_still_needed():
    default = get_argument_parser().get_default("max_jobs_per_timespan")
    limit = MaxJobsPerTimespan.parse_choice(default) if isinstance(default, str) else default
    assert limit.max_jobs / limit.timespan == patches.DEFAULT_RATE
    schedule = inspect.getsource(JobScheduler.schedule)
    assert "_schedule_reevalutation(self.job_rate_limiter.timespan)" in schedule


@pytest.mark.parametrize(("rate", "stays"), [("100/1s", False), ("99/1s", True), ("10/1h", True)])
def test_lifts_the_default_rate_limit_only(workflow, rate, stays):
    workflow.scheduler.job_rate_limiter = MaxJobsPerTimespan.parse_choice(rate)
    patches.lift_rate_limit(workflow)
    assert (workflow.scheduler.job_rate_limiter is not None) == stays


def test_preparing_submission_is_still_needed():
    """Snakemake adds up the minutes of a group and leaves old output to the node."""
    jobs = [[Job(1)], [Job(2)]]
    assert GroupResources.basic_layered(jobs, constraints=Resources(), run_local=False)["runtime"] == 20
    assert "run_job_pre" not in vars(RemoteExecutor)
    assert "remove_existing_output" not in inspect.getsource(AbstractExecutor.run_job_pre)


def test_prepares_submission(workflow, executor):
    patches.prepare_submission(workflow, lambda jobs, attempt: 100 * len(jobs) * attempt)
    group = Job(1, jobs=[Job(2), Job(3), Job(4, rule="embed", runtime=7)])
    executor.run_job_pre(group)
    assert (group.removed, group.resources["runtime"]) == (1, 207)
    group.attempt = 2
    executor.run_job_pre(group)
    assert (group.removed, group.resources["runtime"]) == (1, 407)
    single = Job(5)
    executor.run_job_pre(single)
    assert (single.removed, single.resources["runtime"]) == (1, 10)
    assert executor.logged == [1, 1, 5]


def test_reporting_group_errors_is_still_needed(messages):
    """Neither the record of a failed group nor its text has the reason."""
    records = []
    logger.handlers[-1].emit = records.append
    GroupJob.log_error(SimpleNamespace(groupid="codes", jobs=[]), msg="invalid partition")
    assert "invalid partition" not in DefaultFormatter().format(records[0])


@pytest.mark.parametrize("jobs", [[Job(1)], []])
def test_reports_why_a_group_failed(workflow, executor, messages, jobs):
    patches.report_group_errors(workflow)
    executor.report_job_error(info(3, jobs=jobs), msg="invalid partition")
    assert messages == ["invalid partition"] * len(jobs)  # Snakemake reports it of a single job
    assert executor.failed == [(3, "invalid partition")]


def test_patches_of_the_slurm_plugin_are_still_needed():
    run_jobs = inspect.getsource(slurm.Executor.run_jobs)
    assert "run_job_pre" not in run_jobs
    # Errors stay in the futures, which nobody reads.
    assert ".submit(self.run_job, job)" in run_jobs
    assert ".result()" not in run_jobs
    check = inspect.getsource(slurm.Executor.check_active_jobs)
    failures = check.partition("fail_stati = (")[2].partition(")")[0]
    assert '"CANCELLED"' in failures
    assert '"PREEMPTED"' not in failures


def test_logs_slurm_jobs_before_they_are_submitted(workflow, executor):
    patches.log_slurm_jobs(workflow)
    executor.run_jobs([Job(1), Job(2)])
    assert executor.logged == executor.submitted == [1, 2]


def test_reports_a_job_that_was_not_submitted(workflow, executor, messages):
    patches.report_slurm_submission(workflow)
    executor.run_job(Job(7))
    assert executor.failed == [(7, None)]
    assert messages == ["job 7 was not submitted: no such account"]


@pytest.fixture
def under_way(workflow, executor):
    """Asks for jobs 1 and 2 while the queue knows some ids; returns those under way."""
    known = []
    patches.give_up_lost_jobs(workflow, lambda: known[-1])

    def check(ids):
        async def ask():
            return [info.external_jobid async for info in executor.check_active_jobs([info(1), info(2)])]

        known.append(ids)
        return asyncio.run(ask())

    return check


def test_gives_up_a_lost_job_after_some_rounds(under_way, executor):
    for _ in range(patches.MAX_MISSED_CHECKS - 1):
        assert under_way({"1"}) == ["1", "2"]
    assert under_way({"1"}) == ["1"]
    assert executor.failed == [(2, "Slurm does not know job 2 any more, or has preempted it")]
    assert executor.cancelled == [2]


@pytest.mark.parametrize("rounds", [[{"1"}, {"1"}, {"1", "2"}, {"1"}, {"1"}], [None] * 9])
def test_waits_for_a_job_that_comes_back_or_a_queue_that_does_not_answer(under_way, executor, rounds):
    assert [under_way(known) for known in rounds] == [["1", "2"]] * len(rounds)
    assert executor.failed == []


@pytest.mark.parametrize(
    ("lines", "known"), [("1 RUNNING a\n2 PREEMPTED b\n3 COMPLETED c\n", {"1", "3"}), (None, None)]
)
def test_preempted_jobs_are_not_known(tmp_path, monkeypatch, lines, known):
    (tmp_path / "squeue").write_text(f"#!/bin/sh\ncat <<'E'\n{lines}E\n" if lines else "#!/bin/sh\nexit 1\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert hooks.known_slurm_jobs() == known


def limits(**resources):
    parsed = Resources.from_mapping(resources)
    return hooks.limits(SimpleNamespace(resource_settings=SimpleNamespace(_parsed_default_resources=parsed)))


def test_reads_limits_from_default_resources():
    assert limits(mem_mb=5) == Limits()
    assert limits(max_runtime=60, slower=2) == Limits(slower=2, max_runtime=60)


@pytest.mark.parametrize("value", [0, -1, "abc", "2 * attempt"])
def test_refuses_a_limit_that_is_no_number(value):
    with pytest.raises(SystemExit, match="default-resources: max_runtime must be a whole number from 1 on"):
        limits(max_runtime=value)


def test_finds_a_program_of_a_profile_from_any_working_folder(tmp_path, monkeypatch):
    program = tmp_path / "a b/profiles/status.sh"
    program.parent.mkdir(parents=True)
    program.touch()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    workflow = SimpleNamespace(basedir=str(tmp_path / "a b"))
    for path in ("profiles/status.sh", str(program)):
        assert hooks._program(path, workflow) == f"'{program}'"
    assert hooks._program("qstat -x", workflow) == "qstat -x"
