"""A Snakemake logger plugin (`--logger lssc`): now and then one line on how far a long run is.

    lssc: 130 of 420 jobs done (31 %), 2 running (code_points ssc_admm 3:10, embed_points 0:02), about 14 min left

On a cluster jobs are `submitted` instead, which may mean queued; all jobs of a group begin and end together.
Every Snakemake on this path imports every logger plugin, so nothing heavy may be imported here.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

PERIOD = 5.0  # seconds; lines come no closer together
SILENCE = 60.0  # seconds; after so long a line comes even though no job has finished
TRUST = 60.0  # seconds of expected work; once so much is done, the time it took counts as much as expectation
SHOWN = 3  # running jobs named in a line
WIDTH = 24  # letters of a wildcard's value

# Id of a job -> seconds that it should take. The workflow, which knows its jobs' sizes, fills it in when a run starts.
expected: dict[int, float] = {}

# Through Snakemake's own logger the lines cannot tear its messages apart, and its log file has them too.
OUT = logging.getLogger("snakemake.logging")


def read_config_files_as_data() -> None:
    """Put our reader in the place of Snakemake's, which runs Python code that a config file may hold (YTE templates).

    This module is the only one of ours that Snakemake imports before it reads the first config file.
    """
    from snakemake.common import configfile

    def read(path: str | Path, filetype: str = "Config") -> dict[str, Any]:
        from lssc.pipeline.config.files import read_config
        from lssc.pipeline.study.recipes import ConfigError

        try:
            return read_config(path)
        except ConfigError as error:
            raise WorkflowError(str(error)) from None

    configfile._load_configfile = read


read_config_files_as_data()


@dataclass(frozen=True)
class Job:
    rule: str
    wildcards: Mapping[str, str]
    started: float


def duration(seconds: float) -> str:
    """40 s, 14 min or 2 h 05 min."""
    if round(seconds) < 60:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def clock(seconds: float) -> str:
    """0:02, 3:10 or 1:00:00."""
    minutes, seconds = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def label(job: Job, running: Iterable[Job]) -> str:
    """The rule with what tells the job from others of that rule, and the last wildcard, the stage's own part."""
    own = list(job.wildcards.items())
    peers = [other.wildcards for other in running if other.rule == job.rule]
    told = [(key, value) for key, value in own[:-1] if any(peer.get(key) != value for peer in peers)] + own[-1:]
    # A bare number would not say what it counts.
    pieces = [f"{key}={value}" if value.isdigit() else value[:WIDTH] for key, value in told[-2:]]
    return " ".join([job.rule, *pieces])


def remaining(todo: Mapping[int, float], running: Mapping[int, float], scale: float, width: int) -> float:
    """Seconds until all is done.

    `todo` has the expected seconds of unfinished jobs, `running` the seconds so far of those that have begun; jobs take
    `scale` times what was expected, and `width` of them run side by side.
    """
    left = [max(0.0, scale * seconds - running.get(id, 0.0)) for id, seconds in todo.items()]
    # A long job does not get faster by idle cores.
    return max(sum(left) / width, *left, 0.0)


