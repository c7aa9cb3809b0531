"""What a person sees of real runs, from a shell in which no environment is activated."""

import os
import re
import signal
import subprocess
import time

import pytest

from lssc.pipeline.snakemake.hooks import INTERRUPTED
from tests.workflow.conftest import SCORES, Pipeline

pytestmark = pytest.mark.workflow


def _hear_interrupts() -> None:
    """A shell's background jobs ignore SIGINT, and so would the run if the tests are such a job."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Seen(Pipeline):
    """Runs as a user's: Snakemake's own messages are not shown, and PATH leads to no Python of ours."""

    def __init__(self, folder):
        super().__init__(folder)
        self.experiment["methods"] = ["fsc_uniform"]

    def start(self, *arguments: str) -> subprocess.Popen:
        command = [option for option in self.command(SCORES, *arguments) if option != "--logger-lssc-show-jobs"]
        environment = {**os.environ, "PATH": "/usr/bin:/bin"}
        options = {"stderr": subprocess.PIPE, "text": True, "env": environment, "start_new_session": True}
        return subprocess.Popen(command, **options, preexec_fn=_hear_interrupts)

    def lines(self, *options: str) -> list[str]:
        """What a run prints, without Snakemake's line on profiles."""
        return self.start(*options).communicate(timeout=300)[1].splitlines()[1:]


@pytest.fixture(scope="module")
def seen(tmp_path_factory) -> tuple[Seen, list[str]]:
    run = Seen(tmp_path_factory.mktemp("seen"))
    return run, run.lines()


def test_a_run_shows_progress_and_where_results_are(seen):
    run, lines = seen
    [log] = run.folder.glob(".snakemake/log/*")
    n_jobs = log.read_text().count("Finished jobid:")
    assert n_jobs > 5
    assert lines[0] == f"lssc: {n_jobs} jobs; log: {log.relative_to(run.folder)}"
    assert lines[-1].startswith(f"lssc: {n_jobs} jobs done in ")
    assert lines[-1].endswith("; results in results")
    assert all(line.startswith("lssc: ") and f" of {n_jobs} jobs done (" in line for line in lines[1:-1])
    assert log.read_text().count("rule code_points:") == 1
    assert len(run.scores()) == 3


def test_a_run_with_nothing_to_do_says_so(seen):
    assert seen[0].lines() == ["Nothing to be done (all requested files are present and up to date)."]


def test_a_failed_job_is_reported_with_reason_and_log(tmp_path):
    run = Seen(tmp_path)
    # The second run, which has nothing to do, records the file as it is.
    for _ in range(2):
        run.lines("--until", "generate_data")
    [data] = run.artifacts("data")
    # Damage that only reading reveals: size and time are as before.
    content, before = bytearray(data.read_bytes()), data.stat()
    content[len(content) // 2] ^= 0xFF
    data.write_bytes(content)
    os.utime(data, ns=(before.st_mtime_ns, before.st_mtime_ns))
    lines = run.lines()
    name = data.relative_to(tmp_path)
    assert lines[-3].startswith(f"error: select_landmarks m=20: {name}: ")
    assert lines[-2].startswith("  log: results/")
    assert re.fullmatch(r"lssc: \d of \d jobs done in \d+ (?:s|min), 1 failed", lines[-1])


def test_ctrl_c_says_how_to_go_on(tmp_path):
    run = Seen(tmp_path)
    run.experiment["n"] = [4000]
    run.experiment["methods"] = ["ssc_admm"]
    process = run.start()
    deadline = time.monotonic() + 120
    while not run.artifacts("landmarks") and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(3)
    os.killpg(process.pid, signal.SIGINT)
    lines = process.communicate(timeout=60)[1].splitlines()
    assert process.returncode == 128 + signal.SIGINT
    assert lines[-2] == INTERRUPTED
    assert re.fullmatch(r"lssc: \d of \d jobs done in \d+ (?:s|min)", lines[-1])
    assert not [line for line in lines if "fail" in line or "Traceback" in line]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: -1", "seed: -1 must be at least 0"),
        ("sead: 1", "sead: unknown key; did you mean 'seed'?"),
        ("run: [", "line 1: "),
    ],
)
def test_a_config_error_is_one_line(tmp_path, text, message):
    (tmp_path / "own.yaml").write_text(text)
    run = Seen(tmp_path)
    process = run.start("--configfile", str(tmp_path / "own.yaml"))
    lines = process.communicate(timeout=60)[1].splitlines()
    assert process.returncode == 1
    assert len(lines) <= 2
    assert lines[-1].startswith("config: ")
    assert message in lines[-1]
    assert not (tmp_path / "results").exists()
