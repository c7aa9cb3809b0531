"""Refiners check the spectral coordinates they get."""

import numpy as np
import pytest
from tests.contract.calls import N, part_id, parts_of, run

from lssc.errors import InputError

COORDINATES = {
    "too few": (np.zeros((N - 1, 2)), "59 rows of coordinates for 60 points"),
    "one column as a list": (np.zeros(N), "give two dimensions"),
    "NaN": (np.full((N, 2), np.nan), "coordinates holds nan at row 0, column 0"),
    "text": ([["a", "b"]] * N, "coordinates"),
}


@pytest.mark.parametrize(
    "part", [p for p in parts_of("refiner") if "coordinates" in p.signature.parameters], ids=part_id
)
@pytest.mark.parametrize("case", COORDINATES)
def test_refuses_bad_coordinates(part, case):
    coordinates, message = COORDINATES[case]
    X = np.random.default_rng(0).standard_normal((N, 5))
    with pytest.raises(InputError, match=message):
        run(part, X, coordinates=coordinates)
