"""A user's methods come after those of config.yaml, whose colours and markers they must not take."""

import pytest

from lssc.pipeline.config.overlay import known_methods_first


@pytest.mark.parametrize(
    ("methods", "order"),
    [
        ({"own_b": 1, "own_a": 2, "fsc": 3, "esc": 4}, ["fsc", "esc", "own_b", "own_a"]),
        ({"esc": 4, "fsc": 3}, ["fsc", "esc"]),
        ({"own": 1}, ["own"]),
    ],
)
def test_known_methods_come_first_in_their_order(methods, order):
    ordered = known_methods_first({"seed": 1, "methods": methods}, ["fsc", "esc"])
    assert list(ordered["methods"]) == order
    assert ordered == {"seed": 1, "methods": methods}


@pytest.mark.parametrize("config", [{}, {"methods": None}, {"methods": ["fsc"]}])
def test_config_without_methods_is_left_to_the_checks(config):
    assert known_methods_first(config, ["fsc"]) == config
