"""Damaged artifacts and killed runs are mended by running the same command again."""

import os
import signal
import subprocess
import time

import pytest

from tests.workflow.conftest import SCORES, Pipeline, arrays, environment

pytestmark = pytest.mark.workflow


def check_reported(done, victim, pipeline):
    """One line names the damaged file and says that it was moved aside."""
    [message] = [line for line in done.stderr.splitlines() if "moved aside" in line]
    assert str(victim.relative_to(pipeline.folder)) in message


def test_truncated_artifact_is_reported_and_moved_aside(pipeline, finished):
    victim = pipeline.artifacts("codes")[0]
    victim.write_bytes(victim.read_bytes()[:-1])
    done = pipeline.run()
    assert done.returncode == 0
    check_reported(done, victim, pipeline)
    assert not victim.exists()
    assert pipeline.scores() == finished.scores()


def test_flipped_bits_are_reported_by_the_reader_and_mended_by_the_next_run(pipeline, finished):
    # A run without jobs records the files as they are: the damage below changes neither time nor size.
    pipeline.run()
    victim = pipeline.artifacts("codes")[0]
    content, before = bytearray(victim.read_bytes()), victim.stat()
    start = bytes(content).index(arrays(victim)["trial_000/codes_data"].tobytes())
    content[start] ^= 0xFF
    victim.write_bytes(content)
    os.utime(victim, ns=(before.st_mtime_ns, before.st_mtime_ns))
    # Without the files made from it, the next run has to read it.
    for path in [pipeline.folder / SCORES, *victim.parent.glob("**/*.h5")]:
        if path != victim:
            path.unlink()
    first = pipeline.run()
    assert first.returncode != 0
    check_reported(first, victim, pipeline)
    pipeline.finish(SCORES)
    assert pipeline.scores() == finished.scores()


def test_killed_run_continues_with_the_same_command(finished, tmp_path):
    killed = Pipeline(tmp_path / "killed")
    killed.experiment["methods"] = ["fsc_uniform", "ssc_omp"]
    output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen(killed.command(SCORES), **output, env=environment(), start_new_session=True)
    deadline = time.monotonic() + 120
    while not killed.artifacts("labels") and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(started.pid, signal.SIGTERM)
    started.wait(timeout=60)
    kept = {path: path.stat().st_mtime_ns for path in killed.artifacts("codes")}
    assert kept
    killed.finish(SCORES)
    assert set(killed.scores()) < set(finished.scores())
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
