import pytest

from lssc.pipeline import timing
from lssc.pipeline.timing import timed, timed_blocks


@pytest.fixture
def clock(monkeypatch):
    """Both clocks of the module, in seconds; tests set them forward."""
    clock = {"wall": 70.0, "cpu": 20.0}
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock["wall"])
    monkeypatch.setattr(timing.time, "process_time", lambda: clock["cpu"])
    return clock


def test_returns_value_and_cost(clock):
    def work(a, b):
        clock["wall"] += 3
        clock["cpu"] += 2
        return a + b

    value, spent = timed(work, 1, b=2)
    peak_mb = spent.pop("peak_mb")
    assert value == 3
    assert spent == {"seconds": 3, "cpu_seconds": 2}
    # Memory of this process: numpy alone takes more than the first, no test machine has the second.
    assert 10 < peak_mb < 1e6


def test_times_the_making_of_blocks_but_not_their_use(clock):
    def blocks():
        for number in (10, 20):
            clock["wall"] += 1
            yield number

    spent = {"seconds": 5.0, "cpu_seconds": 0.0, "peak_mb": 0.0}
    made = []
    for block in timed_blocks(blocks(), spent):
        made.append(block)
        clock["wall"] += 100
    assert made == [10, 20]
    assert spent["seconds"] == 7
    assert spent["peak_mb"] > 10
