import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lssc.parts.refiners.subspaces import refine_subspaces


@pytest.fixture
def planes(rng):
    """90 points on three random planes in 8 dimensions, with their labels."""
    bases = [np.linalg.qr(rng.standard_normal((8, 2)))[0] for _ in range(3)]
    return np.concatenate([rng.standard_normal((30, 2)) @ basis.T for basis in bases]), np.repeat([0, 1, 2], 30)


def residual(X, labels, dim):
    left = 0.0
    for k in np.unique(labels):
        singular = np.linalg.svd(X[labels == k], compute_uv=False)
        left += (singular[dim:] ** 2).sum()
    return left


def test_recovers_subspaces_from_mostly_right_labels(planes, rng):
    X, labels = planes
    start = labels.copy()
    start[rng.choice(90, 15, replace=False)] = 0
    refined = refine_subspaces(X, start, n_clusters=3, dim=2)
    assert_array_equal(refined.labels, labels)
    assert refined.info["converged"]


def test_residual_never_grows(rng):
    X, labels = rng.standard_normal((80, 6)), rng.integers(4, size=80)
    found = [residual(X, refine_subspaces(X, labels, n_clusters=4, dim=2, max_iter=t).labels, 2) for t in range(1, 6)]
    assert found == sorted(found, reverse=True)


def test_empty_cluster_stays_empty(planes):
    X, labels = planes
    assert set(refine_subspaces(X, np.where(labels == 2, 1, labels), n_clusters=3, dim=2).labels) == {0, 1}
