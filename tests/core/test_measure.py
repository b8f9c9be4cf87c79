"""What a number is, by its own name or by its family's."""

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


def test_evidence_describes_its_numbers_and_keeps_only_the_used_ones():
    found = Evidence(
        "supervision",
        "…",
        estimates={"auroc_odd": Estimate(0.8, 0.7, 0.9, 0.95, 9, "m"), "own": Estimate.count(1, 1)},
        measures=(FAMILY, LONGER),
    )
    assert found.measure("auroc_odd").label == "Tells odd apart"
    assert found.measure("own").label == "own"
    assert [m["name"] for m in found.to_dict()["measures"]] == ["auroc_odd"]
