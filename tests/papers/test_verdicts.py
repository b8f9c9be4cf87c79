from dataclasses import replace

import pytest

from fireassay.papers.verdicts import (
    above,
    always,
    decided,
    equal_cells,
    level,
    near,
    near_all,
    never,
    sign,
)

BOTH = {"a": 0.05, "b": 0.05}


@pytest.mark.parametrize(
    ("verdict", "word"),
    [
        (equal_cells(["1", "2"], ["1", "2"]), "agrees"),
        (equal_cells(["1", "2"], ["1", "3"]), "differs"),
        (near(0.50, 0.51, 0.02, (0.4, 0.6)), "agrees"),
        (near(0.50, 0.70, 0.02, (0.4, 0.6)), "differs"),
        (near(0.50, 0.55, 0.02, (0.4, 0.6)), "open"),
        (near(0.50, 0.70, 0.02, (0.4, 0.6), "9,000 rows instead of 60,000"), "differs"),
        (never([], 9), "agrees"),
        (never(["HR Low"], 9), "differs"),
        (never([], 9, "five of nine"), "agrees"),
        (always([True, True]), "agrees"),
        (always([False, False]), "differs"),
        (always([True, False]), "open"),
        (always([True, True], "other images"), "agrees"),
        (decided(True, "x"), "agrees"),
        (decided(False, "x"), "differs"),
        (decided(None, "x"), "open"),
        (decided(False, "x", "other images"), "differs"),
        (sign(1.0, (0.5, 1.5), positive=True), "agrees"),
        (sign(1.0, (0.5, 1.5), positive=False), "differs"),
        (sign(1.0, (-0.5, 2.5), positive=False), "open"),
        (above({"a": (2, 1.5, 3)}, 1), "agrees"),
        (above({"a": (2, 1.5, 3), "b": (0.5, 0.4, 0.9)}, 1), "differs"),
        (above({"a": (2, 0.5, 3)}, 1), "open"),
        (level(50, 1000, 0.05), "agrees"),
        (level(100, 1000, 0.05), "differs"),
        (near_all({"a": [0.5, 0.52, 0.51]}, {"a": 0.5}, BOTH), "agrees"),
        (near_all({"a": [0.5], "b": [0.7, 0.71]}, {"a": 0.5, "b": 0.9}, BOTH), "differs"),
        (near_all({"a": [0.8]}, {"a": 0.5}, BOTH), "open"),
    ],
)
def test_each_rule_can_come_out_either_way(verdict, word):
    assert verdict.finding == word


def test_what_differs_is_said():
    assert "2 of 3 cells; the first that differs: b, printed c" in str(
        equal_cells(["a", "b", "d"], ["a", "c", "d"])
    )
    assert "[0.4, 0.6]" in str(near(0.5, 0.7, 0.02, (0.4, 0.6)))


def test_the_setting_is_apart_from_the_finding():
    for held in (True, False, None):
        assert decided(held, "AUC 0.4").setting == "theirs"
        assert decided(held, "AUC 0.4", "8,000 rows").setting == "ours"
        assert decided(held, "AUC 0.4").finding == decided(held, "AUC 0.4", "8,000 rows").finding
    assert replace(decided(True, "AUC 0.4"), retrained=True).setting == "theirs, retrained"
    assert near(0.5, 0.5, 0.1, (0.4, 0.6), "8,000 rows").setting == "ours"  # a match is one-sided


def test_the_interval_that_differs_is_shown():
    refuted = [
        above({"HSJ": (0.004, 0.002, 0.007)}, 1),
        sign(-0.01, (-0.02, -0.005), positive=True),
        level(456, 1000, 0.05),
        near_all({"a": [0.80, 0.81, 0.82]}, {"a": 0.5}, BOTH),
    ]
    for verdict in refuted:
        assert verdict.finding == "differs"
        assert "[" in verdict.because
