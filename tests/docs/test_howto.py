"""The how-to guides, typed by hand: every command and every Python block, in the page's order."""

import contextlib
import csv
import json
import os
import re
import shlex
import socket
import threading
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

from fireassay.assessment.parts.part import PartAnswer
from fireassay.assessment.parts.supervision import suspicion
from fireassay.cli.main import app
from fireassay.core import codec
from fireassay.data.builtin import MEASURED, admissions

pytestmark = [
    pytest.mark.extras,
    pytest.mark.filterwarnings("ignore::fireassay.core.errors.FireassayWarning"),
]
DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "howto").glob("*.md"))
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
_CELL = re.compile(r"^\| `.+` \| `(.+)` \|$", re.M)  # a table of calls: theirs, ours
RUNS = {"sh", "python", "yaml"}
SLOW = {"ci", "coming-from", "compare", "label", "monitor", "slices"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What a reader has: predictions of two models, a model, rows to test it on, rows served."""
    skops = pytest.importorskip("skops.io")
    folder, features = tmp_path_factory.mktemp("made"), list(MEASURED)
    tables = {
        name: admissions(n, seed=seed).replace({"sepsis": "yes", "no sepsis": "no"})
        for name, n, seed in (("train", 600, 1), ("test", 600, 0), ("field", 150, 2))
    }
    models = [
        make_pipeline(StandardScaler(), LogisticRegression()).fit(
            tables["train"][columns], tables["train"]["sepsis"]
        )
        for columns in (features, features[:3])
    ]
    skops.dump(models[0], folder / "model.skops")
    test, field = tables["test"], tables["field"]
    test.to_csv(folder / "test.csv", index=False)
    tables["train"].to_csv(folder / "train.csv", index=False)
    test[[*features, "sepsis"]].to_csv(folder / "reference.csv", index=False)
    np.savez(folder / "field.npz", X=field[features].to_numpy())
    for name, rows, model, columns in (
        ("predictions", test, models[0], features), ("new", test, models[0], features),
        ("old", test, models[1], features[:3]), ("served", field, models[0], features),
    ):  # fmt: skip
        table = rows[["admission", "patient", "ward", "sex"]].copy()
        table["y_true"] = rows["sepsis"]
        table["y_prob"] = model.predict_proba(rows[columns])[:, 1].round(4)
        table.to_csv(folder / f"{name}.csv", index=False)
    with open(folder / "rows.jsonl", "w", encoding="utf-8") as lines:
        for number, row in enumerate(field[features].to_numpy()):
            values = "[" + ", ".join(f"{value:g}" for value in row) + "]"
            lines.write(f'{{"id": {number}, "row": {values}}}\n')
            lines.write(f'{{"id": {number}, "sepsis": "{field["sepsis"].iloc[number]}"}}\n')
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    for file in made.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FIREASSAY_SETTINGS", str(tmp_path / "settings"))
    return tmp_path


def blocks(page):
    """Language and code of every block of a page."""
    return _FENCE.findall(page.read_text(encoding="utf-8"))


def typed(line):
    """Type one command; returns what it printed."""
    if "label add" in line:
        somebody_labels(Path("next.csv"))
    words = shlex.split(line)
    assert words[0] == "fireassay"
    with contextlib.suppress(FileNotFoundError):
        if words[1] == "init":
            Path("fireassay.toml").unlink()
    umask = os.umask(0o077)
    done = CliRunner().invoke(app, words[1:])
    os.umask(umask)
    assert done.exit_code == 0, (line, done.output, done.exception)
    return done.output


def somebody_labels(file):
    with open(file, newline="") as opened:
        rows = list(csv.DictReader(opened))
    for row in rows:
        row["label"] = "no"
    with open(file, "w", newline="") as opened:
        write = csv.DictWriter(opened, rows[0])
        write.writeheader()
        write.writerows(rows)


def shown(kind, code):
    """The commands in a block."""
    if kind == "sh":
        return code.splitlines()
    return [
        line[7:] for line in map(str.strip, code.splitlines()) if line[:16] == "- run: fireassay"
    ]


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, id=p.stem, marks=[pytest.mark.slow] if p.stem in SLOW else []) for p in PAGES],
)
def test_what_a_guide_shows_runs(page, here):
    names = {}
    for kind, code in blocks(page):
        if kind == "python":
            exec(compile(code, page.name, "exec"), names)
        elif kind == "toml":
            assert tomllib.loads(code)
        elif kind in RUNS:
            for line in shown(kind, code):
                typed(line)
    for call in _CELL.findall(page.read_text(encoding="utf-8")):
        if call.startswith("fireassay "):
            typed(call)
        else:
            eval(call, names)


def test_twenty_snippets_run_and_every_guide_is_listed():
    ran = [(page.stem, kind) for page in PAGES for kind, _ in blocks(page) if kind in RUNS]
    assert len(ran) >= 20, len(ran)
    index = (DOCS / "howto" / "index.md").read_text(encoding="utf-8")
    for page in PAGES:
        assert page.stem == "index" or f"({page.name})" in index


@pytest.mark.slow
def test_the_service_of_the_guide_gives_the_scores_and_alarms_of_the_run(here):
    uvicorn = pytest.importorskip("uvicorn")
    names = {}
    for kind, code in blocks(DOCS / "howto" / "monitor.md"):
        if kind == "sh":
            for line in shown(kind, code):
                typed(line)
        elif kind == "python":
            exec(compile(code, "monitor.md", "exec"), names)
    rows = pd.read_csv("test.csv").drop(columns="sepsis")
    sent = json.loads(rows.to_json(orient="records"))
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{own.getsockname()[1]}/answers"
        server = uvicorn.Server(uvicorn.Config(names["service"], log_level="error"))
        thread = threading.Thread(target=server.run, args=([own],), daemon=True)
        thread.start()
        together = asked(address, sent)
        alone = [asked(address, [row])[0] for row in sent[:100]]
        server.should_exit = True
        thread.join(20)
    offline = [codec.load(path)["result"] for path in Path("fireassay-run/artifacts").glob("*.npz")]
    (answer,) = [one for one in offline if isinstance(one, PartAnswer)]
    scores, name = suspicion(answer, "test", len(rows))
    threshold = answer.result.rules[name].threshold
    scored = np.flatnonzero(~np.isnan(scores))
    assert len(scored) > 0.9 * len(rows)
    for said in (together, alone):
        seen = scored[scored < len(said)]
        np.testing.assert_allclose([said[i]["score"] for i in seen], scores[seen], atol=1e-6)
        assert [said[i]["alarm"] for i in seen] == (scores[seen] > threshold).tolist()


def asked(address, rows):
    """What the service says; a server that is still starting is asked again."""
    body = json.dumps(rows).encode()
    request = urllib.request.Request(address, body, {"content-type": "application/json"})
    for _ in range(200):
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError:
            raise
        except urllib.error.URLError:
            time.sleep(0.1)
    raise AssertionError("the service does not answer")
