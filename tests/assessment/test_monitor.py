"""The monitor that a run leaves: around the model it gives the scores and alarms of the run."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import fireassay as fa
from fireassay.assessment.coded_rows import coded
from fireassay.assessment.context import Context, handed_to
from fireassay.assessment.parts import supervision as part
from fireassay.assessment.parts.operating_point import Decision
from fireassay.classifiers import as_classifier
from fireassay.core import AssumptionWarning, DataError
from fireassay.data import DataSet, digits
from fireassay.data.handed import Handed
from fireassay.supervision import compare

pytestmark = pytest.mark.filterwarnings(
    "ignore::fireassay.core.errors.FireassayWarning",
    "ignore::sklearn.exceptions.ConvergenceWarning",
)


def network(scale=1.0):
    data = digits()
    X, y = scale * data.X.reshape(len(data.X), -1), data.y
    model = MLPClassifier((16,), max_iter=40, random_state=0).fit(X[:300], y[:300])
    return model, X, y, {"supervisors": ("mahalanobis",)}, {}


def forest_on_names():
    """A forest of four trees: nearly all of its scores are tied."""
    rng = np.random.default_rng(0)
    n = 700
    frame = pd.DataFrame(
        {
            "ward": rng.choice(["A", "B", "Süd"], n),
            "visits": rng.integers(0, 9, n),
            "bmi": rng.normal(25, 4, n).round(1),
            "seen": rng.random(n) < 0.5,
        }
    )
    ill = frame.visits + 3 * (frame.ward == "A") + rng.normal(0, 2, n) > 5
    frame.loc[rng.random(n) < 0.1, "bmi"] = np.nan
    y = np.where(ill, "ill", "well")
    names = ColumnTransformer([("c", OneHotEncoder(), ["ward"])], remainder="passthrough")
    model = make_pipeline(names, RandomForestClassifier(4, max_depth=4, random_state=0))
    model.fit(frame[:300], y[:300])
    decision = Decision(threshold={"ill": 0.3})
    options = {"decision": decision, "labelled": False}  # labelled rows are attacked, which is slow
    return model, frame, y, {"supervisors": ("max-softmax",)}, options


def texts():
    rng = np.random.default_rng(1)
    words = np.array(["good", "fine", "nice", "bad", "awful", "poor"])
    drawn = rng.integers(0, 6, (700, 3))
    rows = np.array([" ".join(words[row]) for row in drawn])
    y = (np.median(drawn, axis=1) > 2) ^ (rng.random(700) < 0.1)
    model = make_pipeline(HashingVectorizer(n_features=64), LogisticRegression())
    return model.fit(rows[:300], y[:300]), rows, y, {"supervisors": ("softmax-entropy",)}, {}


def pictures():
    """A torch net for bytes with channels first; the files have fractions and channels last."""
    torch = pytest.importorskip("torch")
    data = digits()
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 10)
    )
    net[0].weight.data /= 255
    handed = Handed(layout="channels first", pixels="bytes")
    options = {"handed": handed, "output": "logits"}
    return net, data.X[..., None], data.y, {"supervisors": ("mdsa",)}, options


def finished(folder, made):
    model, X, y, settings, options = made
    handed = options.get("handed", Handed())
    adapter = as_classifier(
        model,
        output=options.get("output", "probabilities"),
        classes=None if hasattr(model, "classes_") else range(10),
    )
    truth = y[300:700] if options.get("labelled", True) else None
    sets = {"test": DataSet(X[300:700], truth), "train": DataSet(X[:300], y[:300])}
    decision = options.get("decision", Decision())
    context = Context(
        decision.applied(adapter), **handed_to(adapter, sets, handed), handed=handed,
        decision=decision,
    )  # fmt: skip
    context = coded(context)
    answer = part.run(context, part.Settings(samples=60, **settings))
    part.files(folder, context, answer)
    return context, answer


@pytest.mark.parametrize("make", [network, forest_on_names, texts, pictures])
def test_alarms_of_the_wrapped_model_are_those_of_the_run(make, tmp_path):
    made = make()
    model, X = made[:2]
    _, answer = finished(tmp_path, made)
    wrapped = fa.Monitor.load(tmp_path).wrap(model)
    rows = X[300:700]
    scores, name = part.suspicion(answer, "test", 400)
    seen = ~np.isnan(scores)
    assert seen.sum() >= 395
    threshold = answer.result.rules[name].threshold
    got = wrapped(rows)
    np.testing.assert_allclose(got.score[seen], scores[seen], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(got.alarm[seen], scores[seen] > threshold)
    singles = [wrapped(rows[i : i + 1]) for i in range(60)]
    np.testing.assert_allclose([one.score[0] for one in singles], got.score[:60], atol=1e-6)
    assert [bool(one.alarm[0]) for one in singles] == got.alarm[:60].tolist()
    about = json.loads((tmp_path / "monitor.json").read_text())
    assert about["threshold"] == threshold
    estimates = part.evidence(answer).estimates
    assert about["false_alarm"]["measured"]["high"] == estimates["false_alarm"].high
    assert about["layers"] == {network: ["hidden1"], pictures: ["3"]}.get(make, [])


def test_values_out_of_json_are_the_same_rows(tmp_path):
    made = forest_on_names()
    model, X = made[:2]
    finished(tmp_path, made)
    wrapped = fa.Monitor.load(tmp_path).wrap(model)
    rows = X[300:360]
    sent = json.loads(rows.to_json(orient="records"))
    assert any(row["bmi"] is None for row in sent)
    got, expected = wrapped(sent), wrapped(rows)
    np.testing.assert_array_equal(got.score, expected.score)
    p = model.predict_proba(rows)
    np.testing.assert_allclose(got.probabilities, p, atol=1e-12)
    assert got.label.tolist() == np.where(p[:, 0] >= 0.3, "ill", "well").tolist()
    assert json.loads(json.dumps(got.records()[0])) == got.records()[0]
    with pytest.raises(DataError, match="no bmi"):
        wrapped([{"ward": "A", "visits": 1, "seen": True}])


def test_another_model_has_no_promise(tmp_path):
    made = network()
    finished(tmp_path, made)
    monitor = fa.Monitor.load(tmp_path)
    with pytest.warns(AssumptionWarning, match="not the model"):
        monitor.wrap(network(scale=2.0)[0])
    deeper = MLPClassifier((8, 8), max_iter=5).fit(made[1][:300], made[2][:300])
    with pytest.warns(AssumptionWarning), pytest.raises(DataError, match="hidden1"):
        monitor.wrap(deeper)


def test_a_monitor_that_is_a_coin_is_called_that_and_is_not_handed_over(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((700, 2)), rng.integers(0, 2, 700)

    def certain_where_strange(rows):
        p = np.clip(0.5 + 0.4 * (np.abs(rows - 0.5).max(axis=1)), 0.5, 1)
        return np.column_stack([p, 1 - p])

    model = as_classifier(certain_where_strange, classes=[0, 1])
    context = Context(model, DataSet(X[300:], y[300:]), DataSet(X[:300], y[:300]))
    far = {"far": 3 + rng.random((80, 2))}
    found = compare(model, X[:300], y[:300], X[300:500], far, ["max-softmax"], calibration=X[500:])
    assert not found.works
    assert found.evidence().headline.startswith("No monitor works here: max-softmax, the best")
    assert found.evidence().sentence.startswith("No monitor works here")
    part.files(tmp_path, context, part.PartAnswer(found, {}))
    assert {p.name for p in tmp_path.iterdir()} == {"monitor.json"}
    with pytest.raises(DataError, match="No monitor works here"):
        fa.Monitor.load(tmp_path)


def test_a_part_without_an_answer_takes_the_old_monitor_away(tmp_path):
    context, _ = finished(tmp_path, network())
    assert (tmp_path / "monitor.npz").is_file()
    part.files(tmp_path, context, None)
    assert not list(tmp_path.iterdir())
    with pytest.raises(DataError, match=r"no monitor\.json"):
        fa.Monitor.load(tmp_path)
