"""Reliability: rows of grids and cells, and claims about them."""

import pytest

from fireassay.papers.pages import reliability


def cells(**change):
    row = {
        "published": {"test error": 0.0853, "cells": 23_000, "ACU": 0.238, "E": 0.234},
        "test error": 0.08, "cells": 23_000, "ACU": 0.24, "E": 0.235, "their mass": 1e-8,
        "ACU interval": [0.235, 0.245], "E interval": [0.23, 0.24],
        "splitting": {"cells": 100, "difference": 0.02, "difference interval": [0.01, 0.03]},
    }  # fmt: skip
    return row | change


def theirs(**change):
    row = {
        "published": {"training error": 0.0051, "test error": 0.0235, "cells": 170_000,
                      "ACU": 0.106615, "E": 0.036517, "r": 0.1003},
        "separation": 0.1004,
        "training error": 0.0051, "test error": 0.0235, "test rows": 10_000, "cells": 169_999,
        "ACU": 0.146, "ACU, 10**ln p": [0.109, 0.105, 0.112], "ACU, exp": [0.146, 0.14, 0.15],
        "E, 10**ln p": [0.036, 0.034, 0.037], "E, exp": [0.046, 0.044, 0.048],
        "their mass": 1.5e-6, "wrong after decoding": 760, "Clopper-Pearson 97.5 %": 0.0267,
    }  # fmt: skip
    return row | change


@pytest.mark.parametrize(
    ("item", "change", "becomes"),
    [
        ("Table 1, MNIST, ACU", {}, "agrees"),
        ("Table 1, MNIST, ACU", {"ACU, 10**ln p": [0.2, 0.19, 0.21]}, "differs"),
        ("Table 1, MNIST, E", {"E, 10**ln p": [0.05, 0.03, 0.07]}, "open"),
        ("Table 1, MNIST, test error", {"test error": 0.0236}, "differs"),
        ("Table 1, MNIST, cells", {"cells": 100_000}, "differs"),
        ("Table 1, MNIST, r-sep", {}, "agrees"),
        ("Table 1, MNIST, r-sep", {"separation": 0.2}, "differs"),
        ("On image sets", {}, "agrees"),
        ("On image sets", {"ACU, exp": [0.001, 0.0, 0.002]}, "differs"),
    ],
)
def test_rows_of_the_authors_network_follow_its_cells(item, change, becomes, changed, told):
    section = reliability.section(changed(reliability_authors_mnist=theirs(**change)))
    verdict = told(section, item)
    assert (verdict.finding, verdict.setting) == (becomes, "theirs")


def test_the_correction_of_mnist_is_told_in_steps(changed):
    section = reliability.section(changed(reliability_authors_mnist=theirs()))
    steps = section.ladders[0].steps
    assert [step.split()[0] for step in steps] == ["0.107", "0.109", "0.146", "169,999", "0.0267,"]


@pytest.mark.parametrize(
    ("change", "becomes"),
    [({}, "agrees"), ({"E": 0.08, "E interval": [0.07, 0.09]}, "differs")],
)
def test_a_network_of_our_own_is_our_setting(change, becomes, changed, told):
    section = reliability.section(changed(reliability_cifar10=cells(**change)))
    verdict = told(section, "Table 1, CIFAR-10")
    assert (verdict.finding, verdict.setting) == (becomes, "ours")


@pytest.mark.parametrize(("low", "high", "becomes"), [(0.01, 0.03, "agrees"), (0, 1e-4, "differs")])
def test_splitting_is_held_against_plain_draws(low, high, becomes, changed, told):
    apart = {"cells": 100, "difference": (low + high) / 2, "difference interval": [low, high]}
    section = reliability.section(
        changed(reliability_mnist=cells(splitting=apart), reliability_cifar10={})
    )
    assert told(section, "Plain draws").finding == becomes


def test_column_v_is_told_from_a_variance():
    printed = {"DS-1": (0.08, 0.008025, 0.008290, 0.000014, 0.008319)}
    assert reliability.variance_row(printed)[0].verdict.finding == "differs"
    as_variance = {"DS-1": (0.08, 0.008, 0.00829, 0.000014, 0.015624)}
    assert reliability.variance_row(as_variance)[0].verdict.finding == "agrees"


def test_grid_rows_can_differ(stored, changed, told):
    found = stored("reliability_table1")
    for row in found["rows"]:
        row["E"] *= 1.5
        row["ACU"] = 0.5
        row["test error"] = 0.3
    section = reliability.section(changed(reliability_table1=found))
    for start in ("Table 1, DS-1", "On these sets", "On the two-dimensional", "Fig. 2"):
        assert told(section, start).finding == "differs"
    assert told(section, "Table 1, DS-1").setting == "theirs, retrained"
    assert "public, not obtained" in told(section, "Table 1, DS-2").because
    assert told(section, "Ub is an upper bound").finding == "differs"


def test_columns_of_the_grid_are_judged_to_the_printed_digits(stored, changed, told):
    found = stored("reliability_table1")
    for column in ("training error", "test error", "column V"):
        assert told(reliability.section(stored), f"Table 1, DS-1, {column}").setting == (
            "theirs, retrained"
        )
    found["rows"][1]["sd"] *= 1.1
    section = reliability.section(changed(reliability_table1=found))
    assert told(section, "Table 1, DS-1, column V").finding == "differs"
