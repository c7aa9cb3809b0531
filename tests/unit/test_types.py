"""Arrays in blocks of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lssc import types
from lssc.types import RowBlocks, block_sizes


@given(st.integers(0, 50), st.integers(1, 40))
def test_block_sizes_add_up_and_are_bounded(n, row):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(types, "NUMBERS_PER_BLOCK", 20)
        sizes = block_sizes(n, row)
    assert sum(sizes) == n
    assert all(0 < size * row <= max(20, row) for size in sizes)


def test_blocks_can_be_read_only_once():
    blocks = RowBlocks((3, 2), np.dtype(float), iter([np.ones((2, 2)), np.zeros((1, 2))]))
    assert blocks.whole().tolist() == [[1, 1], [1, 1], [0, 0]]
    with pytest.raises(ValueError, match="blocks end at row 0"):
        blocks.whole()
