"""Work in a real browser: browse rows by keys, send them to people, start runs, compare them."""

import re

import numpy as np
import pytest

from fireassay.cli.loading import remember
from fireassay.web.queue import read_queue, write_queue

pytestmark = [pytest.mark.slow, pytest.mark.extras]
api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra 'dev')")
expect = api.expect
SCREENS = (
    {"color_scheme": "light"},
    {"color_scheme": "dark"},
    {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}},
)


def nearly(X):
    p = np.clip(0.8 * np.asarray(X, dtype=float).reshape(len(X), -1)[:, 0] + 0.1, 0.01, 0.99)
    return np.column_stack([1 - p, p])


@pytest.fixture(scope="module")
def pictures(tmp_path_factory, make_run):
    """Two runs on small pictures, 80 rows each."""
    rng = np.random.default_rng(5)
    X = rng.random((80, 8, 8)).astype(np.float32)
    y = np.where(rng.random(80) < X[:, 0, 0], "dog", "cat")
    folder = tmp_path_factory.mktemp("pictures")
    make_run(folder / "one", X, y, gates={"max": {}, "min": {"accuracy.accuracy": 0.2}})
    flipped = lambda rows: nearly(rows)[:, ::-1] * 0.4 + nearly(rows) * 0.6  # noqa: E731
    make_run(folder / "two", X, y, model=flipped)
    return folder, X, y


def served_at(start, folders):
    served = start(folders)
    keys = {run.name: key for key, run in served.app.state.workspace.runs().items()}
    return f"http://127.0.0.1:{served.port}", keys, served


def test_rows_by_keys_to_a_queue_and_its_labels(pictures, start, page_of):
    folder, X, y = pictures
    address, keys, _ = served_at(start, [folder])
    page = page_of(viewport={"width": 1300, "height": 900})
    page.goto(f"{address}/runs/{keys['one']}/samples")
    page.get_by_role("link", name="wrong", exact=False).filter(has_text="wrong").first.click()
    page.wait_for_url("**right=wrong*")  # a key means something once the page has its script
    wrong = np.flatnonzero((X[:, 0, 0] > 0.5) != (y == "dog"))
    expect(page.locator(".count")).to_contain_text(f"{len(wrong)} rows of 80")
    for place in (0, 1):
        page.keyboard.press("j")
        expect(page.locator("[data-pane]")).to_have_attribute("data-row", str(wrong[place]))
        page.keyboard.press("x")
    page.keyboard.press("j")
    expect(page.locator("[data-pane] .near li")).to_have_count(6)
    page.keyboard.press("k")
    expect(page.locator("[data-pane]")).to_have_attribute("data-row", str(wrong[1]))
    assert f"row={wrong[1]}" in page.url
    page.reload()  # the address says all of it
    expect(page.locator("[data-pane]")).to_contain_text(f"row {wrong[1]}")
    expect(page.locator("[data-chosen-count]").first).to_have_text("2")
    page.get_by_text("Send to a label queue").click()
    page.get_by_label("Name", exact=True).fill("second look")
    page.get_by_label("Guidelines").fill("Is it a cat?\nIn doubt: cannot tell.")
    page.get_by_role("button", name="Make the queue").click()
    page.wait_for_url("**/queues/*")
    assert read_queue(folder / "one" / "queues" / "second look").rows.tolist() == wrong[:2].tolist()
    page.get_by_role("link", name="Label").click()
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    expect(page.locator(".guidelines")).to_contain_text("In doubt: cannot tell.")


def test_a_mark_of_a_chart_opens_its_rows(pictures, start, page_of):
    folder, _, y = pictures
    address, keys, _ = served_at(start, [folder / "one"])
    page = page_of()
    page.goto(f"{address}/runs/{keys['one']}/parts/0")
    page.locator("[data-chart=chart-0] .chart-live .mark-text text").first.click()
    page.wait_for_url("**/samples?*truth=*")
    name = re.search(r"truth=(\w+)", page.url).group(1)
    assert name in set(y)
    expect(page.locator(".count")).to_contain_text("of 80")


def test_nothing_on_the_labelling_page_hints_at_the_answer(tmp_path, start, page_of):
    X = np.random.default_rng(0).random((4, 10, 10))
    write_queue(
        tmp_path,
        X,
        classes=["1", "7"],
        ids=["7", "1", "71", "17"],
        name="q",
        predicted=["7"] * 4,
        confidence=[0.9] * 4,
        instructions="Ones have a foot.",
    )
    write_queue(tmp_path, np.random.default_rng(0).random((2, 80, 90)), classes="ab", name="large")
    served = start([tmp_path])
    page = page_of()
    address = f"http://127.0.0.1:{served.port}/queues/{served.queue('q')}/label"
    page.goto(address)
    page.get_by_label("Your name").fill("Ada")
    page.keyboard.press("Enter")
    title = page.get_by_role("heading", level=1)
    expect(title).to_have_text("What is this?")  # the name of an item looks like an answer
    assert page.locator("img.item").get_attribute("alt") == "The item: image of 10 by 10 pixels"
    visible = page.locator("main").inner_text()
    assert "71" not in visible
    expect(page.locator("[data-results]")).not_to_have_attribute("open", "")
    expect(page.locator("[data-sdr=value]")).to_be_hidden()
    expect(page.locator("img.item")).to_have_css("image-rendering", "pixelated")
    expect(page.locator("[data-guidelines]")).to_have_attribute("open", "")
    # Zoom and brightness by keys; they stay with the next item and change nothing that is kept.
    for key in ("+", "+", ">"):
        page.keyboard.press(key)
    picture = page.locator("img.item")
    expect(picture).to_have_css("filter", "brightness(1.2)")
    wide = picture.evaluate("image => image.getBoundingClientRect().width")
    page.locator("[data-task][data-ready=yes]").wait_for()
    page.keyboard.press("1")
    expect(page.locator("[data-message]")).to_have_text("Saved.")
    assert "You said 1." in page.locator(".last").inner_text()
    expect(picture).to_have_css("filter", "brightness(1.2)")
    page.keyboard.press("=")
    expect(picture).to_have_css("filter", "none")
    assert picture.evaluate("image => image.getBoundingClientRect().width") < wide
    page.goto(f"http://127.0.0.1:{served.port}/queues/{served.queue('large')}/label")
    expect(page.locator("img.item")).to_have_css("image-rendering", "auto")


