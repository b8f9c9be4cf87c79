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
        (equal_cells(["1", "2"], ["1", "2"]), "reproduced"),
        (equal_cells(["1", "2"], ["1", "3"]), "refuted"),
        (near(0.50, 0.51, 0.02, (0.4, 0.6)), "reproduced"),
        (near(0.50, 0.70, 0.02, (0.4, 0.6)), "refuted"),
        (near(0.50, 0.55, 0.02, (0.4, 0.6)), "not decided"),
        (near(0.50, 0.70, 0.02, (0.4, 0.6), "9,000 rows instead of 60,000"), "other setting"),
        (never([], 9), "reproduced"),
        (never(["HR Low"], 9), "refuted"),
        (never([], 9, "five of nine"), "other setting"),
        (always([True, True]), "reproduced"),
        (always([False, False]), "refuted"),
        (always([True, False]), "not decided"),
        (always([True, True], "other images"), "other setting"),
        (decided(True, "x"), "reproduced"),
        (decided(False, "x"), "refuted"),
        (decided(None, "x"), "not decided"),
        (decided(False, "x", "other images"), "other setting"),
        (sign(1.0, (0.5, 1.5), positive=True), "reproduced"),
        (sign(1.0, (0.5, 1.5), positive=False), "refuted"),
        (sign(1.0, (-0.5, 2.5), positive=False), "not decided"),
        (above({"a": (2, 1.5, 3)}, 1), "reproduced"),
        (above({"a": (2, 1.5, 3), "b": (0.5, 0.4, 0.9)}, 1), "refuted"),
        (above({"a": (2, 0.5, 3)}, 1), "not decided"),
        (level(50, 1000, 0.05), "reproduced"),
        (level(100, 1000, 0.05), "refuted"),
        (near_all({"a": [0.5, 0.52, 0.51]}, {"a": 0.5}, BOTH), "reproduced"),
        (near_all({"a": [0.5], "b": [0.7, 0.71]}, {"a": 0.5, "b": 0.9}, BOTH), "refuted"),
        (near_all({"a": [0.8]}, {"a": 0.5}, BOTH), "not decided"),
    ],
)
def test_each_rule_can_come_out_either_way(verdict, word):
    assert verdict.word == word


def test_what_differs_is_said():
    assert "2 of 3 cells; the first that differs: b, printed c" in str(
        equal_cells(["a", "b", "d"], ["a", "c", "d"])
    )
    assert "[0.4, 0.6]" in str(near(0.5, 0.7, 0.02, (0.4, 0.6)))


def test_what_was_found_elsewhere_is_told_without_a_word_on_theirs():
    assert str(decided(False, "AUC 0.4", "8,000 rows")).startswith("other setting: does not hold")
    assert str(decided(None, "AUC 0.4", "8,000 rows")).startswith("other setting: open")


def test_the_interval_that_refutes_is_shown():
    refuted = [
        above({"HSJ": (0.004, 0.002, 0.007)}, 1),
        sign(-0.01, (-0.02, -0.005), positive=True),
        level(456, 1000, 0.05),
        near_all({"a": [0.80, 0.81, 0.82]}, {"a": 0.5}, BOTH),
    ]
    for verdict in refuted:
        assert verdict.word == "refuted"
        assert "[" in verdict.because
