"""A search that waits, labelled in a real browser from what it keeps: no --data is named."""

import io

import numpy as np
import pandas as pd
import pytest

from fireassay import discovery
from fireassay.discovery.label_files import keep_shown
from fireassay.web.queue_sources import queue_from_search

pytestmark = [pytest.mark.slow, pytest.mark.extras]
api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra 'dev')")
expect = api.expect


def series(rng):
    return rng.random((12, 2, 60)), "series"


def channels_first(rng):
    return rng.random((12, 3, 9, 8)).astype(np.float32), None


def table(rng):
    return pd.DataFrame({"pulse": rng.random(12).round(3), "ward": ["north", None] * 6}), None


def drawn(page, kind, row, values):
    """What the page shows of a row is that row."""
    if kind is series:
        expect(page.locator(".stage svg .mark-line path")).to_have_count(2)
    elif kind is table:
        shown = page.locator(".stage").inner_text()
        assert f"{values['pulse'].iloc[row]:g}" in shown
        assert ("north" in shown) == (row % 2 == 0)
    else:
        picture = page.locator("img.item")
        assert picture.evaluate("image => [image.naturalHeight, image.naturalWidth]") == [9, 8]
        from PIL import Image

        source = page.request.get(page.url.split("/queues")[0] + picture.get_attribute("src"))
        pixels = np.asarray(Image.open(io.BytesIO(source.body())).convert("RGB"))
        expected = np.rint(255 * np.moveaxis(values[row], 0, -1).astype(float))
        assert np.abs(pixels - expected).max() <= 1


@pytest.mark.parametrize("kind", [series, channels_first, table])
def test_a_search_that_waits_is_labelled_in_the_browser(kind, tmp_path, start, page_of):
    values, said = kind(np.random.default_rng(0))
    first = (values["pulse"] if kind is table else values.reshape(12, -1)[:, 0]).astype(float)
    X = np.asarray(first)[:, None]
    discovery.Search(
        "random", model=lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), X=X, budget=3,
        threshold=0.0, path=tmp_path / "search.npz",
    )  # fmt: skip
    keep_shown(tmp_path / "search.npz", values, None, said)
    queue_from_search(tmp_path)
    served = start([tmp_path])
    (key,) = served.app.state.workspace.queues()
    page = page_of()
    page.goto(f"http://127.0.0.1:{served.port}/queues/{key}/label")
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    page.locator("[data-answer] .stage").wait_for()
    page.locator("[data-ready]").wait_for()  # before, a click sends the form as without a script
    drawn(page, kind, int(page.locator(".about-item code").text_content()), values)
    page.locator(".answers button").first.click()
    expect(page.locator("[data-message]")).to_have_text("Saved.")
    assert len(discovery.Search.load(tmp_path / "search.npz").result.wrong) == 1
