"""CPU limits: a child process that reaches one is ended, others end as they would without."""

import resource
import signal
import subprocess
import sys

import pytest

from lssc.pipeline.limits import cpu_limit, reaches_limit


def spin():
    with cpu_limit(0.5):
        while True:
            pass


def work(path):
    with cpu_limit(100):
        path.write_text("done")
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] == resource.getrlimit(resource.RLIMIT_CPU)[1]


def test_endless_work_reaches_its_limit():
    assert reaches_limit(spin)


def test_short_work_does_not(tmp_path):
    assert not reaches_limit(lambda: work(tmp_path / "out"))
    assert (tmp_path / "out").read_text() == "done"


def test_nothing_left_of_the_limit_ends_at_once():
    def late():
        with cpu_limit(0):
            raise AssertionError

    assert reaches_limit(late)


def test_error_of_the_child_ends_the_parent_with_its_message():
    code = "import sys; from lssc.pipeline.limits import reaches_limit; reaches_limit(lambda: sys.exit('no such file'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (1, "no such file")


def test_other_signals_are_failures():
    with pytest.raises(SystemExit) as ended:
        reaches_limit(lambda: signal.raise_signal(signal.SIGKILL))
    assert ended.value.code == 128 + signal.SIGKILL
