"""Reliability: rows of grids and cells, and claims about them."""

import pytest

from fireassay.papers.sections import reliability


def cells(**change):
    row = {
        "published": {"test error": 0.0235, "cells": 170_000, "ACU": 0.106615, "E": 0.036517},
        "test error": 0.008, "cells": 170_000, "ACU": 0.11, "E": 0.037, "their mass": 0.995,
        "ACU interval": [0.105, 0.112], "E interval": [0.035, 0.039],
        "splitting": {"cells": 100, "difference": 0.02, "difference interval": [0.01, 0.03]},
    }  # fmt: skip
    return row | change


@pytest.mark.parametrize(
    ("item", "change", "becomes"),
    [
        ("Table 1, MNIST", {}, "reproduced"),
        ("Table 1, MNIST", {"E": 0.08, "E interval": [0.07, 0.09]}, "other setting"),
        ("Table 1, MNIST", {"E": 0.08, "cells": 4_000}, "other setting"),
        ("Table 1, MNIST", {"E": 0.08, "test error": 0.1}, "other setting"),
        ("On image sets", {"ACU": 0.001}, "refuted"),
        ("… because small", {}, "not decided"),
        ("The k heaviest", {}, "reproduced"),
        ("The k heaviest", {"their mass": 1e-8}, "refuted"),
        ("Plain draws", {}, "reproduced"),
        ("Plain draws",
         {"splitting": {"cells": 100, "difference": 0.0, "difference interval": [-1e-4, 1e-4]}},
         "refuted"),
    ],
)  # fmt: skip
def test_image_rows_follow_the_cells(item, change, becomes, changed, told):
    section = reliability.section(
        changed(reliability_mnist=cells(**change), reliability_cifar10={})
    )
    assert told(section, item).word == becomes


@pytest.mark.parametrize(
    ("wrong", "found"), [(9_000, "does not hold"), (100, "holds"), (160, "open")]
)
def test_errors_on_decoded_images_are_told_from_changes(wrong, found):
    row = cells(**{"wrong after decoding": wrong, "test rows": 10_000})
    assert reliability.robustness_explains({"mnist": row}).because.startswith(found)


def test_grid_rows_can_be_refuted(stored, changed, told):
    found = stored("reliability_table1")
    for row in found["rows"]:
        row["E"] *= 1.5
        row["ACU"] = 0.5
        row["test error"] = 0.3
    section = reliability.section(changed(reliability_table1=found))
    for start in ("Table 1, DS-1", "On the two-dimensional", "Fig. 2"):
        assert told(section, start).word == "refuted"
    assert told(section, "Table 1, DS-2").word == "no public data"
    assert told(section, "Ub is an upper bound").word == "refuted"
