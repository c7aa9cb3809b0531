"""What is put in the way of a cluster's executor, with executors that say what they were asked; real ones are met by
tests/crash and tests/slurm."""

import asyncio
import logging
from types import SimpleNamespace

import pytest
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.resources import Resources

from lssc.pipeline.snakemake import patches as hooks
from lssc.pipeline.snakemake.resources import Limits


class Executor:
    """Submits nothing; its jobs are under way for ever."""

    def __init__(self):
        self.announced, self.begun, self.cancelled, self.failed = [], [], [], []

    def run_job_pre(self, job):
        self.announced.append(job.jobid)

    def run_jobs(self, jobs):
        self.begun += [job.jobid for job in jobs]

    def run_job(self, job):
        raise ValueError("no such account")

    def cancel_jobs(self, infos):
        self.cancelled += [info.job.jobid for info in infos]

    def report_job_error(self, info, msg=None, **more):
        self.failed.append((info.job.jobid, msg))

    async def check_active_jobs(self, active):
        for info in active:
            yield info


def job(id, *, group=False):
    return SimpleNamespace(jobid=id, is_group=lambda: group)


def info(id, **more):
    return SimpleNamespace(job=job(id, **more), external_jobid=str(id))


@pytest.fixture
def executor(monkeypatch):
    executor = Executor()
    monkeypatch.setattr(hooks, "_alive", lambda: {"1"})
    hooks._mend_slurm_plugin(executor)
    return executor


@pytest.fixture
def told():
    lines, handler = [], logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


def under_way(executor, *infos):
    async def ask():
        return [info.external_jobid async for info in executor.check_active_jobs(list(infos))]

    return asyncio.run(ask())


def test_jobs_are_announced_before_they_are_submitted(executor):
    executor.run_jobs([job(1), job(2)])
    assert executor.announced == executor.begun == [1, 2]


def test_what_keeps_a_job_from_being_submitted_is_told_and_the_job_has_failed(executor, told):
    executor.run_job(job(7))
    assert executor.failed == [(7, None)]
    assert told == ["job 7 was not submitted: no such account"]


def test_a_job_that_the_queue_does_not_know_any_more_has_failed_after_some_rounds(executor):
    for _ in range(hooks.FORGOTTEN - 1):
        assert under_way(executor, info(1), info(2)) == ["1", "2"]
    assert under_way(executor, info(1), info(2)) == ["1"]
    assert executor.failed == [(2, "Slurm does not know job 2 any more, or has preempted it")]
    # In case it lives: its place is taken by another attempt.
    assert executor.cancelled == [2]


def test_a_job_that_comes_back_is_waited_for(executor, monkeypatch):
    for alive in [{"1"}, {"1"}, {"1", "2"}, {"1"}, {"1"}]:
        monkeypatch.setattr(hooks, "_alive", lambda alive=alive: alive)
        assert under_way(executor, info(1), info(2)) == ["1", "2"]
    assert executor.failed == []


def test_a_queue_that_does_not_answer_says_nothing_of_its_jobs(executor, monkeypatch):
    monkeypatch.setattr(hooks, "_alive", lambda: None)
    for _ in range(3 * hooks.FORGOTTEN):
        assert under_way(executor, info(2)) == ["2"]


@pytest.mark.parametrize(
    ("lines", "alive"), [("1 RUNNING a\n2 PREEMPTED b\n3 COMPLETED c\n", {"1", "3"}), (None, None)]
)
def test_preempted_jobs_are_not_alive(tmp_path, monkeypatch, lines, alive):
    (tmp_path / "squeue").write_text(f"#!/bin/sh\ncat <<'E'\n{lines}E\n" if lines else "#!/bin/sh\nexit 1\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert hooks._alive() == alive


@pytest.mark.parametrize("group", [True, False])
def test_why_a_group_failed_is_told_once(told, group):
    executor = Executor()
    hooks._tell_of_groups(executor)
    executor.report_job_error(info(3, group=group), msg="invalid partition")
    # Of a single job Snakemake tells it by itself.
    assert told == ["invalid partition"] * group
    assert executor.failed == [(3, "invalid partition")]


def asked(**resources):
    parsed = Resources.from_mapping(resources)
    return hooks.limits(SimpleNamespace(resource_settings=SimpleNamespace(_parsed_default_resources=parsed)))


def test_limits_are_those_of_the_profile():
    assert asked(mem_mb=5) == Limits()
    assert asked(max_runtime=60, slower=2) == Limits(slower=2, max_runtime=60)


@pytest.mark.parametrize("value", [0, -1, "abc", "2 * attempt"])
def test_a_limit_that_is_no_number_is_told_with_its_name(value):
    with pytest.raises(WorkflowError, match="default-resources: max_runtime must be a whole number from 1 on"):
        asked(max_runtime=value)


def test_a_program_of_a_profile_is_found_from_any_working_folder(tmp_path, monkeypatch):
    program = tmp_path / "a b/profiles/status.sh"
    program.parent.mkdir(parents=True)
    program.touch()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    workflow = SimpleNamespace(basedir=str(tmp_path / "a b"))
    for given in ("profiles/status.sh", str(program)):
        assert hooks._found(given, workflow) == f"'{program}'"
    assert hooks._found("qstat -x", workflow) == "qstat -x"
