import html
import http.client
import json
import re
import time

import numpy as np
import pytest

from fireassay import discovery
from fireassay.core import Cell, Chart, Estimate, Evidence, Sample, Table
from fireassay.core.drawing import bars
from fireassay.data.shown import png_uri
from fireassay.engine import RunStore
from fireassay.report import Report
from fireassay.web.label_pages import answer_keys
from fireassay.web.queue import write_queue

pytestmark = pytest.mark.extras

HOSTILE = "</script><script>alert(1)</script>{{7*7}}\"'><img src=x onerror=alert(2)>"


def token_of(page):
    found = re.search(r'name="token" value="([^"]+)"', page)
    return found.group(1) if found else None


def item_of(page):
    return int(re.search(r"/items/(\d+)/image.png", page).group(1))


def hostile_evidence():
    return Evidence(
        question="discovery",
        headline=HOSTILE,
        estimates={HOSTILE: Estimate(0.5, 0.4, 0.6, 0.95, 10, HOSTILE)},
        tables={"t": Table((HOSTILE, "n", "m"), tuple((HOSTILE, i, i / 3) for i in range(9)), "")},
        charts={"c": Chart(bars([(HOSTILE, 1.0)], HOSTILE), HOSTILE, HOSTILE)},
        samples=(
            Sample(
                HOSTILE,
                HOSTILE,
                truth=HOSTILE,
                pictures={HOSTILE: png_uri(np.zeros((4, 4)))},
                cells=(Cell(HOSTILE, HOSTILE, unusual=True, usual=HOSTILE),),
                text=((HOSTILE, 1.0),),
            ),
        ),
    )


def test_a_run_with_its_report_and_charts(tmp_path, start):
    Report([hostile_evidence()], HOSTILE).to_json(tmp_path / "result.json")
    served = start([tmp_path])
    client = served.client()
    home = client.get("/")
    key = re.search(r"/runs/([0-9a-f]{12})", home.text).group(1)
    pages = [home.text, client.get(f"/runs/{key}").text, client.get(f"/runs/{key}/parts/0").text]
    for page in pages:
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert html.escape(HOSTILE, quote=False)[:20] in page
        assert "49" not in page or "{{7*7}}" in page
    assert "0.5" in pages[2]
    assert client.get(f"/runs/{key}/parts/1").status == 404
    assert client.get(f"/runs/{key}/parts/0/samples/0/0.png").status == 404
    assert client.get("/runs/" + "0" * 12).status == 404


def test_charts_and_pictures_come_from_the_journal_and_cannot_run(tmp_path, start):
    from fireassay.assessment.run.stale import write_made

    evidence = hostile_evidence()
    with RunStore(tmp_path) as store:
        store.expect(["k"], "part discovery", "f")
        store.record("k", {"evidence": evidence, "result": None}, 0.1)
        write_made(store, {"discovery": {"key": "k", "objects": None, "files": None}})
    Report([evidence], "t").to_json(tmp_path / "result.json")
    served = start([tmp_path])
    client = served.client()
    key = next(iter(served.app.state.workspace.runs()))
    page = client.get(f"/runs/{key}/parts/0").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    (data,) = re.findall(
        r'data-chart="chart-0".*?<script type="application/json">(.*?)</script>', page, re.DOTALL
    )
    assert json.loads(data)["data"]["values"][0]["label"] == HOSTILE
    assert client.get(f"/runs/{key}/parts/0/samples/0/1.png").status == 404
    answer = client.get(f"/runs/{key}/parts/0/samples/0/0.png")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("image/png")
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_hostile_classes_and_ids_are_text_everywhere(tmp_path, start):
    write_queue(
        tmp_path,
        np.zeros((3, 4, 4)),
        classes=[HOSTILE, "=cmd()"],
        ids=[HOSTILE, "../../etc/passwd", "x" * 400],
        predicted=[HOSTILE] * 3,
        confidence=[0.9] * 3,
        instructions=HOSTILE,
        search=HOSTILE,
        annotators_per_item=2,
    )
    served = start([tmp_path])
    key = served.queue("labels")
    pages = []
    for who, choice in ((HOSTILE, "0"), ("bob", "1")):
        client = served.client().sign_in(who)
        page = client.get(f"/queues/{key}/label").text
        pages.append(page)
        sent = {"token": token_of(page), "choice": choice, "comment": HOSTILE}
        client.post(f"/queues/{key}/answer", sent)
    for path in ("", "/label", "/items", "/conflicts", "/items?state=" + "x%22%3E%3Cscript%3E"):
        answer = client.get(f"/queues/{key}{path}")
        assert answer.status in (200, 404), path
        pages.append(answer.text)
    pages.append(client.get("/").text)
    for page in pages:
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert 'x"><script>' not in page
    assert any("{{7*7}}" in page for page in pages)


