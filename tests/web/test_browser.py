"""The app as people meet it: in a real browser, by keyboard, with a server that is killed."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from fireassay import discovery
from fireassay.core import Chart, Estimate, Evidence, Sample, Table
from fireassay.core.drawing import bars
from fireassay.data.shown import png_uri
from fireassay.engine.labels.book import LabelBook
from fireassay.engine.labels.records import consensus
from fireassay.report import Report
from fireassay.web.queue import read_queue, write_queue
from fireassay.web.review import kept_rows, write_review_queue

pytestmark = [
    pytest.mark.slow,
    pytest.mark.extras,
]
api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra 'dev')")
expect = api.expect
expect.set_options(timeout=20_000)

SERVER = "import sys; from fireassay.web import serve; serve(sys.argv[2:], port=int(sys.argv[1]))"
HOSTILE = "</script><script>alert(1)</script>{{7*7}}\"'><img src=x onerror=alert(2)>"


class Process:
    """A server of its own, to be killed."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.folder = folder
        self.start()

    def start(self):
        program = [sys.executable, "-c", textwrap.dedent(SERVER), str(self.port), str(self.folder)]
        self.process = subprocess.Popen(program)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def process(tmp_path):
    started = []

    def starting():
        started.append(Process(tmp_path))
        return started[-1]

    yield starting
    for one in started:
        one.kill()


def sign_in(page, address, key, name):
    page.goto(f"{address}/queues/{key}/label")
    page.get_by_label("Your name").fill(name)
    page.keyboard.press("Enter")
    page.locator("[data-answer] .stage").wait_for()


def token(page):
    return page.locator("input[name=token]").get_attribute("value")


def item(page):
    return int(page.locator("img.item").get_attribute("src").split("/")[-2])


def press(page, key):
    """Press a key and wait until the page shows the next item."""
    page.locator("[data-task][data-ready=yes]").wait_for()
    before = token(page)
    page.keyboard.press(key)
    expect(page.locator(f"input[name=token][value='{before}']")).to_have_count(0)
    expect(page.locator("[data-message]")).to_have_text("Saved.")


def stored(folder, name):
    queue = read_queue(folder / "queues" / name)
    with LabelBook(folder) as book:
        book.register(queue)
        return queue, book.slots(queue), book.answers(queue)


def find_key(page, address, name):
    page.goto(address)
    return page.get_by_role("link", name=name, exact=True).get_attribute("href").split("/")[-1]


def test_twenty_labels_by_keyboard_two_people_a_kill_and_an_undo(
    tmp_path, make_queue, process, page_of
):
    make_queue(tmp_path, n=60, budget=60)
    server = process()
    ada, bob = page_of(), page_of()
    key = find_key(ada, server.address, "digits")
    sign_in(ada, server.address, key, "Ada")
    sign_in(bob, server.address, key, "Bob")
    assert item(ada) != item(bob)
    for i in range(8):
        press(ada, str(1 + i % 3))
        assert item(ada) != item(bob)
    for _ in range(4):
        press(bob, "2")
    server.kill()
    ada.locator("[data-task][data-ready=yes]").wait_for()
    ada.keyboard.press("3")
    expect(ada.locator("[data-message]")).to_contain_text("Not saved yet")
    _, _, before = stored(tmp_path, "digits")
    assert len(before) == 12
    server.start()
    expect(ada.locator("[data-message]")).to_have_text("Saved.", timeout=20_000)
    for i in range(2):
        press(ada, str(1 + i % 3))
    taken_back = str(item(ada))
    press(ada, "1")
    ada.locator("[data-task][data-ready=yes]").wait_for()
    ada.keyboard.press("u")
    expect(ada.locator("[data-message]")).to_have_text("Taken back.")
    assert str(item(ada)) == taken_back
    press(ada, "c")
    for _ in range(4):
        press(bob, "1")
    queue, slots, answers = stored(tmp_path, "digits")
    assert len(answers) == 20
    assert len({a.item for a in answers}) == 20
    assert {a.annotator for a in answers} == {"Ada", "Bob"}
    found = consensus(answers)
    untold = next(i for i in found if str(queue.ids[i]) == taken_back)
    assert found[untold].state == "cannot tell"
    # The ratio on the page is discovery's on what is stored.
    items = [s.item for s in slots if s.item in found and found[s.item].label is not None]
    wrong = [found[i].label != queue.predicted[i] for i in items]
    expected = discovery.sdr(queue.confidence[items], wrong)
    low, high = discovery.sequential_interval(queue.confidence[items], wrong)
    for page in (ada, bob):
        shown = page.locator("[data-sdr=value]")
        expect(shown).to_have_attribute("data-exact", repr(float(expected)), timeout=20_000)
        expect(page.locator("[data-fact=answered]")).to_have_text("20")
        expect(page.locator("[data-fact=budget_left]")).to_have_text("41")
        expect(page.locator("[data-sdr=low]")).to_have_text(f"{low:.3g}")
        expect(page.locator("[data-sdr=high]")).to_have_text(
            "∞" if np.isinf(high) else f"{high:.3g}"
        )


