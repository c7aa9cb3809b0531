"""Coders take landmarks that are no rows of X, or refuse them in one line."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.contract.calls import N, part_id, parts_of, run

from lssc.errors import InputError
from lssc.types import LandmarkArray

WITH_POINTS = [p for p in parts_of("coder") if p.hints["landmarks"] == LandmarkArray]
POINTS = {
    "other dimension": (np.ones((4, 2)), r"of 4 x 2 must be row numbers from 0 to 59, or points of \d+ coordinates"),
    "no points": (np.ones((0, 2)), "of 0 x 2 must be row numbers"),
    "text": (np.full((4, 2), "a"), "type <U1; give real numbers"),
}


@pytest.mark.parametrize("part", WITH_POINTS, ids=part_id)
@pytest.mark.parametrize("case", POINTS)
def test_refuses_bad_landmark_points(part, case, X):
    landmarks, message = POINTS[case]
    with pytest.raises(InputError, match=message):
        run(part, X, landmarks)


@pytest.mark.parametrize("part", WITH_POINTS, ids=part_id)
def test_refuses_landmark_points_that_are_not_finite(part, X):
    points = X[:5].copy()
    points[2, 1] = np.nan
    with pytest.raises(InputError, match="landmarks holds nan at row 2, column 1"):
        run(part, X, points)


@pytest.mark.parametrize("part", [p for p in parts_of("coder") if p not in WITH_POINTS], ids=part_id)
def test_coder_of_rows_refuses_landmark_points(part, X):
    with pytest.raises(InputError, match="must be row numbers from 0 to 59"):
        run(part, X, X[:9].copy())


@pytest.mark.parametrize("part", WITH_POINTS, ids=part_id)
def test_landmark_points_code_as_the_same_rows_do(part, X):
    """Points that are no landmarks have the same codes; no point is excluded from coding."""
    rows = np.arange(0, N, 5)
    # By default the width of Gaussian weights depends on all points.
    params = {"sigma": 0.5} if "sigma" in part.defaults else {}
    by_rows, by_points = (run(part, X, landmarks, **params).matrix.toarray() for landmarks in (rows, X[rows]))
    others = np.setdiff1d(np.arange(N), rows)
    assert_allclose(by_points[others], by_rows[others], atol=1e-10)
    assert by_points[rows, np.arange(len(rows))].all()
