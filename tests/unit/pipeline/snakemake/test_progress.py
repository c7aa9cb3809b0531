"""Progress of a run from made-up log events, as counts and as what a person sees."""

from __future__ import annotations

import io
import logging
import time
from types import SimpleNamespace

import pytest
from snakemake.logging import LoggerManager, logger
from snakemake.settings.enums import Quietness
from snakemake.settings.types import OutputSettings
from snakemake_interface_logger_plugins.common import LogEvent

import snakemake_logger_plugin_lssc as plugin
from lssc.pipeline.snakemake import display
from lssc.pipeline.snakemake.progress import clock, duration, job_name, seconds_left

START = 1_000_000.0


def event(kind: LogEvent, at: float = 0.0, **fields) -> logging.LogRecord:
    """A record as Snakemake makes it, `at` seconds after the start."""
    return logging.makeLogRecord({"event": kind, "created": START + at, "msg": "", "levelno": logging.INFO, **fields})


def message(text: str, level: int = logging.INFO, **fields) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": text, "levelno": level, "created": START, **fields})


def run_info(total: int) -> logging.LogRecord:
    return event(LogEvent.RUN_INFO, stats={"total": total}, msg="Job stats: ...")


def begin(jobid: int, rule: str, at: float, **wildcards: str) -> logging.LogRecord:
    return event(LogEvent.JOB_INFO, at, jobid=jobid, rule_name=rule, wildcards=wildcards)


def finish(jobid: int, at: float) -> logging.LogRecord:
    return event(LogEvent.JOB_FINISHED, at, job_id=jobid)


def fail(jobid: int, at: float = 0.0, rule="code", log=(), reason=None, indent=False) -> logging.LogRecord:
    fields = {"jobid": jobid, "rule_name": rule, "log": list(log), "rule_msg": reason, "indent": indent}
    return event(LogEvent.JOB_ERROR, at, levelno=logging.ERROR, **fields)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def show(monkeypatch):
    """Builds a handler, hands it records, and offers what it printed; time passes only in the records."""
    monkeypatch.setattr(plugin.LogHandler, "_watch", lambda self: None)
    monkeypatch.setattr(time, "time", lambda: START + 100)
    monkeypatch.setattr(plugin.facts, "interrupted", type(plugin.facts.interrupted)())
    monkeypatch.setattr(plugin.facts, "expected_seconds", {})
    monkeypatch.setattr(plugin.facts, "results", "")

    def build(*records, stream=None, show_jobs=False, **settings):
        common = {"quiet": None, "dryrun": False, "verbose": False, "printshellcmds": False, "stdout": False} | settings
        handler = plugin.LogHandler(SimpleNamespace(**common), plugin.LogHandlerSettings(show_jobs=show_jobs))
        handler.screen = display.Screen(stream or io.StringIO())
        handler.handle_all = lambda *more: [handler.handle(record) for record in more]
        handler.lines = lambda: handler.screen.stream.getvalue().splitlines()
        handler.handle_all(*records)
        return handler

    return build


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (59.4, "59 s"), (59.6, "1 min"), (14 * 60, "14 min"), (3599, "1 h 00 min"), (7500, "2 h 05 min")],
)
def test_rounds_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(-0.1, "0:00"), (2.9, "0:02"), (190, "3:10"), (3600, "1:00:00")])
def test_shows_running_times_as_a_clock(seconds, text):
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("todo", "running", "scale", "width", "left"),
    [
        ({}, {}, 1, 2, 0),
        ({1: 4.0, 2: 6.0}, {}, 1.5, 1, 15),  # jobs take longer than expected
        ({1: 10.0, 2: 10.0, 3: 10.0, 4: 10.0}, {1: 4.0, 2: 6.0}, 1, 2, 15),  # two side by side
        ({1: 10.0, 2: 1.0}, {1: 4.0}, 1, 8, 6),  # idle cores do not help
        ({1: 10.0, 2: 10.0, 3: 10.0}, {1: 50.0}, 1, 1, 20),  # a job that is overdue
    ],
)
def test_estimates_the_time_left(todo, running, scale, width, left):
    assert seconds_left(todo, running, scale, width) == left


def test_names_a_job_by_rule_and_last_wildcard():
    assert job_name("all", {}) == "all"
    assert job_name("code", {"m": "50", "coder": "lasso.lam=10"}) == "code lasso.lam=10"
    assert job_name("select", {"selector": "uniform", "m": "50"}) == "select m=50"


