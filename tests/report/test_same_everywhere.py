"""One view model: 20 models, seven surfaces, no number, state or struck mark that differs."""

import html
import json
import re
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from fireassay import judge
from fireassay.assessment.run.folder import GATES, gate_tables
from fireassay.cli import console
from fireassay.cli.main import app
from fireassay.core import Assumption, Estimate, Evidence, Measure, json_files
from fireassay.report import Report
from fireassay.report.first_screen import first_screen
from fireassay.report.report import report_html

pytestmark = pytest.mark.extras
DATA = (load_iris, load_wine, load_breast_cancer, load_digits)
MODELS = (
    GaussianNB(),
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    KNeighborsClassifier(3),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    LinearDiscriminantAnalysis(),
)
BOUND = Measure("pmi_upper", "Field error rate, at most", "share", "low", "")
HARD = {"min": {"accuracy.accuracy": 0.95, "accuracy.balanced_accuracy": 0.99}}
FIELD = {"max": {"reliability.pmi_upper": 0.08, "accuracy.brier": 0.2}}
AGAINST = Assumption("Rows are independent.", "contradicted", "9 repeat.", "independent-rows")
ACCEPTED = {"independent-rows": "one row per patient, see protocol 7"}
# What happens to a fifth of the models each: besides, limits differ from model to model.
WORLDS = ("plain", "contradicted", "accepted", "stale", "failed")


def field(error, n):
    """A bound as reliability gives it, for the surfaces to round."""
    at = Estimate.bound(min(1.0, error + 1.2 / np.sqrt(n) * 0.3), 0.975, n, "exact")
    said = "If the field looks like this test set, at most some are misclassified."
    return Evidence(
        "reliability", said, estimates={"pmi_upper": at}, measures=(BOUND,), answer="pmi_upper",
        sentence=said,
    )  # fmt: skip


