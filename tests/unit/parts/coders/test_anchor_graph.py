import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from lssc.parts.coders.anchor_graph import code_anchor_graph

ROWS = np.arange(0, 60, 4)


def plain_codes(X, L, r, sigma=None, own=None):
    """The equations, point by point; `own` are rows and columns of landmarks that points must not use."""
    distances = cdist(X, L)
    if own is not None:
        distances[own] = np.inf
    nearest = [np.argsort(row, kind="stable")[:r] for row in distances]
    if sigma is None:
        sigma = np.mean([distances[i, places] for i, places in enumerate(nearest)])
    Z = np.zeros(distances.shape)
    for i, places in enumerate(nearest):
        Z[i, places] = np.exp(-(distances[i, places] ** 2) / (2 * sigma**2))
    return Z / Z.sum(axis=1, keepdims=True), sigma


@pytest.mark.parametrize("r", [1, 3, 5])
@pytest.mark.parametrize("exclude_self", [True, False])
def test_agrees_with_the_equations(X, r, exclude_self):
    own = (ROWS, np.arange(len(ROWS))) if exclude_self else None
    expected, sigma = plain_codes(X, X[ROWS], r, own=own)
    codes = code_anchor_graph(X, ROWS, r=r, exclude_self=exclude_self)
    assert_allclose(codes.matrix.toarray(), expected, atol=1e-12)
    assert codes.info["sigma"] == pytest.approx(sigma)
    assert codes.matrix.has_sorted_indices


def test_landmark_points_and_given_width(X, rng):
    L = rng.standard_normal((9, X.shape[1]))
    assert_allclose(code_anchor_graph(X, L, sigma=0.3).matrix.toarray(), plain_codes(X, L, 5, 0.3)[0], atol=1e-12)


def test_codes_sum_to_one_even_far_from_all_landmarks(X):
    far = np.concatenate([X, 1e6 * X[:3]])
    codes = code_anchor_graph(far, ROWS, sigma=0.01).matrix
    assert_allclose(np.asarray(codes.sum(axis=1)).ravel(), 1)
    assert (np.diff(codes.indptr) == 5).all()


def test_translation_changes_nothing(X):
    near, far = code_anchor_graph(X, ROWS).matrix, code_anchor_graph(X + 1e5, ROWS).matrix
    assert_allclose(far.toarray(), near.toarray(), atol=1e-6)


def test_uses_all_landmarks_if_there_are_few(X):
    assert_array_equal(np.diff(code_anchor_graph(X, ROWS[:3], exclude_self=False).matrix.indptr), 3)
    alone = code_anchor_graph(X, ROWS[:1]).matrix
    assert_array_equal(np.diff(alone.indptr), np.arange(60) != ROWS[0])


def test_threads_change_nothing(rng):
    X = rng.standard_normal((3000, 400))
    one, two = (code_anchor_graph(X, np.arange(400), threads=t).matrix for t in (1, 2))
    assert_array_equal(one.data, two.data)
    assert_array_equal(one.indices, two.indices)
