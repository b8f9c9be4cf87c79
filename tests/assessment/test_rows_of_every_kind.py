"""Tables with names and holes, texts and integers through a whole assessment."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

import fireassay as fa
from fireassay.assessment.coded_rows import coded
from fireassay.assessment.context import Context, load_sets
from fireassay.assessment.parts.attack_space import attack_space
from fireassay.assessment.sections import DataSection
from fireassay.attacks import discrete
from fireassay.cli.main import app
from fireassay.data import DataSet, from_frame

SMALL = {
    "survival": {"samples": 10, "budget": 40},
    "discovery": {"pool": 40, "max_queries": 20, "budget": 5, "drawn": 5},
    "supervision": {"samples": 59, "supervisors": ["max-softmax"]},
}
COLUMNS = ["ward", "sex", "age", "bmi", "visits"]


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "patient": rng.integers(0, 150, n),
            "age": rng.normal(50, 15, n).round(1),
            "bmi": rng.normal(25, 4, n),
            "visits": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "ward": rng.choice(["A", "B", "Süd"], n),
        }
    )
    score = 0.08 * (frame.age - 50) + 1.5 * (frame.sex == "m") + 0.3 * (frame.visits - 4)
    frame["outcome"] = np.where(score + rng.normal(0, 1, n) > 0.8, "ill", "well")
    frame.loc[rng.random(n) < 0.1, "bmi"] = np.nan
    frame.loc[rng.random(n) < 0.08, "ward"] = None
    return frame


@pytest.fixture(scope="module")
def pipeline(patients):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    names = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    both = ColumnTransformer([("n", numbers, COLUMNS[2:]), ("c", names, COLUMNS[:2])])
    model = make_pipeline(both, LogisticRegression(max_iter=1000))
    return model.fit(patients[COLUMNS][:200], patients["outcome"][:200])


@pytest.mark.slow
@pytest.mark.extras
def test_a_pipeline_on_names_and_holes_from_init_to_report(
    patients, pipeline, tmp_path, monkeypatch
):
    skops = pytest.importorskip("skops.io")
    monkeypatch.chdir(tmp_path)
    skops.dump(pipeline, "model.skops")
    patients[:200].to_csv("train.csv", index=False)
    patients[200:330].to_csv("test.csv", index=False)
    patients[330:].drop(columns="outcome").to_csv("field.csv", index=False)
    arguments = ["--model", "model.skops", "--data", "test.csv", "--train", "train.csv"]
    arguments += ["--operational", "field.csv", "--label", "outcome", "--group", "patient"]
    for step in (["init", *arguments, "--slices", "sex"], ["plan"], ["run"], ["report"]):
        found = CliRunner().invoke(app, step)
        assert found.exit_code == 0, found.output
        if step[0] == "init":  # a pipeline of frames takes milliseconds a call
            config = tmp_path / "fireassay.toml"
            text = config.read_text().replace("# samples = 100", "samples = 12")
            config.write_text(text.replace("# budget = 300", "budget = 30"))
    parts = json.loads((tmp_path / "fireassay-run" / "result.json").read_text())["parts"]
    test = patients[200:330]
    right = (pipeline.predict(test[COLUMNS]) == test["outcome"]).to_numpy()
    assert parts["accuracy"]["estimates"]["accuracy"]["value"] == pytest.approx(right.mean())
    slices = parts["accuracy"]["tables"]["slices"]["rows"]
    women = right[(test["sex"] == "f").to_numpy()]
    assert slices[0][:3] == ["sex", "f", len(women)]
    assert slices[0][4] == pytest.approx(1 - women.mean(), abs=1e-4)
    for name in ("accuracy", "supervision", "discovery", "reliability", "survival"):
        assert parts[name]["status"] == "done", parts[name]["reason"]


def test_attacked_rows_of_a_table_are_valid_rows(patients, pipeline):
    data = from_frame(patients[200:].drop(columns="patient"), label="outcome", columns=COLUMNS)
    context = coded(Context(fa.as_classifier(pipeline), data))
    model, space = attack_space(context)
    some = np.arange(40)
    found = discrete(
        model, space.inside(context.test.X[some]), context.test.y[some], eps=0.3, max_queries=60
    )
    fell = found.success & (found.distance > 0)  # the others were wrong before
    assert fell.sum() >= 5
    made = context.model.book.decode(space.outside(found.adversarial[fell]))
    before = data.X.iloc[some[fell]].reset_index(drop=True)
    assert dict(made.dtypes) == dict(before.dtypes)
    assert set(made["ward"].dropna()) <= {"A", "B", "Süd"}
    assert set(made["sex"]) <= {"f", "m"}
    assert made["visits"].between(0, 8).all()
    assert (made.isna() == before.isna()).all(axis=None)  # holes stay, and no new ones come
    assert ((made != before) & ~made.isna()).any(axis=1).all()


def test_rules_name_the_values_of_a_column(patients, pipeline):
    data = from_frame(patients[200:].drop(columns="patient"), label="outcome", columns=COLUMNS)
    context = coded(Context(fa.as_classifier(pipeline), data))
    _, space = attack_space(context, {"ward": {"values": ["A", "B"]}, "age": "fixed"})
    levels = context.model.book.columns[0].levels
    assert {levels[int(code)] for code in space.values[0]} == {"A", "B"}
    assert not space.moving[2]


def texts(n=300):
    rng = np.random.default_rng(1)
    words = (["good", "fine", "nice"], ["bad", "awful", "poor"])
    y = rng.integers(0, 2, n)
    meant = np.where(rng.random(n) < 0.8, y, 1 - y)
    return [f"{rng.choice(words[m])} film {i}" for i, m in enumerate(meant)], y


def good_words(rows):
    p = np.array([0.85 if row.split()[0] in ("bad", "awful", "poor") else 0.2 for row in rows])
    p += np.array([0.001 * int(row.split()[2]) / 10 for row in rows])
    return np.column_stack([1 - p, p])


def test_texts_are_asked_what_can_be_asked():
    rows, y = texts()
    report = fa.evaluate(
        good_words, rows[150:], y[150:], train=(rows[:150], y[:150]), settings=SMALL
    )
    assert {part.question: part.status for part in report.parts} == {
        "accuracy": "done",
        "curation": "not available",
        "ambiguity": "not available",
        "supervision": "done",
        "discovery": "done",
        "reliability": "done",
        "survival": "not available",
    }
    said = np.array([row.split()[0] in ("bad", "awful", "poor") for row in rows[150:]])
    assert report["accuracy"].estimates["accuracy"].value == pytest.approx((said == y[150:]).mean())
    assert report["survival"].reason.startswith("text: ")
    assert report["ambiguity"].reason.startswith("text: ")
    assert any("without a label" in claim.text for claim in report["discovery"].claims)
    assert "errors" in report["supervision"].headline


def test_tokens_reach_the_model_as_integers_also_under_attack():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 150)
    X = np.where(rng.random((150, 8)) < 0.4, 5 * y[:, None], rng.integers(0, 10, (150, 8)))
    seen = set()

    def model(rows):
        seen.add(rows.dtype.str)
        s = (rows == 5).sum(axis=1) - (rows == 0).sum(axis=1)
        p = 1 / (1 + np.exp(-(s + 0.1)))
        return np.column_stack([1 - p, p])

    report = fa.evaluate(
        model, X.astype(np.int32), y, parts=["accuracy", "survival"], settings=SMALL
    )
    assert report["survival"].status == "done", report["survival"].reason
    assert seen == {"<i4"}


def test_one_range_per_channel_of_a_series():
    X = np.random.default_rng(3).normal(size=(30, 2, 12)) * np.array([1.0, 1000.0])[:, None]
    data = DataSet(X, np.arange(30) % 2, kinds=("series",))
    model = fa.as_classifier(lambda rows: np.full((len(rows), 2), 0.5))
    _, space = attack_space(Context(model, data))
    ranges = np.ptp(X, axis=(0, 2))
    np.testing.assert_allclose(space.unit.reshape(2, 12), np.repeat(ranges[:, None], 12, axis=1))
    np.testing.assert_allclose(space.outside(space.inside(X)), X)


def test_field_tables_need_no_label_and_may_have_other_columns(tmp_path):
    (tmp_path / "test.csv").write_text("a,b,diagnosis,who\n1,2,x,p\n3,4,y,q\n5,6,x,p\n7,8,y,q\n")
    (tmp_path / "field.csv").write_text("extra,b,a\n0,2.5,1.5\n0,4.5,\n")
    section = DataSection(
        test="test.csv", operational="field.csv", label="diagnosis", group="who", id=None
    )
    with pytest.raises(fa.core.DataError, match="plain numbers"):
        load_sets(section, tmp_path)
    (tmp_path / "field.csv").write_text("extra,b,a\n0,2.5,1.5\n0,4.5,3.5\n")
    sets = load_sets(section, tmp_path, ["b", "a"])
    assert sets["operational"].y is None
    assert sets["operational"].X.tolist() == [[2.5, 1.5], [4.5, 3.5]]
    assert sets["test"].X.tolist() == [[2, 1], [4, 3], [6, 5], [8, 7]]


def test_an_attack_that_cannot_move_is_not_survived():
    model = fa.as_classifier(lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]))
    report = fa.evaluate(model, [[0.9, 0.1]], [1], parts=["survival"])
    assert report["survival"].status == "not available"
    assert "no feature varies" in report["survival"].reason


def test_discovery_goes_by_twin_trees_where_no_attack_can_overturn_an_answer():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"noise": rng.random(300), "ward": rng.choice(["A", "B"], 300)})
    y = (X["ward"] == "B").to_numpy().astype(int)
    y[:30] = 1 - y[:30]
    only_ward = ColumnTransformer([("ward", OneHotEncoder(), ["ward"])])
    model = make_pipeline(only_ward, LogisticRegression()).fit(X, y)
    by_distance = {"discovery": {"search": "adversarial-distance"}}
    part = fa.evaluate(model, X, y, parts="discovery", settings=by_distance)["discovery"]
    assert part.status == "done", part.reason
    said = " ".join(claim.text for claim in part.claims)
    assert "overturned fewer than three predictions): twin-trees searched instead" in said
