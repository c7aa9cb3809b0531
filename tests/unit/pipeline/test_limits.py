"""Limits of time and memory: a child process that reaches one is ended, others end as they would without."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lssc.errors import InputError
from lssc.pipeline.limits import cpu_limit, limit_reached, refusing


def spin():
    with cpu_limit(0.5):
        while True:
            pass


def work(path):
    with cpu_limit(100):
        path.write_text("done")
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] == resource.getrlimit(resource.RLIMIT_CPU)[1]


OUT = Path("labels.h5")


def test_endless_work_reaches_the_time_limit():
    assert limit_reached(spin, OUT) == "time_limit"


def test_short_work_reaches_no_limit(tmp_path):
    assert limit_reached(lambda: work(tmp_path / "out"), OUT) is None
    assert (tmp_path / "out").read_text() == "done"


def test_nothing_left_of_the_time_limit_ends_at_once():
    def late():
        with cpu_limit(0):
            raise AssertionError

    assert limit_reached(late, OUT) == "time_limit"


def test_large_array_reaches_the_memory_limit():
    assert limit_reached(lambda: np.zeros(10**9), OUT, megabytes=4_000) == "memory_limit"
    assert limit_reached(lambda: np.zeros(10**6), OUT, megabytes=4_000) is None


FAILING = """
import sys
from pathlib import Path
from lssc.errors import InputError
from lssc.pipeline.limits import limit_reached

def fail():
    raise {error}

limit_reached(fail, Path("labels.h5"))
"""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("InputError('no such file')", "while making labels.h5: no such file"),
        ("MemoryError('8 TB')", "while making labels.h5: not enough memory; 8 TB"),
    ],
)
def test_error_of_the_child_ends_the_parent_with_its_message(error, message):
    done = subprocess.run([sys.executable, "-c", FAILING.format(error=error)], capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (1, message)


def test_other_signals_are_failures():
    with pytest.raises(SystemExit) as ended:
        limit_reached(lambda: signal.raise_signal(signal.SIGKILL), OUT)
    assert ended.value.code == 128 + signal.SIGKILL


@pytest.mark.parametrize("error", [InputError("eta is too large"), np.linalg.LinAlgError("singular")])
def test_part_that_cannot_work_with_its_points_is_recorded_as_refused(error):
    def refuse():
        with refusing(True):
            raise error

    assert limit_reached(refuse, OUT) == "refused"
    with pytest.raises(type(error)), refusing(False):
        raise error
