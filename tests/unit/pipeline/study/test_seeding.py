import pytest
from numpy.testing import assert_array_equal

from lssc.parts.seeding import rng_for

KNOWN = 2267288917635410332


def test_seed_and_key_give_known_numbers():
    assert rng_for(2019, "t", 3600, 0, "data", "synthetic").integers(2**63) == KNOWN
    assert rng_for(2019, "t", 3600, 0, "data", "synthetic").integers(2**63) == KNOWN


@pytest.mark.parametrize(
    "other",
    [
        (1, "a", 2, "b"),
        (0, "b", 2, "a"),
        (0, "a", 2),
        (0, "a", 2, "b", 0),
        (0, "a", "2", "b"),
        (0, "a2", "b"),
        (0, 2, "a", "b"),
    ],
)
def test_other_seed_or_key_gives_other_numbers(other):
    assert rng_for(0, "a", 2, "b").integers(2**63) != rng_for(*other).integers(2**63)


def test_generators_are_independent():
    first = rng_for(0, "x").random(5)
    rng_for(0, "y").random(100)
    assert_array_equal(rng_for(0, "x").random(5), first)
