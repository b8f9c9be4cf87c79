"""What a number is, by its own name or by its family's."""

import math

import pytest

from fireassay.core import Estimate, Evidence, Measure, ParameterError
from fireassay.core.measure import find_measure

FAMILY = Measure("auroc_*", "Tells {} apart", "auc", "high", "Ranks trouble above normal rows.")
ONE = Measure("auroc_strong", "Tells the strong apart", "auc", "high", "…")
LONGER = Measure("auroc_best_*", "Best on {}", "auc", "high", "…")


def test_the_own_name_wins_over_the_family_and_the_longer_family_over_the_shorter():
    table = (FAMILY, ONE, LONGER)
    assert find_measure("auroc_strong", table) is ONE
    assert find_measure("auroc_best_odd", table).label == "Best on odd"
    assert find_measure("auroc_odd", table).label == "Tells odd apart"
    assert find_measure("auroc_", table) is None
    assert find_measure("other", table) is None


def test_a_class_called_like_a_placeholder_stays_as_it_is():
    assert FAMILY.of("auroc_{}{}").label == "Tells {}{} apart"


def test_unknown_units_are_refused():
    with pytest.raises(ParameterError, match="unit"):
        Measure("a", "A", "furlongs", "low", "")


def test_evidence_describes_its_numbers_and_keeps_the_table_for_those_it_lacks():
    found = Evidence(
        "supervision",
        "…",
        estimates={"auroc_odd": Estimate(0.8, 0.7, 0.9, 0.95, 9, "m"), "own": Estimate.count(1, 1)},
        measures=(FAMILY, LONGER),
    )
    assert found.measure("auroc_odd").label == "Tells odd apart"
    assert found.measure("own").label == "own"
    names = [m["name"] for m in found.to_dict()["measures"]]
    assert names == ["auroc_odd", "auroc_*", "auroc_best_*"]


SHARE = Measure("error", "Wrong", "share", "low", "")
NUMBER = Measure("sdr", "Ratio", "ratio", "low", "")


@pytest.mark.parametrize(
    ("measure", "estimate", "text"),
    [
        (SHARE, Estimate(0.0312, 0.0198, 0.0468, 0.95, 400, "m"), "3.1 % [2.0, 4.7]"),
        (SHARE, Estimate(0.12, 0.05, 0.31, 0.95, 9, "m"), "12 % [5, 31]"),
        (SHARE, Estimate(0.99931, 0.9991, 0.9995, 0.95, 9, "m"), "99.931 % [99.910, 99.950]"),
        (SHARE, Estimate.bound(0.0312, 0.95, 9, "m"), "3.1 %"),
        (SHARE, Estimate(0.5, -math.inf, math.inf, 0.95, 9, "m"), "50 %"),
        (SHARE, Estimate(0.5, 0.5, 0.5, 0.95, 9, "m"), "50 % [50, 50]"),
        (NUMBER, Estimate(3.2, 1.5, math.inf, 0.95, 9, "m"), "3.2 [at least 1.5]"),
        (NUMBER, Estimate(math.nan, math.nan, math.nan, 0.95, 0, "m"), "not estimable"),
        (Measure("k", "K", "count", "neither", ""), Estimate.count(1234, 2000), "1,234"),
        (
            Measure("h", "H", "bits", "neither", ""),
            Estimate(0.512, 0.49, 0.53, 0.95, 9, "m"),
            "0.512 bits [0.490, 0.530]",
        ),
    ],
)
def test_numbers_are_shown_by_their_unit(measure, estimate, text):
    assert measure.shown(estimate) == text


def test_a_limit_is_shown_as_it_was_set():
    assert SHARE.shown_value(0.05) == "5 %"
    assert SHARE.shown_value(0.0125) == "1.25 %"
    assert NUMBER.shown_value(1.5) == "1.5"