def test_two_runs_and_what_became_wrong(pictures, start, page_of):
    folder, X, y = pictures
    address, keys, _ = served_at(start, [folder])
    page = page_of()
    page.goto(f"{address}/compare")
    page.get_by_label("from").select_option(keys["one"])
    page.get_by_label("to", exact=True).select_option(keys["two"])
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".verdicts")).to_contain_text("✓ pass")
    expect(page.locator(".verdicts")).to_contain_text("○ no limits set")
    one = X[:, 0, 0] > 0.5
    p = np.clip(0.8 * X[:, 0, 0].astype(float) + 0.1, 0.01, 0.99)
    two = (1 - p) * 0.4 + p * 0.6 > 0.5
    newly = ((one == (y == "dog")) & (two != (y == "dog"))).sum()
    if newly:
        page.get_by_role("link", name=f"{newly} newly wrong").click()
        expect(page.locator(".count")).to_contain_text(f"{newly} row")
    page.goto(f"{address}/trend")
    expect(page.locator("[data-drawn=live] .mark-symbol path")).to_have_count(2)


MODEL = """
import pathlib, time
import numpy as np
HERE = pathlib.Path(__file__).parent
def model(X):
    while (HERE / "wait").exists():
        time.sleep(0.05)
    p = np.clip(np.asarray(X, dtype=float)[:, 0], 0, 1)
    return np.column_stack([1 - p, p])
"""


def test_a_run_is_started_watched_and_stopped(tmp_path, start, page_of, monkeypatch):
    project = tmp_path / "mine"
    project.mkdir()
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    (project / "half.py").write_text(MODEL)
    x = np.random.default_rng(0).random(60)
    lines = "\n".join(f"{v:.4f},{'b' if v > 0.4 else 'a'}" for v in x)
    (project / "test.csv").write_text(f"x,label\n{lines}\n")
    (project / "fireassay.toml").write_text(
        '[model]\npath = "half:model"\nclasses = ["a", "b"]\n[data]\ntest = "test.csv"\n'
        '[run]\nparts = ["accuracy"]\n'
    )
    remember("half:model", project, None)
    served = start([tmp_path])
    page = page_of()
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    page.goto(f"http://127.0.0.1:{served.port}/")
    page.get_by_role("link", name="Cost and start").click()
    page.wait_for_timeout(500)
    assert set(sent) == {"GET"}, "a project that is only looked at starts nothing"
    page.get_by_role("button", name="Show the cost").click()
    button = page.get_by_role("button", name="Start the run")
    button.wait_for(timeout=60_000)
    expect(page.get_by_role("row", name="all")).to_contain_text("60")
    (project / "wait").touch()
    button.click()
    page.wait_for_url("**/runs/*")
    expect(page.locator("[data-running]")).to_have_text("running")
    expect(page.locator("[data-log]")).to_contain_text("reading", timeout=60_000)
    page.get_by_role("button", name="Stop it").click()
    expect(page.locator("[data-running]")).to_have_text("not running", timeout=60_000)


@pytest.mark.parametrize("screen", SCREENS, ids=("light", "dark", "phone"))
def test_no_page_has_a_barrier(pictures, tmp_path, browser, barriers, start, make_queue, screen):
    folder, *_ = pictures
    make_queue(tmp_path / "more", n=4)
    write_queue(tmp_path / "more", np.ones((3, 5)), classes="ab", name="rows")
    (tmp_path / "more" / "mine").mkdir()
    (tmp_path / "more" / "mine" / "fireassay.toml").write_text('[model]\npath = "m.onnx"\n')
    address, keys, served = served_at(
        start, [folder, tmp_path / "more", tmp_path / "more" / "mine"]
    )
    client = served.client().sign_in("Ada")
    project = re.search(r"/projects/([0-9a-f]{12})", client.get("/").text).group(1)
    run, digits = keys["one"], served.queue("digits")
    paths = [
        "/", f"/projects/{project}", f"/runs/{run}", f"/runs/{run}/parts/0",
        f"/runs/{run}/samples?row=3", f"/runs/{run}/samples?view=table&right=wrong",
        f"/compare?before={run}&after={keys['two']}", "/trend", f"/queues/{digits}",
        f"/queues/{digits}/label", f"/queues/{served.queue('rows')}/label",
        f"/queues/{digits}/items", f"/queues/{digits}/conflicts", "/nothing/here",
    ]  # fmt: skip
    context = browser.new_context(bypass_csp=True, **screen)  # for axe's own script
    context.add_cookies([{"name": "fireassay_annotator", "value": "Ada", "url": address}])
    page = context.new_page()
    for path in paths:
        page.goto(address + path, wait_until="load")
        page.wait_for_timeout(100)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        assert barriers(page) == [], (path, screen)
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, (path, screen)
    context.close()
