"""The progress lines of the logger plugin, from made-up events to text."""

from __future__ import annotations

import logging
import time
from types import SimpleNamespace

import pytest
from snakemake.logging import LoggerManager, logger
from snakemake.settings.enums import Quietness
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

import snakemake_logger_plugin_lssc as plugin
from snakemake_logger_plugin_lssc import Job, LogHandler, clock, duration, label, remaining

START = 1_000_000.0


def event(kind: LogEvent | None, at: float = 0.0, **fields) -> logging.LogRecord:
    """A record as Snakemake makes it, `at` seconds after the start."""
    return logging.makeLogRecord({"event": kind, "created": START + at, "msg": "", **fields})


def run_info(**totals: int) -> logging.LogRecord:
    return event(LogEvent.RUN_INFO, stats={**totals, "total": sum(totals.values())})


def begin(jobid: int, rule: str, at: float, **wildcards: str) -> logging.LogRecord:
    return event(LogEvent.JOB_INFO, at, jobid=jobid, rule_name=rule, wildcards=wildcards)


def finish(jobid: int, at: float) -> logging.LogRecord:
    return event(LogEvent.JOB_FINISHED, at, job_id=jobid)


def fail(jobid: int, at: float) -> logging.LogRecord:
    return event(LogEvent.JOB_ERROR, at, jobid=jobid)


@pytest.fixture
def make(monkeypatch):
    """A handler that was given some events, and speaks only when told to."""
    monkeypatch.setattr(plugin, "PERIOD", 3600.0)
    handlers = []

    def build(*records: logging.LogRecord, quiet=None, dryrun: bool = False) -> LogHandler:
        handlers.append(LogHandler(SimpleNamespace(quiet=quiet, dryrun=dryrun), None))
        for record in records:
            handlers[-1].handle(record)
        return handlers[-1]

    yield build
    for handler in handlers:
        handler.close()


@pytest.fixture
def expect(monkeypatch):
    """Say what jobs should take."""
    return lambda seconds: monkeypatch.setattr(plugin, "expected", seconds)


@pytest.fixture
def said(caplog):
    """The lines so far."""
    caplog.set_level(logging.INFO, logger="snakemake.logging")
    return lambda: caplog.messages


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 s"),
        (40.4, "40 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (14 * 60, "14 min"),
        (3599, "1 h 00 min"),
        (7500, "2 h 05 min"),
    ],
)
def test_durations_are_rounded_to_what_matters(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(-0.1, "0:00"), (2.9, "0:02"), (190, "3:10"), (3600, "1:00:00")])
def test_running_times_are_shown_as_a_clock(seconds, text):
    assert clock(seconds) == text


def test_what_is_left_is_what_was_expected_of_it():
    assert remaining({1: 4.0, 2: 6.0, 3: 20.0}, {}, scale=1, width=1) == 30
    assert remaining({}, {}, scale=1, width=2) == 0


def test_jobs_that_took_longer_than_expected_make_others_last_longer():
    assert remaining({1: 4.0, 2: 6.0}, {}, scale=1.5, width=1) == 15


def test_running_jobs_have_done_part_of_the_work_side_by_side():
    assert remaining({1: 10.0, 2: 10.0, 3: 10.0, 4: 10.0}, {1: 4.0, 2: 6.0}, scale=1, width=2) == (40 - 10) / 2


def test_idle_cores_do_not_speed_up_a_long_job():
    assert remaining({1: 10.0, 2: 1.0}, {1: 4.0}, scale=1, width=8) == 6


def test_a_straggler_has_done_no_work_for_others():
    assert remaining({1: 10.0, 2: 10.0, 3: 10.0}, {1: 50.0}, scale=1, width=1) == 20


