"""Questions asked alone on tables with names and holes, and on texts."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from typer.testing import CliRunner

from fireassay.classifiers.import_path import import_object
from fireassay.cli.main import app

MODEL = """
import numpy as np

def model(frame):
    s = 3 * ((frame["ward"] == "A") * 1.0 + (frame["age"].fillna(50) > 60) - 0.8).to_numpy()
    p = 1 / (1 + np.exp(-s))
    return {"well": 1 - p, "ill": p}

def reader(texts):
    p = np.array([0.9 if "bad" in t else 0.2 for t in texts])
    return np.column_stack([1 - p, p])
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A model of a table with names and holes, beside its training, test and field rows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ward_table_model.py").write_text(MODEL)
    rng = np.random.default_rng(0)
    n = 500
    frame = pd.DataFrame({"age": rng.normal(55, 12, n), "ward": rng.choice(["A", "B", "Süd"], n)})
    frame["bmi"] = rng.normal(25, 4, n)
    ill = (frame["ward"] == "A") * 1.0 + (frame["age"] > 60) + rng.normal(0, 0.4, n) > 0.8
    frame["label"] = np.where(ill, "ill", "well")
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame[:200].to_csv("train.csv", index=False)
    frame[200:400].to_csv("test.csv", index=False)
    frame[400:].drop(columns="label").to_csv("field.csv", index=False)
    return frame


def call(*arguments, code=0):
    found = CliRunner().invoke(app, [*arguments, "--json"])
    assert found.exit_code == code, found.output
    return json.loads(found.output) if code == 0 else found.output


def wrong(frame):
    scores = pd.DataFrame(import_object("ward_table_model:model")(frame))
    return int((scores.columns[scores.to_numpy().argmax(axis=1)] != frame["label"]).sum())


def test_reliability_counts_errors_on_a_table(files):
    answer = call(
        "reliability", "ward_table_model:model", "test.csv", "--operational", "field.csv",
        "--method", "exact",
    )  # fmt: skip
    errors = wrong(files[200:400])
    bound = beta.ppf(0.975, errors + 1, 200 - errors)  # Clopper and Pearson
    assert answer["estimates"]["pmi_upper"]["value"] == pytest.approx(bound)
    refused = call("reliability", "ward_table_model:model", "test.csv", "--method", "ram", code=2)
    assert "fireassay run --only reliability" in " ".join(refused.split())


def test_survival_attacks_categories_and_leaves_holes(files):
    answer = call("survival", "model", "ward_table_model:model", "test.csv", "--samples", "20",
                  "--budget", "30")  # fmt: skip
    assert 0 < answer["estimates"]["standing_share"]["value"] < 1
    moved = {row[0]: row[1] for row in answer["tables"]["moved_columns"]["rows"]}
    assert {name: told.partition(",")[0] for name, told in moved.items()} == {
        "age": "real", "ward": "category", "bmi": "real"
    }  # fmt: skip


def test_supervision_compares_on_a_table(files):
    strange = files[200:400].assign(ward="B", age=59.0)
    strange.to_csv("strange.csv", index=False)
    answer = call(
        "supervision", "compare", "--model", "ward_table_model:model", "--train", "train.csv",
        "--nominal", "test.csv", "--set", "between=strange.csv", "--supervisor", "max-softmax",
    )  # fmt: skip
    p = np.array([1 / (1 + np.exp(2.4)), 1 / (1 + np.exp(-0.6))])  # of B below 60; of one alone
    assert max(p[0], 1 - p[0]) > max(p[1], 1 - p[1])
    assert answer["estimates"]["auroc_between"]["value"] < 0.5  # surer than usual, as it should be


def test_survival_of_texts_says_what_it_takes(files, tmp_path):
    texts = np.array(["a bad film", "a good film"] * 30)
    np.savez(tmp_path / "texts.npz", X=texts, y=[1, 0] * 30)
    said = call("survival", "model", "ward_table_model:reader", "texts.npz", code=2)
    assert "--perturb" in said


def test_a_monitor_is_fitted_on_a_table_and_scores_files_and_lines(files):
    model = ("--model", "ward_table_model:model")
    call(
        "supervision", "fit", "max-softmax", *model, "--train", "train.csv", "--nominal",
        "test.csv", "-o", "monitor.npz",
    )  # fmt: skip
    field = files[400:].drop(columns="label")
    scores = pd.DataFrame(import_object("ward_table_model:model")(field)).to_numpy().max(axis=1)
    found = CliRunner().invoke(
        app, ["supervision", "score", "monitor.npz", "field.csv", *model, "--json"]
    )
    rows, limit = (json.loads(found.output)[name] for name in ("rows", "threshold"))
    assert [row["score"] for row in rows] == pytest.approx((1 - scores).tolist())
    assert [row["alarm"] for row in rows] == (1 - scores > limit).tolist()
    lines = "\n".join(json.dumps(row) for row in json.loads(field.to_json(orient="records"))[:12])
    stream = CliRunner().invoke(app, ["supervision", "score", "monitor.npz", "-", *model],
                                input=lines)  # fmt: skip
    told = [json.loads(line) for line in stream.output.splitlines()]
    assert [line["score"] for line in told] == pytest.approx((1 - scores[:12]).tolist())
    refused = call(
        "supervision", "fit", "mdsa", *model, "--train", "train.csv", "--nominal", "test.csv",
        "-o", "other.npz", "--layer", "inputs", code=2,
    )  # fmt: skip
    assert "looks at the answers alone" in " ".join(refused.split())


def test_discovery_searches_a_table_and_waits_for_labels(files):
    answer = call(
        "discovery", "ward_table_model:model", "test.csv", "--calibration", "train.csv",
        "--budget", "20", "--max-queries", "40",
    )  # fmt: skip
    assert answer["status"] == "done"
    assert answer["provenance"]["labels"] == 20
    call("discovery", "ward_table_model:model", "field.csv", "--budget", "5", "--max-queries", "40",
         "--output", "search")  # fmt: skip
    asked = CliRunner().invoke(app, ["label", "next", "search", "--csv", "next.csv"])
    assert asked.exit_code == 0, asked.output
    table = pd.read_csv("next.csv")
    assert set(table["ward"]) <= {"A", "B", "Süd"}  # names, not codes
    assert {"age", "bmi"} <= set(table.columns)
    compared = call("discovery", "ward_table_model:model", "test.csv", "--compare", "--budget", "5",
                    "--replications", "2")  # fmt: skip
    assert "sdr_twin-trees" in compared["estimates"]
