"""Charts in a page: nothing runs but what is allowed, and the drawing stands without script."""

import re

import numpy as np
import pytest

from fireassay.core import Chart, Evidence, Sample
from fireassay.core.drawing import IntervalRow, axis, bars, curves, intervals, matrix
from fireassay.data.shown import png_uri
from fireassay.report import Report, page_charts
from fireassay.report.page_charts import chart_figure, still

HOSTILE = "</script><script>alert(1)</script>{{7*7}}\"'><img src=x onerror=alert(2)>"


def _charts():
    share = {"axis": axis("right", "share"), "scale": {"domain": [0, 1]}}
    return {
        "gates": Chart(
            intervals([IntervalRow(HOSTILE, 0.9, 0.8, 0.95, "pass", 0.85)]), HOSTILE, HOSTILE
        ),
        "steps": Chart(curves({HOSTILE: ([0, 1], [1, 0.5])}, share, share, steps=True)),
        "pairs": Chart(matrix([(HOSTILE, "b", 0.3)], title=HOSTILE)),
        "bars": Chart(bars([(HOSTILE, 3)], "n")),
    }


def test_text_from_users_cannot_leave_its_place():
    figure = chart_figure(_charts()["gates"], "gates-0")
    assert figure.count("<script") == 1
    assert figure.count("</script") == 1
    assert "<img" not in figure


def test_drawings_in_one_page_share_no_id():
    chart = _charts()["steps"]
    first, second = (set(re.findall(r'\bid="([^"]+)"', still(chart, key))) for key in "ab")
    assert not first & second


def test_the_script_is_kept_and_a_damaged_copy_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda *given: "window.vega = 1;")
    assert page_charts._libraries() == "window.vega = 1;"
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda *given: "</SCRIPT>")
    assert page_charts._libraries() == "window.vega = 1;"
    (kept,) = (tmp_path / "fireassay").glob("*.js")
    kept.write_text("window.veg")
    assert page_charts._libraries() == r"<\/script>"


@pytest.mark.slow
@pytest.mark.extras
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_are_live_under_a_policy_of_hashes(tmp_path, scheme, browser):
    sample = Sample(3, HOSTILE, truth=HOSTILE, pictures={"input": png_uri(np.eye(8))})
    part = Evidence("reliability", HOSTILE, charts=_charts(), samples=(sample,))
    path = Report([part], HOSTILE).to_html(tmp_path / "page.html")
    said = []
    context = browser.new_context(color_scheme=scheme, viewport={"width": 900, "height": 2500})
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    expect = pytest.importorskip("playwright.sync_api").expect
    # Playwright's wait_for_function evaluates a string in the page, which the policy forbids.
    expect(page.locator("[data-drawn=live]")).to_have_count(len(_charts()), timeout=60_000)
    ink = page.eval_on_selector(
        "[data-chart=part-0-0] .chart-live text", "text => getComputedStyle(text).fill"
    )
    page.hover("[data-chart=part-0-0] .chart-live .mark-symbol path")
    page.wait_for_selector("#vg-tooltip-element.visible", timeout=20_000)
    shown = page.inner_text("#vg-tooltip-element")
    context.close()
    assert said == []
    assert ink == {"light": "rgb(91, 101, 112)", "dark": "rgb(164, 173, 183)"}[scheme]
    assert "90.0" in shown
    assert "<script>" in shown  # as text
