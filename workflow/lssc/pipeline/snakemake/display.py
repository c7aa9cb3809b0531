"""What a person sees of a run: a progress bar in a terminal or a line now and then elsewhere, warnings and errors.

Snakemake's own messages, with a block for every job, go to its log file. `--logger-lssc-show-jobs` prints them as well.
Every Snakemake that finds the logger plugin imports this module, so it imports nothing heavy.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterable
from typing import TextIO

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from lssc.pipeline.snakemake.progress import Job, Progress, disk_use, facts

# Seconds between two states of the bar.
BAR_SECONDS = 1.0
# Seconds between two lines where there is no terminal; the later in a run, the more, up to the second number.
LINE_SECONDS, MAX_LINE_SECONDS = 10.0, 60.0
# A line every twentieth of the time so far keeps the log of a long run short.
LINES_PER_LENGTH = 20
# Width of a terminal that does not say how wide it is.
DEFAULT_COLUMNS = 80
# Errors of jobs shown one by one; the rest are counted.
MAX_ERRORS = 8
# Characters of a job's error message, and bytes read from the end of its log for it.
MAX_MESSAGE, LOG_TAIL = 400, 20_000
SWITCH = "--logger-lssc-show-jobs"
SNAKEMAKE = logging.getLogger("snakemake.logging")
# Kinds of records that are shown as they are; the progress stands for the others.
SHOWN = {None, LogEvent.ERROR, LogEvent.DEBUG_DAG}
# Beginnings of Snakemake's messages that say nothing new to a user, or that this display says in its own words.
HIDDEN = (
    "Assuming unrestricted shared filesystem usage",
    "Building DAG of jobs",
    "Cleaning up SLURM log files",
    "Complete log(s):",
    "Conda environments: ignored",
    "Config file ",
    "Elapsed time:",
    "Exiting because a job execution failed",
    "Group jobs: inactive",
    "Job rate limit reached",
    "SLURM run ID:",
    "Select jobs to execute",
    "Shutting down, this might take some time",
    "Singularity containers: ignored",
    "Some jobs were triggered by provenance information",
    "Submitted ",
    "Terminating processes on user request",
    "Using shell:",
    "WorkflowError:\nAt least one job did not complete successfully",
    "--keep-incomplete mode is set",
)
# The same, of the Slurm plugin.
SUBMITTED = "has been submitted with SLURM jobid"


class Screen:
    """A stream with a bar in its last line, if it is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.is_terminal: bool = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.has_bar = False

    def columns(self) -> int:
        with contextlib.suppress(OSError, ValueError):
            return os.get_terminal_size(self.stream.fileno()).columns or DEFAULT_COLUMNS
        return DEFAULT_COLUMNS

    def print(self, text: str) -> None:
        """Print lines above the bar, which has to be drawn again."""
        self._write(f"{self._cleared()}{text}\n")
        self.has_bar = False

    def draw(self, bar: str) -> None:
        self._write(self._cleared() + bar)
        self.has_bar = True

    def clear(self) -> None:
        self._write(self._cleared())
        self.has_bar = False

    def _cleared(self) -> str:
        return "\r\x1b[K" if self.has_bar else ""

    def _write(self, text: str) -> None:
        # A run goes on when nobody reads what it prints.
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(text)
            self.stream.flush()