def test_labelling_by_forms_alone(tmp_path, make_queue, start):
    """The pages work without scripts: a form, a redirect, the next item."""
    make_queue(tmp_path, n=4)
    served = start([tmp_path])
    key = served.queue("digits")
    client = served.client()
    assert "Who are you" in client.get(f"/queues/{key}/label").text
    client.sign_in("Ada <b>")
    page = client.get(f"/queues/{key}/label").text
    first = item_of(page)
    assert "sure" not in page
    answer = client.post(f"/queues/{key}/answer", {"token": token_of(page), "choice": "1"})
    assert (answer.status, answer.headers["location"]) == (303, f"/queues/{key}/label")
    page = client.get(f"/queues/{key}/label").text
    assert item_of(page) != first
    assert "sure" in page
    client.post(f"/queues/{key}/undo")
    page = client.get(f"/queues/{key}/label").text
    assert item_of(page) == first
    assert "marked so" in page
    while token := token_of(page):
        client.post(f"/queues/{key}/answer", {"token": token, "choice": "cannot-tell"})
        page = client.get(f"/queues/{key}/label").text
    assert "Nothing is left for you here" in page


@pytest.mark.parametrize("fragment", [False, True])
def test_a_second_different_answer_on_a_used_form_is_not_said_to_be_saved(
    tmp_path, make_queue, start, fragment
):
    make_queue(tmp_path, n=6)
    served = start([tmp_path])
    key = served.queue("digits")
    client = served.client().sign_in("ada")
    page = client.get(f"/queues/{key}/label").text
    item, token = int(item_of(page)), token_of(page)
    headers = {"x-fragment": "task"} if fragment else {}

    def post(**fields):
        return client.post(f"/queues/{key}/answer", {"token": token, **fields}, headers)

    assert post(choice="1").status == (200 if fragment else 303)
    again = post(choice="1")  # the same once more: a reload, nothing new
    assert again.status == (200 if fragment else 303)
    assert "Nothing was saved" not in again.text
    for other in ({"choice": "2"}, {"choice": "skip"}, {"choice": "1", "comment": "sure?"}):
        second = post(**other)
        assert "Nothing was saved" in second.text
        assert "Saved." not in second.text
        assert second.status == (200 if fragment else 409)
    opened = served.app.state.workspace.queues()[key]
    assert [given.choice for given in opened.book.answers(opened.queue, item)] == [1]
    client.post(f"/queues/{key}/undo")
    assert "Nothing was saved" in post(choice="1").text  # it was taken back since
    assert opened.book.answers(opened.queue, item) == []


def test_the_prediction_is_hidden_until_the_label_is_given(tmp_path, start):
    write_queue(
        tmp_path,
        np.zeros((3, 4, 4)),
        classes=["first", "second"],
        predicted=["second"] * 3,
        confidence=[0.8123] * 3,
    )
    served = start([tmp_path])
    key = served.queue("labels")
    client = served.client().sign_in("ada")
    for path in ("", "/label", "/items", "/live", "/labels.csv"):
        assert "81.2" not in client.get(f"/queues/{key}{path}").text
        assert "0.8123" not in client.get(f"/queues/{key}{path}").text
    token = token_of(client.get(f"/queues/{key}/label").text)
    client.post(f"/queues/{key}/answer", {"token": token, "choice": "0"})
    page = client.get(f"/queues/{key}/label").text
    assert "81.2 % sure" in page
    assert "model wrong" in page


def test_live_numbers_are_discoverys(tmp_path, make_queue, start):
    make_queue(tmp_path, n=30)
    served = start([tmp_path])
    key = served.queue("digits")
    client = served.client().sign_in("ada")
    for choice in "0120021":
        token = token_of(client.get(f"/queues/{key}/label").text)
        client.post(f"/queues/{key}/answer", {"token": token, "choice": choice})
    shown = json.loads(client.get(f"/queues/{key}/live").text)
    opened = served.app.state.workspace.queue(key)
    answers = opened.book.answers(opened.queue)
    confidence = [opened.queue.confidence[a.item] for a in answers]
    wrong = [a.choice != opened.queue.predicted[a.item] for a in answers]
    assert shown["sdr"]["value"] == float(discovery.sdr(confidence, wrong))
    assert shown["sdr"]["low"] == discovery.sequential_interval(confidence, wrong)[0]
    assert shown["answered"] == 7


def test_a_hundred_thousand_items_page_without_loading_them(tmp_path, start):
    n = 100_000
    content = np.lib.format.open_memmap(
        tmp_path / "big.npy", mode="w+", dtype=np.uint8, shape=(n, 16, 16)
    )
    content[:, 3, 3] = 200
    write_queue(tmp_path, content, classes=["a", "b"], ids=[f"item {i}" for i in range(n)])
    served = start([tmp_path])
    key = served.queue("labels")
    client = served.client().sign_in("ada")
    client.get(f"/queues/{key}/items")
    began = time.process_time()
    for page in (1, 1000, 2084):
        answer = client.get(f"/queues/{key}/items?page={page}")
        assert answer.status == 200
        assert len(answer.text) < 60_000
    assert "item 99999" in answer.text
    assert client.get(f"/queues/{key}/label").status == 200
    assert time.process_time() - began < 2.0