def test_measured_times_outweigh_expected_ones(show):
    handler = show(run_info(13), begin(12, "code", 0))
    plugin.facts.expected_seconds.update(dict.fromkeys(range(13), 10.0))
    assert handler.progress.line(START).endswith("about 2 min left")
    for i in range(12):
        handler.handle_all(begin(i, "code", 20 * i), finish(i, 20 * i + 20))
    # Twelve jobs of 20 seconds and the prior of a minute: (60 + 240) / (60 + 120) of ten seconds.
    assert handler.progress.line(START).endswith("about 17 s left")


def test_prints_lines_where_there_is_no_terminal(show):
    handler = show(
        run_info(7), begin(1, "data", 0), finish(1, 20), begin(10, "code", 60, coder="ssc"), begin(2, "b", 68)
    )
    plugin.facts.expected_seconds.update({10: 30.0, 2: 4.0})
    assert handler.tick(START + 70) == 10
    assert handler.tick(START + 700) == 35
    assert handler.tick(START + 7000) == 60
    assert handler.lines()[:2] == [
        "lssc: 7 jobs",
        "lssc: 1 of 7 jobs done (14 %), 2 running (code ssc 0:10), about 30 s left",
    ]


def test_draws_a_bar_in_a_terminal_and_messages_above_it(show, monkeypatch):
    monkeypatch.setattr(display, "DEFAULT_COLUMNS", 52)
    handler = show(
        run_info(4), begin(1, "data", 0), finish(1, 1), begin(2, "code", 60, coder="x" * 80), stream=Terminal()
    )
    handler.tick(START + 70)
    handler.handle(message("careful", logging.WARNING))
    handler.tick(START + 71)
    handler.close()
    bar = "[##--------] 1/4 jobs, code xxxxxxxxxxxxxx 0:1"
    assert handler.screen.stream.getvalue().split("\r\x1b[K") == [
        f"lssc: 4 jobs\n{bar}0",
        f"warning: careful\n{bar}1",
        "lssc: 1 of 4 jobs done in 2 min\n",
    ]


def test_says_submitted_on_a_cluster(show):
    nodes = event(LogEvent.RESOURCES_INFO, nodes=100)
    handler = show(nodes, run_info(8), begin(1, "code", 0), begin(2, "embed", 0))
    assert handler.progress.line(START + 5) == "lssc: 0 of 8 jobs done (0 %), 2 submitted (code 0:05)"
    assert handler.progress.bar(START + 5, 80) == "[----------------] 0/8 jobs, 2 submitted"


def test_reports_the_end_once(show):
    handler = show(run_info(2), *(begin(i, "code", 0) for i in (1, 2)), finish(1, 70), finish(2, 72))
    plugin.facts.results = "results/demo"
    handler.close()
    handler.close()
    assert handler.tick(START + 800) == 1
    assert handler.lines()[1:] == ["lssc: 2 jobs done in 2 min; results in results/demo"]


def test_reports_a_failed_job_by_the_last_line_of_its_log(show, tmp_path):
    (tmp_path / "a.log").write_text("Traceback ...\n  ...\nValueError: \x1b[31mtoo few points\n\n")
    handler = show(
        run_info(3),
        begin(1, "code", 0, coder="lasso"),
        message(
            "RuleException:\nCalledProcessError in file ...",
            logging.ERROR,
            event=LogEvent.ERROR,
            exception="RuleException",
        ),
        fail(1, log=[str(tmp_path / "a.log")]),
        message("Exiting because a job execution failed. Look above for error messages", logging.ERROR),
    )
    handler.close()
    assert handler.lines()[1:] == [
        "error: code lasso: ValueError: [31mtoo few points",
        f"  log: {tmp_path}/a.log",
        "lssc: 0 of 3 jobs done in 2 min, 1 failed",
    ]


@pytest.mark.parametrize(("reason", "text"), [("out of memory", "out of memory"), (None, "ended without a message")])
def test_reports_a_failed_job_without_a_log(show, reason, text):
    handler = show(run_info(1), fail(1, reason=reason, log=["nowhere.log"]))
    assert handler.lines()[1].startswith(f"error: code: {text}")
    assert handler.lines()[2] == "  log: nowhere.log"


def test_reports_a_failed_group_once(show, tmp_path):
    (tmp_path / "b.log").write_text("no convergence\n")
    jobs = [{"log": [str(tmp_path / name)]} for name in ("a.log", "b.log")]
    group = event(LogEvent.GROUP_ERROR, groupid="codes", job_error_info=jobs, aux_logs=["slurm.log"])
    handler = show(run_info(2), group, fail(1, indent=True), fail(2, indent=True))
    assert handler.lines()[1:] == ["error: group codes: no convergence", f"  log: {tmp_path}/b.log"]
    assert handler.progress.failed == {1, 2}


