"""Charts: one spec, drawn without a browser, in the colours of light, dark and a page."""

import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from fireassay.core import Chart, codec
from fireassay.core.chart import DARK, LIGHT, STATES, recoloured, variables
from fireassay.core.drawing import (
    IntervalRow,
    axis,
    bars,
    curves,
    histogram,
    intervals,
    matrix,
    points,
)
from fireassay.core.drawing.axes import thinned, told_apart

HOSTILE = "</script><img src=x onerror=alert(1)>{{datum}}'\"\\ & é \x00 \x1b \uffff"
_RNG = np.random.default_rng(0)
SHARE = {"axis": axis("right", "share"), "scale": {"domain": [0, 1]}}
KINDS = {
    "intervals": intervals(
        [
            IntervalRow(HOSTILE, 0.9, 0.8, 0.95, "pass", 0.85, "90 %", "85 %"),
            IntervalRow(HOSTILE, 0.4, -np.inf, np.nan, "fail"),
            IntervalRow("c", 0.5, state="undecided"),
            IntervalRow("d", 0.5, state="none"),
        ],
        HOSTILE,
        guide=0.5,
    ),
    "effects": intervals([IntervalRow("a", 2, 1, 4)], unit="number", log=True),
    "curves": curves(
        {HOSTILE: ([0, 1, 2], [1, 0.5, np.nan]), "b": ([0, 1], [0.5, 0.4])},
        {"axis": axis("queries")},
        SHARE,
        bands={"b": ([0.4, 0.3], [0.6, 0.5])},
        steps=True,
        levels=[(0.5, HOSTILE)],
    ),
    "diagram": curves({"a": ([0.2], [0.3])}, SHARE, SHARE, points=True, diagonal=True),
    "matrix": matrix([(HOSTILE, "b", 0.3), ("c", HOSTILE, 0.9)], title="both"),
    "wide matrix": matrix(
        [(str(i), str(j), i / 20) for i in range(20) for j in range(20)], title=""
    ),
    "points": points(
        [1, np.nan], [2, 3], SHARE, SHARE, kinds=["a", HOSTILE], line=([0, 1], [0, 1])
    ),
    "many points": points(*_RNG.normal(size=(2, 5001)), SHARE, SHARE),
    "bars": bars([(HOSTILE, 3), ("b", 1)], "rows"),
    "histogram": histogram([0.1, 0.2, np.nan], HOSTILE),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_compiles_to_a_drawing_with_its_words(kind):
    drawn = Chart(KINDS[kind], "caption", HOSTILE).svg()
    root = ET.fromstring(drawn)  # well-formed, whatever the names are
    assert not [element for element in root.iter() if "script" in element.tag]
    json.dumps(Chart(KINDS[kind]).spec, allow_nan=False)
    assert "NaN" not in drawn
    assert "undefined" not in drawn


def test_equal_specs_give_equal_bytes_and_survive_a_file():
    chart = Chart(KINDS["curves"], "caption", "alternative")
    again = codec.from_bytes(codec.to_bytes({"chart": chart}))["chart"]
    assert again == chart
    assert again.svg() == chart.svg()
    assert again.png() == chart.png()
    assert chart.png()[:8] == b"\x89PNG\r\n\x1a\n"


def test_more_points_than_a_page_can_hold_are_counted():
    values = KINDS["many points"]["layer"][0]["data"]["values"]
    assert sum(value["n"] for value in values) == 5001
    assert len(values) <= 32 * 32


def test_each_role_has_its_colour_in_each_mode():
    assert len(set(LIGHT.values())) == len(LIGHT) == len(DARK)
    assert LIGHT.keys() == DARK.keys()
    drawn = Chart(KINDS["intervals"]).svg("page")
    assert "var(--chart-good, #17692f)" in drawn
    used = set(re.findall(r"var\(--(chart-[a-z]+)", drawn))
    assert used <= set(re.findall(r"--(chart-[a-z]+):", variables("dark")))
    assert LIGHT["ink"] not in Chart(KINDS["intervals"]).svg("dark")
    assert recoloured(LIGHT["ink"], "dark") == DARK["ink"]


def test_green_is_for_a_pass_alone():
    green = [state for state, (colour, _) in STATES.items() if colour == LIGHT["good"]]
    assert green == ["pass"]
    judged = [STATES[state][1] for state in ("pass", "fail", "undecided", "none")]
    assert len(set(judged)) == 4  # shapes tell them apart without colour


def _luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_text_and_marks_stand_out_from_the_paper(colours):
    """Contrast as WCAG 2.2 defines it: 4.5 for text, 3 for graphics."""
    paper = _luminance(colours["paper"])
    for role, colour in colours.items():
        if role in ("paper", "line"):
            continue
        light, dark = sorted([paper, _luminance(colour)], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, role


def test_a_notebook_gets_a_live_chart_and_a_drawing():
    bundle = Chart(KINDS["bars"], "caption")._repr_mimebundle_()
    assert bundle["application/vnd.vegalite.v5+json"]["$schema"].endswith("v5.json")
    assert bundle["image/svg+xml"].startswith("<svg")
    assert bundle["text/plain"] == "caption"


def test_rows_of_one_name_are_told_apart():
    assert told_apart(["a", "b", "a"]) == ["a", "b", "a (2)"]


def test_a_long_line_is_thinned_and_keeps_both_ends():
    kept = thinned([{"x": i} for i in range(1000)], most=10)
    assert len(kept) == 10
    assert [kept[0]["x"], kept[-1]["x"]] == [0, 999]


def test_a_chart_can_be_one_that_the_page_does_not_fold_away():
    chart = Chart({"mark": "bar"}, "caption")
    assert not chart.is_first
    assert chart.shown_first().is_first
    assert chart.shown_first().caption == "caption"
