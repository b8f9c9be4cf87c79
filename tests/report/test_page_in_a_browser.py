"""The page as people meet it: no barrier, nothing cut off, on a wide screen, a phone and paper."""

import re
from dataclasses import replace

import numpy as np
import pytest

from fireassay.core import (
    Assumption,
    Cell,
    Chart,
    Claim,
    Estimate,
    Evidence,
    Measure,
    Provenance,
    Sample,
    Table,
)
from fireassay.core.drawing import bars
from fireassay.data.shown import png_uri
from fireassay.report import About, DataFacts, Report

pytestmark = [pytest.mark.slow, pytest.mark.extras]

LONG = "Tells rows of a very long trouble from normal rows, for which there is no shorter name"
SHARE = Estimate(0.1, 0.05, 0.2, 0.95, 719, "Clopper-Pearson", rests_on=("rows",))


def part(name, **changes):
    """An answer with everything that a page can show."""
    pixels = np.random.default_rng(0).random((12, 8, 8))
    samples = tuple(
        Sample(i, "wrong, and sure", truth="cat", said="dog", confidence=0.99,
               pictures={"input": png_uri(image)})
        for i, image in enumerate(pixels)
    )  # fmt: skip
    found = Evidence(
        name,
        f"Right on 90 % of the rows. {LONG}.",
        estimates={"share": SHARE, "a_number_with_a_long_name_for_gates": SHARE},
        measures=(Measure("share", LONG, "share", "low", "How often."),),
        answer="share",
        sentence="Wrong on 10 % of the labelled rows.",
        claims=(Claim("So it is.", True), Claim("Not so.", False)),
        assumptions=(Assumption("Independent.", "supported", "looked at", "rows"),),
        charts={"bars": Chart(bars([("a", 1.0), ("b", 2.0)], "n"), "Bars", "Two bars.")},
        samples=samples,
        tables={"rows": Table(tuple("abcdefghij"), ((0.123456,) * 10,) * 20, "Rows")},
        limits=("Nothing about attacks.",),
        provenance=Provenance(0, "ab" * 32, "cd" * 32, 400, 40),
    )
    return replace(found, **changes)


def report():
    against = (Assumption("Independent.", "contradicted", "9 of 40 repeat", "rows"),)
    cells = (Cell("age", "97", unusual=True, usual="31 to 64"), Cell("pulse", "70"))
    table = tuple(Sample(i, "odd", truth="a", said="b", cells=cells) for i in range(6))
    parts = [
        part("accuracy"), part("curation", assumptions=against), part("ambiguity", samples=table),
        part("supervision", stale="another model"), part("discovery", partial="stopped"),
        Evidence.failed("reliability", "disk full"), Evidence.not_available("survival", "no torch"),
    ]  # fmt: skip
    data = (DataFacts("test.npz", 719, labelled=True, groups=312),)
    return Report(parts, "A title", about=About("net.onnx", data, 0, "2026-11-16"))


GATES = {
    "max": {"accuracy.share": 0.3, "supervision.share": 0.5, "curation.share": 0.3},
    "min": {"ambiguity.share": 0.5, "discovery.share": 0.1},
}


@pytest.mark.parametrize(
    ("gates", "scheme", "width"),
    [(GATES, "light", 1200), (GATES, "dark", 1200), ({}, "light", 390)],
    ids=["light", "dark", "phone"],
)
def test_no_barrier_and_nothing_beside_the_screen(
    tmp_path, browser, barriers, gates, scheme, width
):
    path = report().to_html(tmp_path / "r.html", gates)
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True
    )
    page = context.new_page()
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for code in page.locator("#provenance code").all():  # hashes are read without scrolling
        box = code.bounding_box()
        assert box["x"] + box["width"] <= width
    context.close()


def test_on_paper_nothing_is_cut_and_raw_rows_stay_out(tmp_path, browser):
    path = report().to_html(tmp_path / "r.html", GATES)
    page = browser.new_page()
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("details:visible").count() == 0
    assert page.locator(".verdict:visible").count() == 1
    printed = page.pdf(prefer_css_page_size=True)
    assert 2 <= len(re.findall(rb"/Type /Page\b", printed)) <= 8
    page.close()