@dataclass
class Progress:
    """What the events so far say about the run."""

    started: float
    total: int  # of RUN_INFO: the one of PROGRESS leaves --until out of account
    begun: str = "running"  # what is known of a job that is not done
    width: int = 1
    running: dict[int, Job] = field(default_factory=dict)
    done: int = 0
    took: float = TRUST  # seconds of finished jobs
    should: float = TRUST  # and what was expected of them
    failed: set[int] = field(default_factory=set)

    def update(self, record: logging.LogRecord) -> None:
        """Take in one event; the time that counts is the record's, as records wait in a queue."""
        match record.event:
            case LogEvent.JOB_INFO:
                self.running[record.jobid] = Job(record.rule_name, dict(record.wildcards), record.created)
                self.width = max(self.width, len(self.running))
                self.failed.discard(record.jobid)  # another attempt
            case LogEvent.JOB_FINISHED:
                if job := self.running.pop(record.job_id, None):
                    self.done += 1
                    self.took += record.created - job.started
                    self.should += expected.pop(record.job_id, 0.0)
            case LogEvent.JOB_ERROR:
                self.running.pop(record.jobid, None)
                self.failed.add(record.jobid)

    def line(self, now: float) -> str:
        """The state of a run under way."""
        oldest = sorted(self.running.values(), key=lambda job: job.started)
        names = [f"{label(job, oldest)} {clock(now - job.started)}" for job in oldest[:SHOWN]]
        names += ["..."] * (len(oldest) > SHOWN)
        spent = {id: now - job.started for id, job in self.running.items()}
        left = remaining(expected, spent, self.took / self.should, self.width)
        percent = min(99, round(100 * self.done / self.total))  # 100 is for the end
        parts = [f"{self.done} of {self.total} jobs done ({percent} %)"]
        parts += [f"{len(self.failed)} failed"] * bool(self.failed)
        parts += [f"{len(oldest)} {self.begun} ({', '.join(names)})"] * bool(oldest)
        parts += [f"about {duration(left)} left"] if left else []
        return "lssc: " + ", ".join(parts)

    def summary(self, now: float) -> str:
        """The outcome of a run that has ended."""
        of = "" if self.done == self.total else f" of {self.total}"
        failed = f", {len(self.failed)} failed" if self.failed else ""
        plural = "" if self.total == 1 else "s"
        return f"lssc: {self.done}{of} job{plural} done in {duration(now - self.started)}{failed}"


class LogHandler(LogHandlerBase):
    """Follows the events and lets a thread speak, so that lines come also while no event does."""

    # Snakemake keeps its own output beside a handler that claims neither the stream nor a file.
    writes_to_stream = False
    writes_to_file = False
    has_filter = True  # Snakemake's would hold back events that are needed for counting
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        quiet = {str(getattr(kind, "name", kind)).lower() for kind in self.common_settings.quiet or ()}
        self.silent = bool(self.common_settings.dryrun or quiet & {"all", "progress"})
        self.begun = "running"
        self.progress: Progress | None = None
        self.ended = threading.Event()
        self.spoke = 0.0  # when the last line came
        self.told = 0  # and how many jobs it said were done

    def emit(self, record: logging.LogRecord) -> None:
        """Take in one event; called by Snakemake's listener thread under the handler's lock."""
        if self.silent or self.ended.is_set() or getattr(record, "event", None) is None:
            return
        try:
            if self.progress:
                self.progress.update(record)
            elif record.event == LogEvent.RESOURCES_INFO and hasattr(record, "nodes"):  # a cluster's
                self.begun = "submitted"
            elif record.event == LogEvent.RUN_INFO:  # only a run that has something to do logs it
                self.progress = Progress(record.created, record.stats["total"], self.begun)
                self.spoke = record.created
                threading.Thread(target=self._watch, name="lssc-progress", daemon=True).start()
        except Exception:
            self.handleError(record)

    def _watch(self) -> None:
        while not self.ended.wait(PERIOD):
            self.tick(time.time())

    def tick(self, now: float) -> None:
        """Say how far the run is, if there is something new to say or nothing was said for long."""
        with self.lock:
            state = self.progress
            if self.ended.is_set() or not state or not state.running:
                return
            if state.done != self.told or now - self.spoke >= SILENCE:
                self.spoke, self.told = now, state.done
                self._say(state.line, now)

    def close(self) -> None:
        """Say how the run ended. Snakemake calls this once all events are through, the interpreter once more."""
        with self.lock:
            if self.progress and not self.ended.is_set():
                self._say(self.progress.summary, time.time())
            self.ended.set()
        super().close()

    def _say(self, text: Callable[[float], str], now: float) -> None:
        """Whatever goes wrong with a line, the run goes on."""
        try:
            OUT.info(text(now))
        except Exception:
            self.handleError(logging.makeLogRecord({"msg": "progress of the run"}))