def last_line(path: str) -> str:
    """The last line of a job's log that is not empty, without control characters; nothing if it cannot be read."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        file.seek(-min(LOG_TAIL, os.fstat(file.fileno()).st_size), os.SEEK_END)
        lines = file.read().decode(errors="replace").splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "")
        return "".join(filter(str.isprintable, last)).strip()[:MAX_MESSAGE]
    return ""


def failure(name: str, logs: Iterable[str], reason: str | None = None) -> str:
    """What failed and why, by the first log that says something, and where that log is."""
    logs = list(logs)
    for path in logs:
        if line := last_line(path):
            return f"error: {name}: {line}\n  log: {path}"
    message = reason or "ended without a message; it was killed, by a user or for want of memory or disk space"
    return f"error: {name}: {message}" + (f"\n  log: {logs[0]}" if logs else "")


class ProgressHandler(LogHandlerBase):
    """Shows the run from Snakemake's log records, which its listener thread hands over one by one."""

    writes_to_file = False
    has_filter = True  # Snakemake's would hold back events that are counted
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        settings = self.common_settings
        quiet = {str(getattr(kind, "name", kind)).lower() for kind in settings.quiet or ()}
        self.show_jobs = bool(getattr(self.settings, "show_jobs", False) or settings.verbose or settings.printshellcmds)
        self.least_level = logging.ERROR if "all" in quiet else logging.DEBUG if settings.verbose else logging.INFO
        self.shows_progress = not (settings.dryrun or quiet & {"all", "progress"})
        self.screen = Screen(sys.stdout if settings.stdout else sys.stderr)
        self.is_cluster = False
        self.progress: Progress | None = None
        self.has_table = False
        self.printed = {"", "None"}  # messages that are not shown again
        self.n_errors = 0
        self.ended = threading.Event()

    @property
    def writes_to_stream(self) -> bool:
        """Whether Snakemake's own messages are kept off the terminal."""
        return not self.show_jobs

    def emit(self, record: logging.LogRecord) -> None:
        """Count and show one record; whatever goes wrong here, the run goes on."""
        try:
            event = getattr(record, "event", None)
            if event == LogEvent.RESOURCES_INFO and hasattr(record, "nodes"):
                self.is_cluster = True
            elif event == LogEvent.RUN_INFO and not self.common_settings.dryrun:
                self._start(record)
            job = self.progress.update(record) if self.progress and event else None
            if not self.show_jobs:
                self._show(record, event, job)
        except Exception:
            self.handleError(record)

    def _start(self, record: logging.LogRecord) -> None:
        self.progress = Progress(record.created, record.stats["total"], self.is_cluster)
        if self.shows_progress:
            logs = filter(None, (getattr(handler, "baseFilename", None) for handler in SNAKEMAKE.handlers))
            places = [f"log: {os.path.relpath(path)}" for path in logs]
            self.screen.print("; ".join([f"lssc: {self.progress.all_jobs}", *disk_use(), *places]))
            threading.Thread(target=self._watch, name="lssc-progress", daemon=True).start()

    def _show(self, record: logging.LogRecord, event: LogEvent | None, job: Job | None) -> None:
        """Show what a record says that the bar does not."""
        if event == LogEvent.GROUP_ERROR:
            # Of the jobs of a group one has failed; the others have said nothing, or will not start.
            logs = [path for info in record.job_error_info for path in info["log"]]
            self._print_error(failure(f"group {record.groupid}", [*logs, *record.aux_logs]))
        elif event == LogEvent.JOB_ERROR and not record.indent:
            self._print_error(failure(job.name if job else record.rule_name, record.log, record.rule_msg))
        elif event == LogEvent.RUN_INFO and self.common_settings.dryrun:
            if not self.has_table:  # Snakemake prints it twice
                self.screen.print(f"{record.msg}\n{SWITCH} lists every job with its files and the reason to run it.\n")
            self.has_table = True
        elif event in SHOWN and record.levelno >= self.least_level:
            self._print_message(record)

    def _print_message(self, record: logging.LogRecord) -> None:
        text = str(record.msg).strip("\n")
        failed_command = getattr(record, "exception", None) == "RuleException" and "CalledProcessError" in text
        if text.startswith(HIDDEN) or SUBMITTED in text or failed_command or text in self.printed:
            return
        self.printed.add(text)
        self.screen.print(f"warning: {text}" if record.levelno == logging.WARNING else text)

    def _print_error(self, text: str) -> None:
        # Ctrl-C reaches jobs as well: that they end is no news.
        if not facts.interrupted.is_set():
            self.n_errors += 1
            if self.n_errors <= MAX_ERRORS:
                self.screen.print(text)

    def _watch(self) -> None:
        """Show progress until the run ends; runs in a thread of its own, as jobs may take long without an event."""
        seconds = BAR_SECONDS if self.screen.is_terminal else LINE_SECONDS
        while not self.ended.wait(seconds):
            seconds = self.tick(time.time())

    def tick(self, now: float) -> float:
        """Show the progress; returns the seconds until the next time."""
        with self.lock:
            if self.ended.is_set() or not self.progress.running:
                return BAR_SECONDS
            if self.screen.is_terminal and not self.show_jobs:
                self.screen.draw(self.progress.bar(now, self.screen.columns()))
                return BAR_SECONDS
            self.screen.print(self.progress.line(now))
            return min(MAX_LINE_SECONDS, max(LINE_SECONDS, (now - self.progress.started) / LINES_PER_LENGTH))

    def close(self) -> None:
        """Show how the run ended. Snakemake calls this once all events are through, the interpreter once more."""
        with self.lock:
            if not self.ended.is_set():
                self.ended.set()
                self._print_end(time.time())
        super().close()

    def _print_end(self, now: float) -> None:
        self.screen.clear()
        if self.n_errors > MAX_ERRORS:
            self.screen.print(f"{self.n_errors - MAX_ERRORS} more errors")
        if self.progress and self.shows_progress:
            self.screen.print(self.progress.summary(now))
