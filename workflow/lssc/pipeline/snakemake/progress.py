"""Counts the jobs of a run from Snakemake's log events and estimates the time left."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from snakemake_interface_logger_plugins.common import LogEvent

# Seconds of work by which the estimate is trusted before measured times count: it damps the first few jobs.
PRIOR_SECONDS = 60.0
# Characters of a wildcard's value in the name of a job: with them the bar fits into 80 columns.
MAX_NAME = 14


@dataclass
class RunFacts:
    """What the workflow knows and the display needs; the workflow fills it in when a run starts."""

    expected_seconds: dict[int, float] = field(default_factory=dict)  # by job id, of unfinished jobs
    expected_bytes: float = 0.0  # of the files that the run makes
    free_bytes: float = math.inf  # of the disk of the results
    results: str = ""  # folder of the results
    interrupted: threading.Event = field(default_factory=threading.Event)  # by Ctrl-C


facts = RunFacts()
# Bytes of files from which on a run says how many it makes.
MANY_BYTES = 10**9


def disk_use() -> list[str]:
    """How much disk the run takes, if this is much, and what is free, if this is less."""
    needed, free = facts.expected_bytes, facts.free_bytes
    if needed < min(MANY_BYTES, free):
        return []
    return [f"about {needed / 1e9:.1f} GB of files" + (f", {free / 1e9:.1f} GB are free" if free < needed else "")]


@dataclass(frozen=True)
class Job:
    name: str
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


def job_name(rule: str, wildcards: Mapping[str, str]) -> str:
    """The rule and its last wildcard, which names the part that runs."""
    if not wildcards:
        return rule
    key, value = list(wildcards.items())[-1]
    return f"{rule} {key}={value}" if value.isdigit() else f"{rule} {value[:MAX_NAME]}"


def seconds_left(todo: Mapping[int, float], running: Mapping[int, float], scale: float, width: int) -> float:
    """Seconds until all jobs are done.

    `todo` has the expected seconds of unfinished jobs, `running` the seconds so far of those under way. Jobs take
    `scale` times what was expected, and `width` of them run side by side.
    """
    left = [max(0.0, scale * seconds - running.get(id, 0.0)) for id, seconds in todo.items()]
    # Idle cores do not speed up one long job.
    return max(sum(left) / width, *left, 0.0)


@dataclass
class Progress:
    """Counts jobs from Snakemake's log events."""

    started: float
    total: int  # of RUN_INFO; the total of PROGRESS events ignores --until
    is_cluster: bool = False
    width: int = 1  # most jobs seen side by side
    running: dict[int, Job] = field(default_factory=dict)
    done: int = 0
    failed: set[int] = field(default_factory=set)
    measured: float = PRIOR_SECONDS  # seconds that finished jobs took
    expected: float = PRIOR_SECONDS  # seconds that were expected of them

    def update(self, record: logging.LogRecord) -> Job | None:
        """Count one event; returns a job that has failed. Times are the record's: records queue up."""
        match record.event:
            case LogEvent.JOB_INFO:
                name = job_name(record.rule_name, record.wildcards)
                self.running[record.jobid] = Job(name, record.created)
                self.width = max(self.width, len(self.running))
                self.failed.discard(record.jobid)  # this is another attempt
            case LogEvent.JOB_FINISHED:
                if job := self.running.pop(record.job_id, None):
                    self.done += 1
                    self.measured += record.created - job.started
                    self.expected += facts.expected_seconds.pop(record.job_id, 0.0)
            case LogEvent.JOB_ERROR:
                self.failed.add(record.jobid)
                return self.running.pop(record.jobid, None)
        return None

    @property
    def all_jobs(self) -> str:
        return f"{self.total} job{'' if self.total == 1 else 's'}"

    def line(self, now: float) -> str:
        """State of the run in one line, for logs."""
        parts = [f"{self.done} of {self.total} jobs done ({self._percent()} %)"]
        parts += [f"{len(self.failed)} failed"] if self.failed else []
        left, (count, oldest) = self._time_left(now), self._under_way(now)
        parts += [f"{count} ({oldest})"] if count else []
        parts += [f"about {left} left"] if left else []
        return "lssc: " + ", ".join(parts)

    def bar(self, now: float, columns: int) -> str:
        """State of the run in one line of a terminal, cut to its width."""
        size = columns // 5
        filled = size * self.done // max(1, self.total)
        parts = [f"[{'#' * filled}{'-' * (size - filled)}] {self.done}/{self.total} jobs"]
        parts += [f"{len(self.failed)} failed"] if self.failed else []
        left, (count, oldest) = self._time_left(now), self._under_way(now)
        parts += [f"{left} left"] if left else []
        parts += [count if self.is_cluster else oldest] if count else []
        return ", ".join(parts)[: columns - 3]  # room for ^C

    def summary(self, now: float) -> str:
        """Outcome of a run that has ended."""
        of_total = "" if self.done == self.total else f"{self.done} of "
        failed = f", {len(self.failed)} failed" if self.failed and not facts.interrupted.is_set() else ""
        results = f"; results in {facts.results}" if facts.results and self.done == self.total else ""
        return f"lssc: {of_total}{self.all_jobs} done in {duration(now - self.started)}{failed}{results}"

    def _percent(self) -> int:
        return min(99, round(100 * self.done / self.total))  # 100 is for the end

    def _under_way(self, now: float) -> tuple[str, str]:
        """How many jobs are under way, and the oldest of them with its time."""
        if not self.running:
            return "", ""
        oldest = min(self.running.values(), key=lambda job: job.started)
        count = f"{len(self.running)} {'submitted' if self.is_cluster else 'running'}"
        return count, f"{oldest.name} {clock(now - oldest.started)}"

    def _time_left(self, now: float) -> str:
        spent = {id: now - job.started for id, job in self.running.items()}
        left = seconds_left(facts.expected_seconds, spent, self.measured / self.expected, self.width)
        return duration(left) if left else ""
