"""Damage that shows only when an artifact is read. `make test-crash` covers other damage and killed runs."""

import os

import pytest

from tests.workflow.conftest import SCORES, arrays

pytestmark = pytest.mark.workflow


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
    [message] = [line for line in first.stderr.splitlines() if "moved aside" in line]
    assert str(victim.relative_to(pipeline.folder)) in message
    pipeline.finish(SCORES)
    assert pipeline.scores() == finished.scores()