def test_expectation_gives_way_to_what_jobs_took(make, expect):
    jobs = [record for i in range(12) for record in (begin(i, "code", 20 * i), finish(i, 20 * i + 20))]
    expect(dict.fromkeys(range(13), 10.0))
    handler = make(run_info(code=13), begin(12, "code", 0))
    before = handler.progress.line(START)
    for record in jobs:
        handler.handle(record)
    # Twelve jobs of 20 seconds, and a minute that is taken on trust: (60 + 240) / (60 + 120) of ten seconds.
    assert before.endswith("about 2 min left")
    assert handler.progress.line(START).endswith("about 17 s left")


def test_jobs_are_told_apart_by_the_wildcards_in_which_they_differ():
    first = Job("code_points", {"n": "500", "block": "t00-04", "m": "50", "coder": "lasso.lam=10"}, 0)
    other = Job("code_points", {"n": "500", "block": "t05-09", "m": "50", "coder": "lasso.lam=10"}, 0)
    larger = Job("code_points", {"n": "500", "block": "t00-04", "m": "100", "coder": "lasso.lam=10"}, 0)
    assert label(first, [first]) == "code_points lasso.lam=10"
    assert label(first, [first, other]) == "code_points t00-04 lasso.lam=10"
    assert label(first, [first, larger]) == "code_points m=50 lasso.lam=10"
    assert label(Job("all", {}, 0), [first]) == "all"


def test_a_line_says_what_is_done_what_runs_and_what_is_left(make, said, expect):
    expect(dict.fromkeys([0, 1, 2, 10, 11, 12, 13], 20.0))
    data = [record for i in range(3) for record in (begin(i, "data", 20 * i), finish(i, 20 * i + 20))]
    handler = make(
        run_info(data=3, code_points=2, embed_points=2),
        *data,
        begin(10, "code_points", 60, coder="ssc"),
        begin(11, "embed_points", 68),
    )
    handler.tick(START + 70)
    assert said() == [
        "lssc: 3 of 7 jobs done (43 %), 2 running (code_points ssc 0:10, embed_points 0:02), about 34 s left"
    ]


def test_at_most_three_running_jobs_are_named_the_oldest_first(make, said):
    jobs = [begin(i, "code", 9 - i, n=str(i)) for i in range(5)]
    make(run_info(code=9), *jobs, begin(7, "code", 9, n="7"), finish(7, 10)).tick(START + 10)
    assert said() == ["lssc: 1 of 9 jobs done (11 %), 5 running (code n=4 0:05, code n=3 0:04, code n=2 0:03, ...)"]


def test_without_news_a_line_comes_only_after_a_long_silence(make, said):
    handler = make(run_info(code=2), begin(1, "code", 0))
    for seconds in (5, 55, 61, 66, 115, 122):
        handler.tick(START + seconds)
    assert said() == [f"lssc: 0 of 2 jobs done (0 %), 1 running (code {time})" for time in ("1:01", "2:02")]


def test_a_finished_job_is_news(make, said):
    handler = make(run_info(code=3), begin(1, "code", 0), begin(2, "code", 0), finish(1, 4))
    handler.tick(START + 5)
    handler.tick(START + 10)
    assert said() == ["lssc: 1 of 3 jobs done (33 %), 1 running (code 0:05)"]


def test_the_end_is_said_once_and_nothing_after_it(make, said, monkeypatch):
    handler = make(run_info(code=2), *(begin(i, "code", 0) for i in (1, 2)), finish(1, 700), finish(2, 720))
    monkeypatch.setattr(time, "time", lambda: START + 721)
    handler.close()
    handler.close()
    handler.handle(begin(3, "code", 730))
    handler.tick(START + 800)
    assert said() == ["lssc: 2 jobs done in 12 min"]


def test_a_run_that_fails_says_how_far_it_came(make, said, monkeypatch):
    handler = make(run_info(code=3), *(begin(i, "code", 0) for i in (1, 2)), finish(1, 9), fail(2, 9), fail(2, 9))
    monkeypatch.setattr(time, "time", lambda: START + 10)
    handler.close()
    assert said() == ["lssc: 1 of 3 jobs done in 10 s, 1 failed"]


