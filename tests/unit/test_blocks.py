"""Rows in blocks, in memory and in files: sums and results of each row do not depend on where the rows are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lssc.blocks import LocalBlocks, as_blocks, sample_rows
from lssc.shards import Shard, ShardRows, write_array
from lssc.types import RowBlocks, StoredRows


@pytest.fixture
def array(rng):
    return rng.normal(size=(50, 3))


def in_shards(array, folder):
    matrix, lengths = sparse.csr_matrix(array, dtype=np.float32), [20, 20, 10]
    starts = np.cumsum([0, *lengths[:-1]])
    shards = [
        Shard.write(folder, f"codes-{start}", matrix[start : start + length])
        for start, length in zip(starts, lengths, strict=True)
    ]
    return ShardRows(shards, lengths, 3)


KINDS = {
    "array": lambda array, folder: array,
    "file": lambda array, folder: StoredRows(array),
    "sparse": lambda array, folder: sparse.csr_matrix(array),
    "shards": in_shards,
}


def column_sums(block, *beside):
    return np.asarray(block.sum(axis=0)).ravel(), np.array([np.sum(other[:, 0]) for other in beside])


def row_sums(block, *beside):
    return np.asarray(block.sum(axis=1), dtype=np.float64).ravel() + sum(other[:, 0] for other in beside)


@pytest.fixture(params=[1, 7, 2**20])
def small_blocks(request, monkeypatch):
    monkeypatch.setattr("lssc.blocks.NUMBERS_PER_BLOCK", request.param)
    monkeypatch.setattr("lssc.blocks.SPARSE_ROWS_PER_BLOCK", request.param)


@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_rows_are_those_of_the_whole(kind, array, small_blocks, tmp_path):
    blocks = as_blocks(KINDS[kind](array, tmp_path))
    sums, beside = blocks.sum(column_sums, array, array)
    assert_allclose(sums, array.sum(axis=0), atol=1e-5)
    assert_allclose(beside, [array[:, 0].sum()] * 2)
    rows = blocks.map(row_sums, array, row=(), dtype=np.float64)
    assert_allclose(rows, array.sum(axis=1) + array[:, 0], atol=1e-5)


@pytest.mark.parametrize("rows", [np.arange(50), np.array([3]), np.array([40, 2, 2])], ids=["all", "one", "any order"])
def test_few_rows_come_in_the_order_asked_for(array, rows):
    assert_array_equal(as_blocks(array)[rows], array[rows])
    total = as_blocks(array).gather(lambda own, other: own.sum() - other.sum(), rows, 2 * array)
    assert total == pytest.approx(-array[rows].sum())


def test_large_result_is_made_block_by_block(array, monkeypatch, tmp_path):
    monkeypatch.setattr("lssc.types.MAX_IN_MEMORY", 10)
    blocks = LocalBlocks(array, 30)
    lazy = blocks.map(row_sums, row=(), dtype=np.float64)
    assert isinstance(lazy, RowBlocks)
    stored = write_array(str(tmp_path / "new"), "sums", lazy)
    assert_allclose(stored, array.sum(axis=1))
    assert_array_equal(np.load(tmp_path / "new/sums.npy"), stored)
    assert isinstance(blocks.map(row_sums, row=(), dtype=np.float64, again=True), np.ndarray)


def test_blocks_stay_blocks(array):
    blocks = LocalBlocks(array)
    assert as_blocks(blocks) is blocks


def test_sample_is_all_rows_or_some_in_order(rng):
    assert_array_equal(sample_rows(5, 5, rng=rng), range(5))
    rows = sample_rows(100, 10, rng=rng)
    assert len(set(rows)) == 10
    assert_array_equal(rows, np.sort(rows))


def test_interrupted_shard_leaves_no_file_of_its_name(tmp_path):
    class Broken:
        data = np.ones(2)

    with pytest.raises(AttributeError):
        Shard.write(tmp_path, "codes", Broken())
    assert not (tmp_path / "codes.h5").exists()


def test_codes_take_eight_bytes_a_nonzero(tmp_path):
    matrix = sparse.random(2000, 300, density=0.02, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    loaded = Shard.write(tmp_path, "codes", matrix).load()
    assert_array_equal(loaded.toarray(), matrix.toarray())
    assert loaded.data.itemsize + loaded.indices.itemsize == 8
