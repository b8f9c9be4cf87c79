import pytest

from fireassay.papers.verdicts import always, equal_cells, near, never


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
    ],
)
def test_each_rule_can_come_out_either_way(verdict, word):
    assert verdict.word == word


def test_what_differs_is_said():
    assert "2 of 3 cells; the first that differs: b, printed c" in str(
        equal_cells(["a", "b", "d"], ["a", "c", "d"])
    )
    assert "[0.4, 0.6]" in str(near(0.5, 0.7, 0.02, (0.4, 0.6)))
