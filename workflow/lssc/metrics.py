"""Agreement of predicted with true labels, invariant to relabelling."""

from __future__ import annotations

import numpy as np

from lssc.types import Array, IndexArray, Rows

# Labels counted at a time, to bound memory.
LABELS_PER_BLOCK = 2**20


def scores(truth: IndexArray | Rows, predicted: IndexArray | Rows) -> dict[str, float]:
    """Accuracy, normalised mutual information and adjusted Rand index; labels in files are read block by block."""
    table = contingency(truth, predicted)
    return {"accuracy": accuracy(table), "nmi": nmi(table), "ari": ari(table)}


def contingency(truth: IndexArray | Rows, predicted: IndexArray | Rows) -> Array:
    """Contingency table: entry i, j counts the points of true label i and predicted label j."""
    if len(truth) != len(predicted) or len(truth) == 0:
        raise ValueError(f"{len(truth)} true and {len(predicted)} predicted labels; need equal numbers, at least one")
    blocks = [slice(start, start + LABELS_PER_BLOCK) for start in range(0, len(truth), LABELS_PER_BLOCK)]
    rows, columns = (np.unique(np.concatenate([np.unique(a[block]) for block in blocks])) for a in (truth, predicted))
    counts = np.zeros(len(rows) * len(columns))
    for block in blocks:
        cells = np.searchsorted(rows, truth[block]) * len(columns) + np.searchsorted(columns, predicted[block])
        counts += np.bincount(cells, minlength=len(counts))
    return counts.reshape(len(rows), len(columns))


def accuracy(table: Array) -> float:
    """Share of points labelled right, at the best one-to-one matching of predicted to true labels."""
    from scipy.optimize import linear_sum_assignment

    return float(table[linear_sum_assignment(table, maximize=True)].sum() / table.sum())


def nmi(table: Array) -> float:
    """Mutual information over the mean of the two entropies; 1 if both labellings are constant."""
    joint = table / table.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    total = _entropy(rows) + _entropy(columns)
    mutual = total - _entropy(joint.ravel())
    return float(np.clip(2 * mutual / total, 0, 1)) if total > 0 else 1.0


def ari(table: Array) -> float:
    """Adjusted Rand index: 0 expected for random labels, 1 for a perfect match."""
    if table.sum() < 2:
        return 1.0
    together = _pairs(table).sum()
    rows, columns = _pairs(table.sum(axis=1)).sum(), _pairs(table.sum(axis=0)).sum()
    expected = rows * columns / _pairs(table.sum())
    best = (rows + columns) / 2
    return float((together - expected) / (best - expected)) if best != expected else 1.0


def _entropy(p: Array) -> float:
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def _pairs(count: Array) -> Array:
    return count * (count - 1) / 2
