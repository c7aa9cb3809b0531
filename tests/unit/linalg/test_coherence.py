import numpy as np
import pytest

from lssc.linalg import coherence
from lssc.linalg.coherence import penalties


@pytest.mark.parametrize("chunk", [1, 7, 60, 128])
@pytest.mark.parametrize("n_zero", [0, 3])
def test_penalties_scale_with_the_least_coherent_point(X, chunk, n_zero, monkeypatch):
    monkeypatch.setattr(coherence, "POINTS_PER_CHUNK", chunk)
    similarity = np.abs(X @ X.T)
    np.fill_diagonal(similarity, 0)
    points = np.concatenate([X, np.zeros((n_zero, X.shape[1]))])
    assert penalties(points.T, 20.0) == pytest.approx((20 / similarity.max(axis=1).min(), 20))


def test_two_points_have_a_coherence():
    assert penalties(np.array([[2.0, 0.0], [1.0, 1.0]]).T, 20.0) == (10.0, 20.0)


@pytest.mark.parametrize("X", [np.zeros((3, 4)), np.eye(4), np.ones((1, 4))], ids=["zero", "orthogonal", "alone"])
def test_points_without_coherence_leave_alpha_unchanged(X):
    assert penalties(X.T, 20.0) == (20.0, 20.0)
