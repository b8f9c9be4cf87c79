"""Every chart of every package is one that can be drawn, and drawn in the same bytes again."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import fireassay as fa
from fireassay import attacks, curation, discovery, reliability, supervision, survival
from fireassay.curation.simulation import compare_approaches

_RNG = np.random.default_rng(0)
X = _RNG.random((240, 2))
Y = (X[:, 0] > 0.45).astype(int)


def model(rows):
    share = 1 / (1 + np.exp(-12 * (rows[:, 0] - 0.5)))
    return np.column_stack([1 - share, share])


def _votes():
    right = _RNG.random((240, 5)) < 0.8
    votes = np.where(right, Y[:, None], 1 - Y[:, None])
    votes[:, 4] = votes[:, 3]  # two that depend on each other
    return votes


def _curation():
    found = curation.curate(_votes())
    said = model(X).argmax(axis=1)
    return found.findings(
        trend=found.validate(Y),
        calibration=found.calibration(Y),
        robustness=found.robustness(said, validity=found.validate(Y)),
        stability=found.stability(Y, n_boot=5, seeds=(0, 1)),
    )


def _observed():
    listed = [("boundary", {"eps": 0.2}), ("hopskipjump", {"eps": 0.2})]
    target = fa.as_classifier(model, classes=[0, 1], bounds=(0.0, 1.0))
    return survival.observe(target, X[:40], Y[:40], listed, budget=60)


def _supervised():
    made = fa.evaluate(
        fa.as_classifier(model, classes=[0, 1]),
        X,
        Y,
        parts="supervision",
        train=(X[::-1] * 0.9, Y[::-1]),
        settings={"supervision": {"supervisors": ("max-softmax", "knn"), "false_alarm": 0.3}},
    )
    return made["supervision"]


def _searched():
    search = discovery.Search("low-confidence", model=model, X=X, threshold=0.5, budget=12)
    return search.run(lambda row: Y[row])


MADE = {
    "accuracy": lambda: fa.evaluate(model, X, Y, parts="accuracy")["accuracy"],
    "curation": _curation,
    "four approaches": lambda: compare_approaches(_votes(), Y, labelers=("majority",)),
    "supervision": _supervised,
    "prioritised": lambda: supervision.prioritise(X[:, 1], X[:, 0] > 0.9),
    "search": _searched,
    "reliability": lambda: reliability.assess(model, X, Y),
    "ram": lambda: reliability.assess(model, X, Y, method=reliability.Ram(cells=6, samples=20)),
    "prior": lambda: reliability.assess(model, X, Y, method=reliability.ConservativeBayes()),
    "survival": _observed,
    "fit": lambda: survival.fit(_observed().frame(), "weibull", ["attack"]),
    "attack": lambda: attacks.boundary(
        fa.as_classifier(model, classes=[0, 1], bounds=(0.0, 1.0)), X[:20], Y[:20], max_queries=40
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_every_chart_is_drawn(name):
    made = MADE[name]()
    charts = made.charts if hasattr(made, "question") else made.charts()
    assert charts
    for chart in charts.values():
        assert chart.caption
        assert chart.alternative
        drawn = chart.svg()
        root = ET.fromstring(drawn)
        assert float(root.attrib["width"]) < 1200
        marks = [e for e in root.iter() if e.attrib.get("class", "").startswith("mark-")]
        assert any(len(mark) for mark in marks)
        assert "NaN" not in drawn
        assert len(json.dumps(chart.body)) < 200_000