def test_counts_errors_beyond_the_first_few(show):
    handler = show(run_info(30), *(fail(i, reason="broken") for i in range(20)))
    handler.close()
    assert sum(line.startswith("error: ") for line in handler.lines()) == display.MAX_ERRORS
    assert handler.lines()[-2:] == ["12 more errors", "lssc: 0 of 30 jobs done in 2 min, 20 failed"]


def test_a_second_attempt_is_no_failure(show):
    handler = show(run_info(1), begin(1, "code", 0), fail(1, 5), begin(1, "code", 5), finish(1, 9))
    handler.close()
    assert handler.lines()[-1] == "lssc: 1 job done in 2 min"


def test_an_interrupted_job_is_no_failure(show):
    handler = show(run_info(2), begin(1, "code", 0))
    plugin.facts.interrupted.set()
    handler.handle_all(fail(1), message("interrupted; the same command goes on where it was"))
    handler.close()
    assert handler.lines()[1:] == [
        "interrupted; the same command goes on where it was",
        "lssc: 0 of 2 jobs done in 2 min",
    ]


def test_hides_known_messages_and_shows_others_once(show):
    texts = ("Building DAG of jobs...", "Job 1 has been submitted with SLURM jobid 7 (log: x)", "None")
    noise = [message(text) for text in texts]
    shown = [message("Creating conda environment"), message("odd", logging.ERROR), message("Nothing to be done")]
    handler = show(*noise, event(LogEvent.PROGRESS), event(LogEvent.SHELLCMD), *shown, *shown)
    handler.close()
    assert handler.lines() == ["Creating conda environment", "odd", "Nothing to be done"]


def test_a_dry_run_shows_the_table_once(show):
    handler = show(run_info(3), begin(1, "code", 0), run_info(3), dryrun=True)
    handler.close()
    assert [line for line in handler.lines() if line] == [
        "Job stats: ...",
        "--logger-lssc-show-jobs lists every job with its files and the reason to run it.",
    ]


@pytest.mark.parametrize(("quiet", "n_shown"), [(Quietness.ALL, 1), (Quietness.PROGRESS, 2)])
def test_a_quiet_run_shows_no_progress(show, quiet, n_shown):
    handler = show(run_info(3), message("careful", logging.WARNING), message("broken", logging.ERROR), quiet={quiet})
    handler.close()
    assert handler.lines() == ["warning: careful", "broken"][-n_shown:]


@pytest.mark.parametrize("switch", [{"show_jobs": True}, {"verbose": True}, {"printshellcmds": True}])
def test_leaves_messages_to_snakemake_on_request(show, switch):
    handler = show(run_info(3), begin(1, "code", 0), message("careful", logging.WARNING), stream=Terminal(), **switch)
    handler.tick(START + 5)
    assert handler.lines() == ["lssc: 3 jobs", "lssc: 0 of 3 jobs done (0 %), 1 running (code 0:05)"]
    assert not handler.writes_to_stream


def test_no_error_of_the_display_ends_the_run(show, monkeypatch):
    handled = []
    monkeypatch.setattr(plugin.LogHandler, "handleError", lambda self, record: handled.append(record))
    handler = show(event(LogEvent.RUN_INFO), run_info(3), event(LogEvent.JOB_INFO), begin(1, "code", 0))
    assert len(handled) == 2  # RUN_INFO without stats, JOB_INFO without a job
    handler.screen.stream.close()
    handler.tick(START + 100)
    handler.close()


def test_the_thread_ends_with_the_handler(monkeypatch):
    monkeypatch.setattr(display, "BAR_SECONDS", 0.01)
    common = SimpleNamespace(quiet=None, dryrun=False, verbose=False, printshellcmds=False, stdout=False)
    handler = plugin.LogHandler(common, None)
    handler.screen = display.Screen(Terminal())
    for record in (run_info(2), begin(1, "code", 0)):
        handler.handle(record)
    deadline = time.monotonic() + 10
    while handler.screen.stream.getvalue().count("\r") < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    handler.close()
    text = handler.screen.stream.getvalue()
    time.sleep(0.1)
    assert text.count("\r") >= 2
    assert text == handler.screen.stream.getvalue()


def test_snakemake_finds_the_plugin_and_leaves_the_stream_to_it(capsys):
    manager = LoggerManager(logger, OutputSettings(log_handler_settings={"lssc": plugin.LogHandlerSettings()}))
    logger.info("Job stats", extra={"event": LogEvent.RUN_INFO, "stats": {"code": 1, "total": 1}})
    logger.info("Building DAG of jobs...")
    logger.error("an error")
    manager.stop()
    assert capsys.readouterr().err.splitlines() == ["lssc: 1 job", "an error", "lssc: 0 of 1 job done in 1 s"]
