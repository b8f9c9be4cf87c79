"""The sample browser over HTTP: what it counts and shows is what the rows are."""

import html
import json
import os
import re
import shutil
import sys

import numpy as np
import pytest

pytest.importorskip("fastapi")
pytestmark = pytest.mark.extras

from fireassay.core import DataError  # noqa: E402
from fireassay.web.queue import labels, read_queue  # noqa: E402
from fireassay.web.sample_query import Query, counted, mask_of  # noqa: E402
from fireassay.web.sample_rows import (  # noqa: E402
    neighbours,
    read_samples,
    text_of,
)

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def ran(tmp_path_factory, make_run, small_rows):
    X, y, slices = small_rows
    return make_run(tmp_path_factory.mktemp("ran") / "run", X, y, slices=slices)


@pytest.fixture
def browsed(tmp_path, ran, small_rows, start):
    X, y, _ = small_rows
    shutil.copytree(ran, tmp_path / "run")
    served = start([tmp_path / "run"])
    client = served.client()
    key = next(iter(served.app.state.workspace.runs()))
    return client, f"/runs/{key}/samples", read_samples(tmp_path / "run")["test"], X, y


def total(page):
    return int(re.search(r"<strong>([\d,]+)</strong> rows?", page).group(1).replace(",", ""))


def shown_rows(page):
    return [int(row) for row in re.findall(r'class="sample [^"]*" data-row="(\d+)"', page)]


def test_filters_find_what_they_say(browsed):
    client, address, _, X, y = browsed
    said = np.where(X[:, 0] > 0.5, "dog", "cat")
    site = np.array(["north", "south", "west"])[np.arange(150) % 3]
    for query, wanted in (
        ("", np.ones(150, bool)),
        ("truth=dog", y == "dog"),
        ("said=cat&right=wrong", (said == "cat") & (y != "cat")),
        ("slice.site=west&right=right", (site == "west") & (said == y)),
        ("part=accuracy&confidence=0.9..1", np.maximum(X[:, 0], 1 - X[:, 0]) >= 0.9),
        ("truth=owl", np.zeros(150, bool)),
    ):
        page = client.get(f"{address}?{query}")
        assert page.status == 200
        assert total(page.text) == wanted.sum(), query
        np.testing.assert_array_equal(shown_rows(page.text), np.flatnonzero(wanted)[:60])


def test_every_bar_counts_what_its_filter_finds(browsed):
    _, _, rows, _, _ = browsed
    for facet in rows.facets:
        bars = counted(rows, facet, None, None).bars
        assert bars
        for bar in bars:
            assert mask_of(rows, facet, bar.value).sum() == bar.count, (facet, bar)
        if facet not in ("part", "mark"):
            assert sum(bar.count for bar in bars) == len(rows)


def test_a_facet_counts_under_the_other_filters(browsed):
    client, address, _, X, y = browsed
    page = client.get(f"{address}?truth=dog").text
    facets = dict(re.findall(r'data-name="(\w+)">(.*?)</section>', page, re.DOTALL))
    right = ((X[:, 0] > 0.5) == (y == "dog")) & (y == "dog")
    assert re.search(rf"right</span><span class=\"n\">{right.sum()}<", facets["right"])
    assert re.search(rf"cat</span><span class=\"n\">{(y == 'cat').sum()}<", facets["truth"])


def test_order_pages_and_table(browsed):
    client, address, _, X, _ = browsed
    sure = np.maximum(X[:, 0], 1 - X[:, 0]).clip(max=0.99).astype(np.float32)
    order = np.argsort(-sure, kind="stable")
    first = client.get(f"{address}?sort=-confidence").text
    third = client.get(f"{address}?sort=-confidence&page=3").text
    np.testing.assert_array_equal(shown_rows(first), order[:60])
    np.testing.assert_array_equal(shown_rows(third), order[120:])
    assert shown_rows(client.get(f"{address}?page=99").text) == list(range(120, 150))


def test_an_address_that_means_nothing_is_refused(browsed):
    client, address, *_ = browsed
    for query in ("colour=red", "confidence=low", "sort=-colour", "moved=000000000000:newly wrong"):
        answer = client.get(f"{address}?{query.replace(' ', '%20')}")
        assert answer.status == 400, query
    assert client.get(f"{address}/test/150").status == 404
    assert client.get(f"{address}/elsewhere/1").status == 404


def test_the_pane_shows_the_row(browsed):
    client, address, _, X, y = browsed
    pane = client.get(f"{address}/test/7").text
    assert f"{y[7]} → {'dog' if X[7, 0] > 0.5 else 'cat'}" in pane
    assert all(f"{value:.6g}" in pane for value in np.float32(X[7]).tolist())
    assert "site: south" in pane
    whole = client.get(f"{address}?row=7").text
    assert f"{y[7]} → " in whole


def test_neighbours_are_the_nearest(browsed):
    *_, rows, X, _ = browsed
    facts = rows.facts["content"]
    widths = np.array(facts["high"]) - np.array(facts["low"])
    distance = np.sqrt((((X - X[11]) / widths) ** 2).sum(axis=1))
    distance[11] = np.inf
    expected = np.argsort(distance)[:6]
    found = neighbours(rows, 11)
    assert [i for i, _ in found] == expected.tolist()
    np.testing.assert_allclose([d for _, d in found], distance[expected], rtol=1e-4)


