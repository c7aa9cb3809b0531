"""The arrays that the lasso's path works on: what it needs of the landmarks, and of the point that is being solved."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lssc.kernels.vectors import PAD
from lssc.types import Array

# Problems in more dimensions than this check residuals through G, those in fewer through coordinates.
MAX_DIMENSIONS_BY_COORDINATES = 32
# Up to this many landmarks G is formed even in few dimensions.
MAX_LANDMARKS_BY_GRAM = 2048
# Bytes of a cache line, at which arrays begin.
CACHE_LINE_BYTES = 64
# A landmark is dependent, and refused, if less than this share of its square lies outside the span of the active ones.
MIN_INDEPENDENT_SHARE, MIN_INDEPENDENT_SHARE32 = 1e-10, 1e-4
# A step longer than any that occurs; a finite number, as fast arithmetic may assume that there is no infinity.
NEVER, NEVER32 = 1e300, 1e30


class Dictionary(NamedTuple):
    """The landmarks: L, L' in single precision, G = L L' in both precisions, largest norm. Unused arrays are empty.

    `path_gram` is G in the precision of the path.
    """

    atoms: np.ndarray
    columns32: np.ndarray
    gram: np.ndarray
    gram32: np.ndarray
    path_gram: np.ndarray
    longest: float


class LassoWorkspace(NamedTuple):
    """Arrays of the point that is being solved."""

    # By candidate: landmark, r, how fast r falls, step at which it joins, whether it may join.
    candidates: np.ndarray
    r: np.ndarray
    rate: np.ndarray
    when: np.ndarray
    free: np.ndarray
    # Rows of G of the active landmarks, and coordinates, by candidate.
    rows: np.ndarray
    coordinates: np.ndarray
    # By active landmark: landmark, coefficient, sign, slope of the coefficient, a vector to work in, inner product with
    # the landmark that joins, step at which it leaves.
    active: np.ndarray
    weight: np.ndarray
    sign: np.ndarray
    slope: np.ndarray
    column: np.ndarray
    products: np.ndarray
    ends: np.ndarray
    # Inverse of the Gram matrix of the active landmarks.
    inverse: np.ndarray
    # The Gram matrix itself and the correlations of the active landmarks, to refine the coefficients.
    block: np.ndarray
    correlation: np.ndarray
    # r by landmark in single precision, landmarks near the level, x - L'c, a float to work in, and the ridge penalty.
    residual32: np.ndarray
    near: np.ndarray
    remainder: np.ndarray
    cell: np.ndarray
    ridge: np.ndarray
    # NEVER and MIN_INDEPENDENT_SHARE.
    limits: np.ndarray


def make_dictionary(landmarks: Array) -> Dictionary:
    """What the solver needs of the landmarks (rows)."""
    few, empty = landmarks.shape[1] <= MAX_DIMENSIONS_BY_COORDINATES, np.empty((0, 0))
    gram = empty if few and len(landmarks) > MAX_LANDMARKS_BY_GRAM else landmarks @ landmarks.T
    columns32 = np.ascontiguousarray(landmarks.T if few else empty, dtype=np.float32)
    with np.errstate(over="ignore"):  # points then count as failed
        gram32 = (empty if few else gram).astype(np.float32)
    longest = float(np.sqrt((landmarks**2).sum(axis=1).max(initial=0)))
    return Dictionary(np.ascontiguousarray(landmarks), columns32, gram, gram32, gram, longest)


def make_lasso_workspace(m: int, D: int, most: int = 0, dtype: Any = np.float64) -> LassoWorkspace:
    """Arrays for points of D dimensions and m landmarks, fewer than `most` of them active: at most min(D, m) if 0."""
    most = most or min(D, m) + 1
    wide, tall = (m + 2 * PAD - 1) // PAD * PAD, (most + PAD - 1) // PAD * PAD
    few = D <= MAX_DIMENSIONS_BY_COORDINATES
    by_coordinates = few and m > MAX_LANDMARKS_BY_GRAM
    limits = [NEVER, MIN_INDEPENDENT_SHARE] if dtype == np.float64 else [NEVER32, MIN_INDEPENDENT_SHARE32]
    return LassoWorkspace(
        *(aligned_zeros(wide, dtype=np.uint32), *(aligned_zeros(wide, dtype=dtype) for _ in range(4))),
        *(spread_rows(most, wide, dtype), spread_rows(D if by_coordinates else 0, wide, dtype)),
        *(aligned_zeros(tall, dtype=np.uint32), aligned_zeros(tall)),
        *(*(aligned_zeros(tall, dtype=dtype) for _ in range(5)), spread_rows(tall, tall, dtype)),
        *(spread_rows(0 if few else tall, tall, np.float64), aligned_zeros(tall)),
        *(aligned_zeros(m, dtype=np.float32), aligned_zeros(m + 1, dtype=np.uint32), aligned_zeros(D)),
        *(aligned_zeros(1), aligned_zeros(1), np.array(limits, dtype=dtype)),
    )


def aligned_zeros(*shape: int, dtype: Any = np.float64) -> Any:
    """Zeros that begin at a cache line: vectors that cross one take longer."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + CACHE_LINE_BYTES, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE_BYTES
    return memory[start : start + size].view(dtype).reshape(shape)


def spread_rows(n: int, length: int, dtype: Any) -> Any:
    """Zeros in n rows, an odd multiple of PAD long: rows a power of two apart displace each other in the cache."""
    return aligned_zeros(n, (length // PAD | 1) * PAD, dtype=dtype)
