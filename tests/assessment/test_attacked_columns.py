"""Rules for columns, from the lines of a configuration to every row that fooled the model."""

import sys
import textwrap

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import fireassay as fa
from fireassay.assessment.coded_rows import coded
from fireassay.assessment.config import read_config
from fireassay.assessment.context import load_context
from fireassay.assessment.parts import survival as part

TINY = 1e-9  # what scaling a column and back may round
RULES = """
    [model]
    path = "visits_model:answer"
    classes = ["sick", "well"]
    [data]
    test = "test.csv"
    label = "outcome"
    [survival]
    samples = 40
    budget = 50
    [survival.columns]
    age = "fixed"
    visits = {kind = "integer", eps = 1}
    ward = {kind = "category", values = ["A", "B"]}
    dose = {change = "increase only", high = 12.0}
    pressure = {low = 90.0, high = 150.0, eps = 5.0}
"""
MODEL = """
    import numpy as np

    def answer(rows):
        score = (0.04 * (rows["age"] - 55) + 0.5 * (rows["visits"] - 3) + 0.4 * (rows["dose"] - 4)
                 + rows["ward"].map({"A": -1, "B": 0, "C": 1}) + 0.03 * (rows["pressure"] - 120))
        sick = 1 / (1 + np.exp(-score.to_numpy(dtype=float)))
        return np.column_stack([sick, 1 - sick])
"""


def patients(n):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "visits": rng.poisson(3, n),
            "ward": rng.choice(["A", "B", "C"], n),
            "dose": rng.gamma(2, 2, n).round(2),
            "pressure": rng.normal(120, 15, n).round(1),
        }
    )


def test_every_row_that_fooled_the_model_keeps_to_the_rules(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "visits_model.py").write_text(textwrap.dedent(MODEL))
    (tmp_path / "fireassay.toml").write_text(textwrap.dedent(RULES))
    rows = patients(200)
    import visits_model

    rows["outcome"] = np.array(["sick", "well"])[visits_model.answer(rows).argmax(axis=1)]
    rows.to_csv(tmp_path / "test.csv", index=False)
    monkeypatch.chdir(tmp_path)
    config = read_config("fireassay.toml")
    context = coded(load_context(config, trust=True))
    found = part.run(context, config.settings["survival"])
    sys.modules.pop("visits_model")
    after = context.model.book.decode(found.kept["adversarial"]).reset_index(drop=True)
    before = rows.iloc[np.asarray(found.kept["samples"])].reset_index(drop=True)
    assert len(after) > 10
    assert (after["age"] == before["age"]).all()
    assert ((after["visits"] - before["visits"]).abs() <= 1).all()
    assert (after["visits"] == after["visits"].round()).all()
    other = after["ward"] != before["ward"]
    assert after["ward"][other].isin(["A", "B"]).all()
    assert (after["dose"] >= before["dose"] - TINY).all()
    assert (after["dose"] <= np.maximum(before["dose"], 12.0) + TINY).all()
    moved = (after["pressure"] - before["pressure"]).abs()
    assert (moved <= 5.0 + TINY).all()
    assert after["pressure"][moved > TINY].between(90.0, 150.0).all()
    assert other.any()
    assert (after["visits"] != before["visits"]).any()
    assert (after["dose"] > before["dose"] + TINY).any()
    assert (moved > TINY).any()
    evidence = found.result.evidence()
    assert "ℓ∞ ≤ 0.1 of each column's 5 % to 95 % range" in evidence.headline
    assert "With 50 tries and changes up to 0.1 of a column's range" in evidence.sentence
    said = {name: rule for name, rule, _ in evidence.tables["moved_columns"].rows}
    assert said["age"] == "fixed"
    assert said["visits"] == "integer, by at most 1"
    assert said["pressure"] == "real, by at most 5"
    left_out = dict(evidence.tables["not_tried"].rows)
    assert left_out["pgd"] == "the model gives no gradients"


def test_accuracy_and_survival_name_one_model():
    rows = patients(120)
    model = LogisticRegression().fit(rows[["age", "dose"]], rows["visits"] > 3)
    y = model.predict(rows[["age", "dose"]])
    small = {"survival": {"samples": 10, "budget": 20}}
    report = fa.evaluate(model, rows[["age", "dose"]], y, ["accuracy", "survival"], settings=small)
    assert {part.status for part in report.parts} == {"done"}
    assert len({part.provenance.model_sha256 for part in report.parts}) == 1
