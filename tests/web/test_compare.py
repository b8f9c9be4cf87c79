"""Two runs side by side in the app, and one number over time."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("fastapi")
pytestmark = pytest.mark.extras

from fireassay.assessment.run.folder import read_report  # noqa: E402
from fireassay.web.pages import linked  # noqa: E402
from fireassay.web.sample_rows import read_samples  # noqa: E402


def better(X):
    p = np.clip(0.9 * np.asarray(X)[:, 0] + 0.1 * np.asarray(X)[:, 1], 0.01, 0.99)
    return np.column_stack([1 - p, p])


def sure_of_the_first(X):
    p = np.clip(np.asarray(X)[:, 0], 0.01, 0.99)
    return np.column_stack([1 - p, p])


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory, make_run, small_rows):
    X, y, slices = small_rows
    folder = tmp_path_factory.mktemp("two")
    make_run(folder / "before", X, y, slices=slices)
    make_run(folder / "after", X, y, slices=slices, model=better)
    return folder


def test_what_changed_row_by_row(two_runs, small_rows, start):
    X, y, _ = small_rows
    served = start([two_runs])
    client = served.client()
    keys = {run.name: key for key, run in served.app.state.workspace.runs().items()}
    page = client.get(f"/compare?before={keys['before']}&after={keys['after']}").text
    was, now = (
        np.array(["cat", "dog"])[model(X).argmax(axis=1)] == y
        for model in (sure_of_the_first, better)
    )
    assert "row by row" in page
    assert f"{(was & ~now).sum()} newly wrong" in page
    assert f"{(~was & now).sum()} newly right" in page
    assert "○ no limits set" in page
    link = re.search(r'href="(/runs/\w+/samples\?moved=[^"]*wrong)"', page).group(1)
    browser = client.get(link).text
    found = [int(row) for row in re.findall(r'class="sample [^"]*" data-row="(\d+)"', browser)]
    np.testing.assert_array_equal(found, np.flatnonzero(was & ~now)[:60])
    assert "newly wrong in a comparison" in browser
    half = client.get(f"/compare?after={keys['after']}").text  # the run before is proposed
    assert f'value="{keys["before"]}" selected' in half


def test_one_number_over_time(two_runs, start):
    served = start([two_runs])
    page = served.client().get("/trend?number=accuracy.accuracy").text
    spec = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page).group(1))
    values = [row["value"] for row in spec["data"]["values"]]
    expected = [
        read_report(two_runs / name)["accuracy"].estimates["accuracy"].value
        for name in ("after", "before")  # no day is known of them: by name
    ]
    np.testing.assert_allclose(values, expected, atol=1e-5)
    assert all(re.fullmatch(r"/runs/[0-9a-f]{12}", row["href"]) for row in spec["data"]["values"])
    assert served.client().get("/trend?project=elsewhere").status == 404


def test_marks_lead_to_their_rows(two_runs):
    rows = read_samples(two_runs / "after")["test"]
    charts = read_report(two_runs / "after")["accuracy"].charts
    confusion = linked(charts["confusion matrix"], "accuracy", "confusion matrix", "k", rows)
    marks = confusion.body["data"]["values"]
    assert {row["href"] for row in marks} == {
        f"/runs/k/samples?truth={a}&said={b}" for a in ("cat", "dog") for b in ("cat", "dog")
    }
    assert any(layer.get("encoding", {}).get("href") for layer in confusion.body["layer"])
    diagram = linked(charts["reliability diagram"], "accuracy", "reliability diagram", "k", rows)
    for row in diagram.body["data"]["values"]:
        low, high = re.search(r"confidence=([\d.]+?)\.\.([\d.]+)", row["href"]).groups()
        assert float(low) <= row["x"] <= float(high)
    own = charts["confusion matrix"]
    assert "href" not in json.dumps(own.body)  # the report's own chart stays
    assert linked(own, "accuracy", "confusion matrix", "k", None) is own
