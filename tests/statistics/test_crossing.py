"""Where a rising function reaches a level."""

import math

import pytest

from fireassay.statistics.betting import crossing

RISING = {
    "line": (lambda x: x, 0.3, 0.3),
    "steep": (lambda x: math.exp(40 * x), math.exp(20), 0.5),
    "flat, then steep": (lambda x: max(0.0, x - 0.9) ** 3, 1e-6, 0.91),
    "kink": (lambda x: max(x / 10, 5 * x - 2), 0.5, 0.5),
    "root": (math.sqrt, 1e-3, 1e-6),
}


@pytest.mark.parametrize("name", RISING)
def test_the_place_is_reached_from_above_in_few_steps(name):
    function, level, place = RISING[name]
    asked = []

    def counted(x):
        asked.append(x)
        return function(x)

    found = crossing(counted, level)
    assert found == pytest.approx(place, abs=1e-9)
    assert function(found) >= level
    assert len(asked) < 80


def test_a_level_out_of_reach_gives_the_ends():
    assert crossing(lambda x: x, 2.0) == 1.0
    assert crossing(lambda x: x, -1.0, 0.2) == 0.2