def test_ten_reviewed_samples_give_the_precision_and_filter_the_set(tmp_path, process, page_of):
    class Samples:
        X = np.random.default_rng(0).random((10, 8, 8))
        pairs = np.array([["3", "8"]] * 10)

    write_review_queue(tmp_path, Samples(), budget=10)
    server = process()
    page = page_of(viewport={"width": 390, "height": 844}, color_scheme="dark")
    key = find_key(page, server.address, "review")
    sign_in(page, server.address, key, "Ada")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Between 3 and 8?")
    expect(page.get_by_role("button", name="More like 8")).to_be_visible()
    for verdict in "1112341411":
        press_review(page, verdict)
    expect(page.get_by_role("heading", name="Nothing is left for you here")).to_be_visible()
    expect(page.locator("[data-precision=value]")).to_have_text("60 %")
    expect(page.locator("[data-precision=low]")).to_have_text("26.2 %")
    expect(page.locator("[data-precision=high]")).to_have_text("87.8 %")
    assert len(kept_rows(tmp_path)) == 6


def press_review(page, key):
    page.locator("[data-task][data-ready=yes]").wait_for()
    before = token(page)
    page.keyboard.press(key)
    expect(page.locator(f"input[name=token][value='{before}']")).to_have_count(0)


def test_hostile_names_are_text_and_nothing_runs(tmp_path, start, page_of):
    write_queue(
        tmp_path,
        np.zeros((3, 4, 4)),
        classes=[HOSTILE, "=cmd()"],
        ids=[HOSTILE, "../../etc/passwd", "x" * 300],
        predicted=[HOSTILE] * 3,
        confidence=[0.9] * 3,
        instructions=HOSTILE,
    )
    Report([Evidence("accuracy", HOSTILE)], HOSTILE).to_json(tmp_path / "result.json")
    served = start([tmp_path])
    address, key = f"http://127.0.0.1:{served.port}", served.queue("labels")
    page = page_of(viewport={"width": 360, "height": 700})
    sign_in(page, address, key, HOSTILE)
    expect(page.locator(".answers button").first).to_contain_text(HOSTILE)
    press(page, "1")
    expect(page.locator(".last")).to_contain_text(HOSTILE)
    for path in (f"/queues/{key}", f"/queues/{key}/items", "/"):
        page.goto(address + path)
        expect(page.locator("main")).to_contain_text("alert(1)")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def report_folder(folder):
    table = Table(
        ("name", "errors", "rate"), tuple((f"row {i}", i, 1 / (i + 1)) for i in range(12))
    )
    evidence = Evidence(
        "reliability",
        "Few errors.",
        estimates={"pmi": Estimate(0.1, 0.05, 0.2, 0.95, 100, "exact")},
        tables={"t": table},
        charts={"c": Chart(bars([("one", 3.0), ("two", 1.0)], "rows"), "Bars", "Two bars.")},
        samples=(
            Sample(7, "wrong", truth="cat", said="dog", pictures={"input": png_uri(np.eye(8))}),
        ),
    )
    from fireassay.assessment.run.stale import write_made
    from fireassay.engine import RunStore

    with RunStore(folder) as store:
        store.expect(["k"], "part reliability", "f")
        store.record("k", {"evidence": evidence, "result": None}, 0.1)
        write_made(store, {"reliability": {"key": "k", "objects": None, "files": None}})
    Report([evidence], "A run").to_json(folder / "result.json")