def test_rows_go_to_a_label_queue(browsed, tmp_path):
    client, address, _, X, y = browsed
    client.get(address)
    form = {"which": "chosen", "rows": "5,3,9", "name": "mine", "guidelines": "Look twice."}
    answer = client.post(f"{address}/queue", form)
    assert answer.status == 303
    queue = read_queue(tmp_path / "run" / "queues" / "mine")
    assert queue.rows.tolist() == [5, 3, 9]
    assert queue.instructions == "Look twice."
    np.testing.assert_allclose(queue.content, X[[5, 3, 9]], rtol=1e-6)
    assert len(labels(tmp_path / "run", "mine")) == 0
    wrong = ((X[:, 0] > 0.5) != (y == "dog")).sum()
    answer = client.post(f"{address}/queue?right=wrong", {"which": "all", "name": "wrong ones"})
    assert answer.status == 303
    assert len(read_queue(tmp_path / "run" / "queues" / "wrong ones")) == wrong
    assert client.post(f"{address}/queue", {"which": "chosen", "rows": ""}).status == 400
    assert client.post(f"{address}/queue", {"which": "chosen", "rows": "1;2"}).status == 400
    assert client.post(f"{address}/queue", form, csrf=False).status == 403


def test_a_damaged_column_is_refused(browsed, tmp_path):
    client, address, *_ = browsed
    file = tmp_path / "run" / "samples" / "test-said.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    manifest = file.with_name("samples.json")
    manifest.touch()
    answer = client.get(address)
    assert answer.status == 400
    assert "as the run wrote it" in answer.text


@pytest.mark.parametrize("place", ["../../elsewhere", "other"])
def test_a_column_that_the_run_did_not_write_is_refused(browsed, tmp_path, place):
    folder = tmp_path / "run" / "samples"
    told = json.loads((folder / "samples.json").read_text())
    for name, fact in list(told["files"].items()):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        other = folder / name.replace("test-", f"{place}-")
        other.write_bytes((folder / name).read_bytes())
        assert fact["bytes"] == other.stat().st_size
    told["sets"][place] = told["sets"].pop("test")
    (folder / "samples.json").write_text(json.dumps(told))
    with pytest.raises(DataError, match="among the files"):
        read_samples(tmp_path / "run")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe with a name")
@pytest.mark.timeout(60)
def test_a_pipe_in_the_place_of_a_column_is_not_waited_for(browsed, tmp_path):
    folder = tmp_path / "run" / "samples"
    told = json.loads((folder / "samples.json").read_text())
    name = next(iter(told["files"]))
    (folder / name).unlink()
    os.mkfifo(folder / name)
    told["files"][name]["bytes"] = 0
    (folder / "samples.json").write_text(json.dumps(told))
    with pytest.raises(DataError, match="a pipe"):
        read_samples(tmp_path / "run")


def test_names_are_text(tmp_path, make_run, start):
    X = np.random.default_rng(0).random((20, 2))
    y = np.array([HOSTILE, "b"] * 10)
    make_run(tmp_path / "run", X, y, feature_names=(HOSTILE, "x"), slices={HOSTILE: y})
    served = start([tmp_path / "run"])
    key = next(iter(served.app.state.workspace.runs()))
    client = served.client()
    for path in ("samples?row=1", "samples/test/1", "samples/test/1/near"):
        page = client.get(f"/runs/{key}/{path}")
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert html.escape(HOSTILE) in page.text


@pytest.mark.parametrize("kind", ["image", "series", "text"])
def test_other_kinds_of_rows(tmp_path, make_run, start, kind):
    rng = np.random.default_rng(0)
    y = np.array(["a", "b"] * 10)
    X, more = rng.random((20, 3, 8, 8)).astype(np.float32), {}
    model = None
    if kind == "series":
        X, more = rng.random((20, 2, 50)), {"kinds": ("series",)}
    if kind == "text":
        X = np.array([f"word{i} and some more" for i in range(20)], dtype=object)
        model = lambda texts: np.full((len(texts), 2), 0.5)  # noqa: E731
    make_run(tmp_path / "run", X, y, **more, **({"model": model} if model else {}))
    served = start([tmp_path / "run"])
    key = next(iter(served.app.state.workspace.runs()))
    client = served.client()
    page = client.get(f"/runs/{key}/samples?row=4")
    assert page.status == 200
    rows = read_samples(tmp_path / "run")["test"]
    assert rows.kind == kind
    if kind == "image":
        png = client.get(f"/runs/{key}/samples/test/input/4.png")
        assert png.status == 200
        assert "PNG" in png.text[:8]
        assert "item big sharp" in page.text  # pixels of small pictures are seen
    if kind == "series":
        assert page.text.count("<polyline") >= 40
    if kind == "text":
        assert text_of(rows, 4) == X[4]
        assert "word4 and some more" in page.text
    answer = client.post(f"/runs/{key}/samples/queue", {"which": "all", "name": "all"})
    assert answer.status == 303
    assert len(read_queue(tmp_path / "run" / "queues" / "all")) == 20
    assert client.get(f"/queues/{served.queue('all')}/items").status == 200


def test_a_run_without_a_table_says_so(tmp_path, make_queue, start):
    make_queue(tmp_path)
    served = start([tmp_path])
    key = next(iter(served.app.state.workspace.runs()))
    page = served.client().get(f"/runs/{key}/samples")
    assert page.status == 200
    assert "no table of rows" in page.text


def test_an_address_says_all_of_a_view():
    query = Query("test", {"truth": "a&b", "confidence": "0.5..1"}, "-confidence")
    assert query.address(page=2) == "truth=a%26b&confidence=0.5..1&sort=-confidence&page=2"
    assert query.toggled("truth", "a&b") == query.without("truth")
