"""Compiling ahead covers the parts whose machine code can be kept."""

from lssc.parts.compiling import UNCACHED, every_part
from lssc.parts.registry import FOLDERS, names


def test_leaves_out_only_parts_that_compile_in_every_process():
    everything = {(kind, name) for kind in FOLDERS for name in names(kind)}
    assert everything > UNCACHED
    assert set(every_part()) == everything - UNCACHED