@cache
def case(number):
    X, y = DATA[number % 4](return_X_y=True)
    model, world = MODELS[number // 4], WORLDS[number % 5]
    rows = np.random.default_rng(number).permutation(len(y))[: 150 + 10 * number]
    train, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    proba = model.fit(X[train], y[train]).predict_proba(X[test])
    classes = [f"kind_{c}" for c in model.classes_]
    gates = {**HARD, **FIELD} if number % 3 else HARD if number % 2 else {}
    found = judge([classes[i] for i in np.searchsorted(model.classes_, y[test])], proba,
                  classes=classes, gates=gates if number % 3 else {})  # fmt: skip
    accuracy = replace(found["accuracy"], charts={})  # drawn elsewhere
    if world in ("contradicted", "accepted"):
        rest = tuple(a for a in accuracy.assumptions if a.id != AGAINST.id)
        accuracy = replace(accuracy, assumptions=(*rest, AGAINST))
    if world == "stale":
        accuracy = replace(accuracy, stale="another model")
    parts = [accuracy, field(1 - accuracy.estimates["accuracy"].value, len(test))]
    parts += [Evidence.failed("survival", "disk full")] if world == "failed" else []
    parts += [Evidence.not_available("curation", "there are no votes")]
    accepted = ACCEPTED if world == "accepted" else {}
    return Report(parts, f"Model {number}", accepted), gates


def plain(text):
    text = html.unescape(re.sub(r"<[^>]+>", "", text))
    return text.replace("\N{NO-BREAK SPACE}", " ").strip()


def of_html(page):
    """Limits and answers of a first screen, as they stand in its rows."""
    limits = [
        (plain(row[: row.index("<span")].partition("<td>")[2]), *cells(row))
        for row in re.findall(r'<tr data-limit="[^"]*">(.*?)</tr>', page, re.S)
    ]
    answers = {}
    for name, row in re.findall(r'<tr data-question="([^"]*)">(.*?)</tr>', page, re.S):
        shown = re.search(r"<td data-shown>(.*?)</td>", row, re.S)[1]
        answers[name] = plain(shown), "<s>" in row
    return limits, answers


def cells(row):
    found = re.search(r"data-found>(.*?)</span>", row, re.S)[1]
    wanted = re.search(r"data-wanted>(.*?)</span>", row, re.S)[1]
    state = re.search(r'<span class="state[^>]*>(.*?)</span>', row, re.S)[1]
    return plain(found), plain(wanted), plain(state)[2:], "<s>" in found


def of_terminal(report, verdict, capsys):
    capsys.readouterr()
    console.show_answers(report, verdict)
    head, *blocks = capsys.readouterr().out.split("\n\n")
    limits, label = [], ""
    for line in head.splitlines()[1:]:
        parts = re.split(r"\s{2,}", line.strip())
        if line.startswith("  contradicted"):
            limits[-1] = (*limits[-1][:-1], True)
        elif len(parts) == 1 and not line.startswith("  assumes"):
            label = parts[0]
        elif not line.startswith("  assumes"):
            name = label or parts.pop(0)
            label = ""
            limits.append((name, *parts[-4:], False))
    answers = {
        line[:12].strip().lower(): "contradicted by the data" in line
        for line in blocks[0].splitlines()
    }
    return limits, answers


def of_junit(text, report, verdict):
    suite = ElementTree.fromstring(text)
    said = {p.get("name"): p.get("value") for p in suite.findall("properties/property")}
    limits = []
    for gate in (check.gate.number for check in verdict.checks):
        one = re.match(
            r"(.*): (.*?)( \[contradicted by the data\])?, limit (.*?): (.*?)(;|$)", said[gate]
        )
        limits.append((one[1], one[2], one[4], one[5], bool(one[3])))
    asked = (part.question for part in report.parts if part.question in said)
    return limits, {name: "[contradicted by the data]" in said[name] for name in asked}


def of_card(text):
    """The table of limits, and the sentences that are struck."""
    limits = []
    table = text.partition("| state | assumes |\n|---|---|---|---|---|\n")[2]
    for line in table.partition("\n\n")[0].splitlines():
        name, found, limit, state = (
            re.sub(r"\\(.)", r"\1", cell).strip() for cell in re.split(r" \| ", line[2:])[:4]
        )
        struck = found.startswith("~~")
        found = re.sub(r"~~ contradicted by the data|~~|, n =.*", "", found)
        limits.append((name, found, limit, state[2:].partition(":")[0], struck))
    struck = {
        name.lower(): body.lstrip().startswith("~~")
        for name, body in re.findall(r"^## (\w+) \(.*?\)\n\n(.*?)$", text, re.M)
    }
    return limits, struck


@pytest.mark.parametrize("number", range(20))
def test_every_surface_says_the_same(number, tmp_path, capsys):
    pytest.importorskip("fastapi")
    from fireassay.web.run_pages import RunViews

    report, gates = case(number)
    verdict = report.verdict(gates)
    screen = first_screen(report.parts, verdict, report.accepted)
    expected = [
        (line.check.label, line.whole or "no number", line.check.limit, line.check.word,
         line.struck)
        for line in screen.limits
    ]  # fmt: skip
    told = {a.part.question: (a.shown or "–", a.struck) for a in screen.answers}
    folder = tmp_path / "run"
    folder.mkdir()
    report.to_json(folder / "result.json")
    tables = gate_tables(check.gate for check in verdict.checks)
    (folder / GATES).write_text(json_files.dumps(tables, sort_keys=False))

    page = report.to_html(tmp_path / "r.html", gates).read_text()
    app_page = str(RunViews().get(folder).screen)
    notebook = report_html(report.parts, report.title, verdict, report.accepted)
    for surface in (page, app_page, notebook):
        assert of_html(surface) == (expected, told)
        assert screen.head in surface
        assert plain(screen.rest) in plain(surface)

    limits, answers = of_terminal(report, verdict, capsys)
    rounded = [(n, line.found, line.between, w, f"{line.state}", s) if line.found else None
               for line, (n, _, w, _, s) in zip(screen.limits, expected, strict=True)]  # fmt: skip
    assert [one for one in rounded if one] == [one for one in limits if len(one) == 6]
    assert answers == {name: struck for name, (_, struck) in told.items()}

    junit = report.to_junit(tmp_path / "r.xml", gates).read_text()
    assert of_junit(junit, report, verdict) == (expected, {n: s for n, (_, s) in told.items()})
    card = report.to_model_card(tmp_path / "c.md", gates).read_text()
    of_limits, of_answers = of_card(card)
    assert of_limits == [(n, "–" if f == "no number" else f, w, s, x) for n, f, w, s, x in expected]
    assert {name: of_answers[name] for name in told} == {n: s for n, (_, s) in told.items()}

    said = json.loads(CliRunner().invoke(app, ["check", str(folder), "--json"]).stdout)
    assert said["headline"] == verdict.headline
    assert said["status"] == verdict.status
    assert [
        (c["label"], c.get("found", "no number"), c["word"], c["struck"]) for c in said["checks"]
    ] == [(n, f, s, x) for n, f, _, s, x in expected]
    raw = json.loads((folder / "result.json").read_text())["parts"]
    for line in screen.limits:
        check = line.check
        if check.estimate is not None:
            kept = raw[check.part]["estimates"][check.measure.name]
            assert check.measure.shown(Estimate.from_dict(kept)) == line.whole


def test_the_models_show_every_state():
    seen = set()
    for number in range(20):
        report, gates = case(number)
        verdict = report.verdict(gates)
        seen |= {verdict.status, *(check.status for check in verdict.checks)}
        screen = first_screen(report.parts, verdict, report.accepted)
        seen |= {"struck" for line in screen.limits if line.struck}
    assert seen >= {"fail", "not enough evidence", "no limits set", "undecided", "struck", "pass"}
