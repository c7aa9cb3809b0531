"""Rows that Dask holds: functions run where the rows are, and only sums and samples come to the client."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dask
import numpy as np
from dask import array as da

from lssc.blocks import Blocks, Sums
from lssc.distributed.memory import explaining_lost_workers
from lssc.shards import Shard
from lssc.types import IndexArray

# Sums that are added in one task.
ADDED_AT_ONCE = 8


class DaskBlocks(Blocks):
    """Blocks of rows, each made by a task. They are the same for every number of workers, and so are all sums."""

    def __init__(self, parts: Sequence[Any], lengths: Sequence[int], row: tuple[int, ...], dtype: Any) -> None:
        self.parts, self.lengths = tuple(parts), tuple(lengths)
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        self.shape, self.dtype = (int(self.starts[-1]), *row), np.dtype(dtype)

    @property
    def array(self) -> da.Array:
        """The rows as a Dask array."""
        parts = zip(self.parts, self.lengths, strict=True)
        arrays = [da.from_delayed(part, (length, *self.shape[1:]), dtype=self.dtype) for part, length in parts]
        return da.concatenate(arrays) if len(arrays) > 1 else arrays[0]

    def gather(self, function: Callable[..., Any], rows: IndexArray, *beside: Any) -> Any:
        order = np.argsort(rows, kind="stable")
        edges = np.searchsorted(rows[order], self.starts)
        taken: list[list[Any]] = [[] for _ in range(1 + len(beside))]
        step = _Step("sample")
        for i in range(len(self.parts)):
            if edges[i] < edges[i + 1]:
                local = dask.delayed(rows[order[edges[i] : edges[i + 1]]] - self.starts[i], traverse=False)
                for place, blocks in enumerate((self, *beside)):
                    taken[place].append(step(_take, blocks.parts[i], local))
        return compute(_Step(name_of(function))(partial(_on_rows, function, order), *taken))

    def sum(self, function: Callable[..., Sums], *beside: Any) -> Sums:
        sums, add = self._each(function, *beside), _Step(f"add_{name_of(function)}")
        while len(sums) > 1:
            sums = [add(_add, *sums[i : i + ADDED_AT_ONCE]) for i in range(0, len(sums), ADDED_AT_ONCE)]
        return compute(sums[0])

    def map(
        self, function: Callable[..., np.ndarray], *beside: Any, row: tuple[int, ...], dtype: Any, again: bool = False
    ) -> DaskBlocks:
        return DaskBlocks(self._each(function, *beside), self.lengths, row, dtype).kept()

    def map_with_start(self, function: Callable[..., Any], *, row: tuple[int, ...], dtype: Any) -> DaskBlocks:
        """The same with the number of the block's first row as a second argument. Nothing runs yet."""
        starts = [int(start) for start in self.starts[:-1]]
        step, shared = _Step(name_of(function)), dask.delayed(function, traverse=False)
        parts = [step(_call, shared, part, start) for part, start in zip(self.parts, starts, strict=True)]
        return DaskBlocks(parts, self.lengths, row, dtype)

    def kept(self) -> DaskBlocks:
        """The blocks made, and kept where they were made; if a worker is lost, Dask makes its blocks again."""
        return DaskBlocks(persist(self.parts), self.lengths, self.shape[1:], self.dtype)

    def _each(self, function: Callable[..., Any], *beside: Any) -> list[Any]:
        # One task holds the function with its arrays, such as landmarks; workers pass it on to each other.
        step, shared = _Step(name_of(function)), dask.delayed(function, traverse=False)
        return [step(_call, shared, *parts) for parts in zip(self.parts, *(b.parts for b in beside), strict=True)]


class _Step:
    """Makes tasks that Dask's dashboard shows under one name."""

    def __init__(self, name: str) -> None:
        self._name, self._number = f"{name}-{uuid.uuid4().hex}", 0

    def __call__(self, function: Callable[..., Any], *args: Any) -> Any:
        self._number += 1
        return dask.delayed(function, pure=False)(*args, dask_key_name=f"{self._name}-{self._number}")


def name_of(function: Callable[..., Any]) -> str:
    while isinstance(function, partial):
        function = function.func
    return function.__name__.strip("_")


def compute(task: Any) -> Any:
    """The result of one task, which is small."""
    with explaining_lost_workers():
        return dask.compute(task)[0]


def persist(tasks: Sequence[Any]) -> Sequence[Any]:
    """Run the tasks to their end and keep their results where they are."""
    with explaining_lost_workers():
        kept = dask.persist(*tasks)
        _wait(kept)
    return kept


def _wait(tasks: Sequence[Any]) -> None:
    """Wait for tasks on a cluster; raise the error of one that failed."""
    try:
        from distributed import futures_of, wait
    except ModuleNotFoundError:
        return
    futures = futures_of(tasks)
    if futures:
        wait(futures)
        for future in futures:
            if future.status == "error":
                future.result()


def _call(function: Callable[..., Any], *args: Any) -> Any:
    return function(*(arg.load() if isinstance(arg, Shard) else arg for arg in args))


def _take(block: Any, rows: IndexArray) -> np.ndarray:
    return block[rows]


def _on_rows(function: Callable[..., Any], order: IndexArray, *taken: Sequence[np.ndarray]) -> Any:
    """The function of rows that come in increasing order, put back into the order in which they were asked for."""
    places = np.argsort(order, kind="stable")
    arrays = (np.concatenate(blocks) for blocks in taken)
    in_order = bool((np.diff(order) == 1).all())
    return function(*(array if in_order else array[places] for array in arrays))


def _add(*sums: Sums) -> Sums:
    totals = tuple(np.array(array) for array in sums[0])
    for other in sums[1:]:
        for total, array in zip(totals, other, strict=True):
            np.add(total, array, out=total)
    return totals