def test_tables_sort_and_filter_and_charts_are_live(tmp_path, start, page_of):
    report_folder(tmp_path)
    served = start([tmp_path])
    page = page_of()
    page.goto(f"http://127.0.0.1:{served.port}/")
    page.get_by_role("link", name=f"{tmp_path.parent.name}/{tmp_path.name}").click()
    page.get_by_role("link", name="Reliability").click()
    table = page.locator("table", has_text="row 11")
    table.get_by_role("button", name="rate").click()
    expect(table.locator("tbody tr").first).to_contain_text("row 11")
    table.get_by_role("button", name="rate").click()
    expect(table.locator("tbody tr").first).to_contain_text("row 0")
    page.get_by_label("Show rows with").fill("row 1")
    expect(table.locator("tbody tr:visible")).to_have_count(3)
    expect(page.locator("[data-drawn=live]")).to_have_count(2)  # the folded one is not in sight
    page.locator("[data-chart=numbers] .chart-live .mark-symbol path").first.hover()
    expect(page.locator("#vg-tooltip-element")).to_contain_text("10.0")
    page.get_by_text("Draw it").click()
    cloud = page.locator("[data-chart^=table]")
    expect(cloud.locator(".chart-live .mark-symbol path")).to_have_count(12)
    before = cloud.locator(".mark-symbol path").nth(3).get_attribute("transform")
    cloud.locator("select").first.select_option("rate")
    expect(cloud.locator(".mark-symbol path").nth(3)).not_to_have_attribute("transform", before)
    picture = page.get_by_role("img", name="input of row 7")
    assert picture.evaluate("image => image.naturalWidth") == 8


UNNAMED = """() => [...document.querySelectorAll("input, select, button, a, img")]
    .filter((e) => e.type !== "hidden")
    .filter((e) => !(e.alt !== undefined && e.hasAttribute("alt")) && !e.labels?.length
        && !e.getAttribute("aria-label") && !e.textContent.trim())
    .map((e) => e.outerHTML)"""


def test_every_control_has_a_name_and_fits_a_phone(tmp_path, make_queue, start, page_of):
    make_queue(tmp_path, n=5)
    series = np.sin(np.arange(200) / 9)[None].repeat(3, axis=0)
    write_queue(tmp_path, series, kind="series", classes="ab", name="curves")
    names = [f"feature {i}" for i in range(40)]
    write_queue(tmp_path, np.ones((3, 40)), classes="ab", name="rows", feature_names=names)
    report_folder(tmp_path)
    served = start([tmp_path])
    address = f"http://127.0.0.1:{served.port}"
    page = page_of(viewport={"width": 360, "height": 700}, color_scheme="dark")
    keys = [served.queue(name) for name in ("digits", "curves", "rows")]
    sign_in(page, address, keys[0], "Ada")
    run = next(iter(served.app.state.workspace.runs()))
    paths = ["/", f"/runs/{run}", f"/runs/{run}/parts/0"]
    paths += [f"/queues/{key}{end}" for key in keys for end in ("", "/label", "/items")]
    for path in paths:
        page.goto(address + path)
        assert page.evaluate(UNNAMED) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path
        assert page.evaluate("document.documentElement.lang") == "en"
    page.goto(f"{address}/queues/{keys[0]}/label")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    # Whoever answers by Tab and Enter stays at the button.
    page.get_by_role("button", name="dog").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-message]")).to_have_text("Saved.")
    expect(page.get_by_role("button", name="dog")).to_be_focused()


@pytest.mark.parametrize("width", [360, 1100])
def test_texts_series_and_pictures_are_read_whole(tmp_path, start, page_of, width):
    words = "The patient said that it began on Tuesday, after the long walk home. " * 8
    rows = np.array([[words, "67"]] * 2)
    named = {"feature_names": ["what the patient said", "age"]}
    write_queue(tmp_path, rows, classes="ab", name="texts", kind="row", **named)
    beat = np.sin(np.arange(160) / 5)
    series = np.stack([beat, 40 + 5 * beat], axis=1)[None].repeat(2, axis=0)
    named = {"feature_names": ["ECG", "pressure"]}
    write_queue(tmp_path, series, classes="ab", name="curves", kind="series", **named)
    picture = np.zeros((2, 16, 12, 3), np.uint8)
    picture[:, :4, :, 0] = 255  # a red bar above
    write_queue(tmp_path, picture, classes="ab", name="pictures")
    served = start([tmp_path])
    address = f"http://127.0.0.1:{served.port}"
    page = page_of(viewport={"width": width, "height": 800})
    sign_in(page, address, served.queue("texts"), "Ada")
    for text in (words.strip(), "67"):
        box = page.get_by_role("cell", name=text).bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= width
    page.goto(f"{address}/queues/{served.queue('curves')}/label")
    stage = page.locator("[data-stage]")
    expect(stage).to_contain_text("each from its lowest to its highest value")  # neither is flat
    for name in ("ECG", "pressure"):
        expect(stage.get_by_text(name, exact=True).first).to_be_visible()
    page.goto(f"{address}/queues/{served.queue('pictures')}/label")
    shown = page.locator("[data-stage] img")
    assert shown.evaluate("image => [image.naturalWidth, image.naturalHeight]") == [12, 16]