def test_a_second_attempt_is_no_failure(make, said, monkeypatch):
    handler = make(run_info(code=1), begin(1, "code", 0), fail(1, 5), begin(1, "code", 5), finish(1, 9))
    monkeypatch.setattr(time, "time", lambda: START + 10)
    handler.close()
    assert said() == ["lssc: 1 job done in 10 s"]


def test_jobs_of_a_cluster_are_submitted_and_those_of_a_group_end_together(make, said, expect):
    expect(dict.fromkeys(range(8), 30.0))
    nodes = event(LogEvent.RESOURCES_INFO, nodes=100)
    group = [record for i, rule in enumerate(("code", "embed")) for record in (begin(i, rule, 0), finish(i, 30))]
    again = [
        begin(2, "code", 30),
        begin(3, "embed", 30),
        fail(2, 40),
        fail(3, 40),
        begin(2, "code", 45),
        begin(3, "embed", 45),
    ]
    handler = make(nodes, run_info(code=4, embed=4), *sorted(group, key=lambda record: record.created), *again)
    handler.tick(START + 50)
    for record in (finish(2, 75), finish(3, 75), begin(4, "code", 75), begin(5, "embed", 75)):
        handler.handle(record)
    handler.tick(START + 85)
    assert said() == [
        "lssc: 2 of 8 jobs done (25 %), 2 submitted (code 0:05, embed 0:05), about 1 min left",
        # Two groups of two, 30 s each, one of them for 10 s already.
        "lssc: 4 of 8 jobs done (50 %), 2 submitted (code 0:10, embed 0:10), about 50 s left",
    ]


@pytest.mark.parametrize(
    "settings", [{"dryrun": True}, {"quiet": {Quietness.ALL}}, {"quiet": {Quietness.PROGRESS, Quietness.RULES}}]
)
def test_dry_and_quiet_runs_stay_silent(make, said, settings):
    handler = make(run_info(code=3), begin(1, "code", 0), begin(2, "code", 0), finish(1, 4), **settings)
    handler.tick(START + 100)
    handler.close()
    assert said() == []


def test_a_run_without_jobs_stays_silent(make, said):
    make(event(None), event(LogEvent.WORKFLOW_STARTED)).close()
    assert said() == []


def test_no_error_reaches_snakemake(make, monkeypatch):
    handled = []
    monkeypatch.setattr(LogHandler, "handleError", lambda self, record: handled.append(record))
    handler = make(event(LogEvent.RUN_INFO), run_info(code=3), event(LogEvent.JOB_INFO), begin(1, "code", 0))
    assert len(handled) == 2  # RUN_INFO without stats, JOB_INFO without a job

    def broken(text):
        raise BrokenPipeError

    monkeypatch.setattr(plugin.OUT, "info", broken)
    handler.tick(START + 100)
    handler.close()
    assert len(handled) == 4


def test_the_thread_speaks_by_itself_and_ends_with_the_handler(make, said, monkeypatch):
    monkeypatch.setattr(plugin, "PERIOD", 0.01)
    handler = make(run_info(code=2), begin(1, "code", 0))
    deadline = time.monotonic() + 10
    while not said() and time.monotonic() < deadline:
        time.sleep(0.01)
    handler.close()
    lines = list(said())
    time.sleep(0.1)
    assert lines == said()
    assert lines[0].startswith("lssc: 0 of 2 jobs done (0 %), 1 running (code ")
    assert lines[-1].startswith("lssc: 0 of 2 jobs done in ")


def test_snakemake_finds_the_plugin_and_keeps_its_own_output(capsys):
    manager = LoggerManager(logger, OutputSettings(log_handler_settings={"lssc": LogHandlerSettingsBase()}))
    logger.info("Job stats", extra={"event": LogEvent.RUN_INFO, "stats": {"code": 1, "total": 1}})
    logger.info("an ordinary message")
    logger.error("an error")
    manager.stop()
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["Job stats", "an ordinary message", "an error", "lssc: 0 of 1 job done in 1 s"]