def test_conflicts_are_shown_and_resolved(tmp_path, make_queue, start):
    make_queue(tmp_path, n=2, annotators_per_item=2)
    served = start([tmp_path])
    key = served.queue("digits")
    for who, choice in (("ada", "0"), ("bob", "1")):
        client = served.client().sign_in(who)
        token = token_of(client.get(f"/queues/{key}/label").text)
        client.post(f"/queues/{key}/answer", {"token": token, "choice": choice})
    page = client.get(f"/queues/{key}/conflicts").text
    assert "ada" in page
    assert "conflict" in page
    client.post(f"/queues/{key}/resolve", {"item": "0", "choice": "2", "comment": "an owl"})
    assert "resolved" in client.get(f"/queues/{key}/conflicts").text
    assert json.loads(client.get(f"/queues/{key}/live").text)["settled"] == 1


def test_labels_go_out_and_come_in(tmp_path, make_queue, start):
    make_queue(tmp_path / "one", n=3)
    make_queue(tmp_path / "two", n=3)
    served = start([tmp_path])
    keys = list(served.app.state.workspace.queues())
    client = served.client().sign_in("ada")
    for choice in "012":
        token = token_of(client.get(f"/queues/{keys[0]}/label").text)
        client.post(f"/queues/{keys[0]}/answer", {"token": token, "choice": choice})
    text = client.get(f"/queues/{keys[0]}/labels.csv").text
    headers = {"content-type": "text/csv", "x-csrf-token": client.csrf}
    answer = client.request("POST", f"/queues/{keys[1]}/import", text, headers)
    assert json.loads(answer.text)["message"] == "3 new labels kept, of 3 in the file."
    again = client.request("POST", f"/queues/{keys[1]}/import", text, headers)
    assert json.loads(again.text)["message"].startswith("0 new")
    bad = client.request("POST", f"/queues/{keys[1]}/import", "id,label\n0,zebra", headers)
    assert bad.status == 400
    assert "Nothing was kept" in json.loads(bad.text)["message"]


def test_progress_comes_as_events(tmp_path, start):
    with RunStore(tmp_path) as store:
        store.expect(["a", "b"], "simulate", "f")
        served = start([tmp_path])
        key = next(iter(served.app.state.workspace.runs()))
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
        connection.request("GET", f"/runs/{key}/events")
        stream = connection.getresponse()
        assert stream.headers["content-type"].startswith("text/event-stream")
        first = json.loads(stream.readline().decode().removeprefix("data: "))
        assert (first["running"], first["done"], first["total"]) == (True, 0, 2)
        store.record("a", 1, 0.1)
        stream.readline()
        second = json.loads(stream.readline().decode().removeprefix("data: "))
        assert second["done"] == 1
        connection.close()


def test_a_broken_queue_does_not_hide_the_others(tmp_path, make_queue, start):
    make_queue(tmp_path, name="good")
    make_queue(tmp_path, name="broken")
    (tmp_path / "queues" / "broken" / "queue.json").write_text("{}")
    served = start([tmp_path])
    page = served.client().get("/").text
    assert "good" in page
    assert "cannot be used" in page


def test_a_damaged_result_does_not_hide_the_others(tmp_path, make_queue, start):
    make_queue(tmp_path / "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "result.json").write_text("{not json")
    served = start([tmp_path])
    page = served.client().get("/").text
    assert "cannot be read" in page
    assert "good" in page
    key = next(k for k, run in served.app.state.workspace.runs().items() if run.name == "bad")
    answer = served.client().get(f"/runs/{key}")
    assert answer.status == 400
    assert "strict JSON" in answer.text


def test_a_search_without_a_queue_is_pointed_out(tmp_path, start):
    X = np.random.default_rng(0).random((30, 2))
    model = lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]])  # noqa: E731
    discovery.Search(
        "random", model=model, X=X, threshold=0.5, budget=5, path=tmp_path / "search.npz"
    )
    Report([hostile_evidence()], "t").to_json(tmp_path / "result.json")
    served = start([tmp_path])
    assert "A search waits for labels here" in served.client().get("/").text


def test_a_queue_written_while_the_app_runs_appears(tmp_path, make_queue, start):
    make_queue(tmp_path, name="first")
    served = start([tmp_path])
    client = served.client()
    assert "second" not in client.get("/").text
    make_queue(tmp_path, name="second")
    assert "second" in client.get("/").text
    assert client.get(f"/queues/{served.queue('second')}").status == 200


def test_keys_are_names_where_names_are_keys():
    assert answer_keys(["0", "1", "9"]) == ["0", "1", "9"]
    assert answer_keys(["a", "s"]) == ["1", "2"]
    assert answer_keys(["x", "X"]) == ["1", "2"]
    many = answer_keys([f"class {i}" for i in range(40)])
    given = [key for key in many if key]
    assert len(given) == len(set(given)) == 30
    assert not set(given) & set("uscnmp")
