"""Ordinary mistakes are stopped at the door, or said loudly."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import fireassay as fa
from fireassay.assessment.context import Context
from fireassay.assessment.parts.accuracy_checks import class_recalls
from fireassay.assessment.parts.table import PARTS
from fireassay.assessment.run.preflight import unseen_rows
from fireassay.cli.main import app
from fireassay.core import FireassayError, ModelError, ProbabilityError
from fireassay.data import DataSet
from fireassay.statistics.numbers.confusion_numbers import balanced_accuracy
from fireassay.statistics.numbers.judged_rows import JudgedRows


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return LogisticRegression().fit(X[::2], y[::2]), X[1::2], y[1::2]


def named(y, names=("malignant", "benign")):
    return np.array(names)[y]


def test_columns_in_another_order_are_refused_with_the_better_order(cancer):
    model, X, y = cancer
    wrong = fa.as_classifier(model.predict_proba, classes=("benign", "malignant"))
    right = (model.predict(X) == y).mean()
    with pytest.raises(ModelError, match="order") as refusal:
        fa.evaluate(wrong, X, named(y), parts="accuracy")
    said = str(refusal.value)
    assert "Say classes=['malignant', 'benign'] (init: --classes malignant,benign)" in said
    assert f"agrees with the labels on {100 * (1 - right):.1f} %" in said
    assert f"it would be {100 * right:.1f} %" in said
    report = fa.evaluate(wrong, X, named(y), parts="accuracy", accept_below_baseline=True)
    assert "It was accepted." in report["accuracy"].claims[0].text
    fa.evaluate(model, X, y, parts="accuracy")


def test_less_than_chance_is_refused_though_no_order_is_better():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 75)
    said = (y + rng.integers(1, 8, 600)) % 8  # always wrong, in all ways alike
    model = fa.as_classifier(lambda X: 0.9 * np.eye(8)[X[:, 0].astype(int)] + 1 / 80)
    with pytest.raises(ModelError, match="less than the same answers dealt at random"):
        fa.evaluate(model, said[:, None].astype(float), y, parts="accuracy")


def test_the_look_at_the_door_counts_as_a_probe(cancer):
    model, X, y = cancer
    counted = fa.as_classifier(model)
    part = fa.evaluate(counted, X, y, parts="accuracy")["accuracy"]
    assert counted.queries == part.provenance.queries == len(X)
    assert counted.rows_delivered == len(X) + 32, "each once, and some again"


def test_a_class_that_is_never_found_leads_the_headline():
    X = np.arange(1000.0)[:, None]
    y = np.where(X[:, 0] < 955, "common", "rare")
    model = fa.as_classifier(
        lambda X: np.tile([0.99, 0.01], (len(X), 1)), classes=["common", "rare"]
    )
    part = fa.evaluate(model, X, y, parts="accuracy")["accuracy"]
    assert part.headline.startswith("Always says 'common'. Right on 95.5 %")
    almost = fa.as_classifier(
        lambda X: np.where(X[:, :1] == 3, [[0.2, 0.8]], [[0.9, 0.1]]), classes=["common", "rare"]
    )
    part = fa.evaluate(almost, X, y, parts="accuracy")["accuracy"]
    assert part.headline.startswith("Never finds 'rare' (0 of 45). Right on")
    assert "Always saying 'common' would be right on 95.5 %" in part.claims[0].text
    worst = part.estimates["worst_recall"]
    exact = binomtest(0, 45).proportion_ci(0.975, method="exact")  # Bonferroni over two classes
    assert (worst.value, worst.high) == (0.0, pytest.approx(exact.high))
    report = fa.evaluate(almost, X, y, parts="accuracy")
    assert report.verdict({"min": {"accuracy.worst_recall": 0.2}}).status == "fail"


def test_numbers_of_classes_agree_with_scikit_learn():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    rows = JudgedRows.of(y, tree.predict(X), 3)
    found = class_recalls(rows, tree.classes_)
    balanced = balanced_accuracy(rows).value
    assert balanced == pytest.approx(balanced_accuracy_score(y, tree.predict(X)))
    assert found.majority.value == pytest.approx(1 / 3)
    assert found.above_majority.value == pytest.approx(tree.score(X, y) - 1 / 3)
    assert found.never_found == ((2, 50),)


@pytest.mark.slow
def test_the_intervals_of_mean_and_worst_recall_cover():
    sizes, truth = np.array([10, 30, 200]), np.array([0.5, 0.9, 0.98])
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), sizes)
    held = np.zeros(2)
    for _ in range(600):
        said = np.where(rng.random(len(y)) < truth[y], y, (y + 1) % 3)
        rows = JudgedRows.of(y, said, 3)
        mean, worst = balanced_accuracy(rows), class_recalls(rows, (0, 1, 2)).worst
        held += [mean.low <= truth.mean() <= mean.high, worst.low <= truth.min() <= worst.high]
    assert (held / 600 > 0.935).all()


def test_groups_make_the_numbers_of_classes_wider(cancer):
    model, X, y = cancer
    said = model.predict(X)
    plain = JudgedRows.of(y, said, 2)
    grouped = JudgedRows.of(y, said, 2, groups=np.arange(len(y)) // 20)
    for number in (
        balanced_accuracy,
        lambda rows: class_recalls(rows, (0, 1)).worst,
        lambda rows: class_recalls(rows, (0, 1)).above_majority,
    ):
        one, other = number(plain), number(grouped)
        assert other.value == pytest.approx(one.value)
        assert other.high - other.low > one.high - one.low


def test_hard_labels_pass_no_gate_on_confidence(cancer):
    model, X, y = cancer
    hard = fa.as_classifier(model.predict, classes=(0, 1), output="labels")
    report = fa.evaluate(hard, X, y, parts=["accuracy"], train=(X, y))
    assert "calibration_error" not in report["accuracy"].estimates
    gate = {"max": {"accuracy.calibration_error": 0.5}}
    assert report.verdict(gate).status == "not enough evidence"
    context = Context(hard, DataSet(X, y), DataSet(X, y))
    for name in ("ambiguity", "supervision", "discovery"):
        assert "labels alone" in PARTS[name].missing(context)
    for name in ("accuracy", "reliability", "survival"):
        assert PARTS[name].missing(context) is None


def test_certain_answers_are_hard_labels_too(cancer):
    _, X, y = cancer
    perfect = DecisionTreeClassifier(random_state=0).fit(X, y)
    part = fa.evaluate(perfect, X, y, parts="accuracy")["accuracy"]
    assert "calibration_error" not in part.estimates


def test_answers_that_are_labels_are_refused_once_with_what_to_pass(cancer):
    model, X, y = cancer
    with pytest.raises(ProbabilityError, match="output='labels' and classes="):
        fa.evaluate(model.predict, X, y)


def test_training_rows_among_the_test_rows_leave_gates_undecided(cancer):
    model, X, y = cancer
    gates = {"min": {"accuracy.accuracy": 0.5}}
    leaked = fa.evaluate(model, X, y, parts="accuracy", train=(X[:100], y[:100]))
    assert leaked.verdict(gates).status == "not enough evidence"
    doubt = next(a for a in leaked["accuracy"].assumptions if a.id == "unseen-rows")
    assert (doubt.status, doubt.check[:43]) == (
        "contradicted",
        "100 of 284 test rows are training rows, too",
    )
    reason = {"unseen-rows": "the model was fitted on other rows, see protocol 3"}
    assert leaked.verdict(gates, accept=reason).status == "pass"
    fresh = fa.evaluate(model, X[100:], y[100:], parts="accuracy", train=(X[:100], y[:100]))
    assert fresh.verdict(gates).status == "pass"


def test_coarse_columns_repeat_by_chance():
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 3, (600, 4)).astype(float)
    model = fa.as_classifier(lambda X: np.tile([0.6, 0.4], (len(X), 1)))
    context = Context(model, DataSet(coarse[:200]), DataSet(coarse[200:]))
    same, found = unseen_rows(context)
    assert found.status == "untestable"
    assert int(found.check.split()[0]) > 150
    assert same is context


@pytest.mark.parametrize("how", ["exact", "float16", "noise of 1e-7", "noise of 1e-3"])
def test_a_few_copies_of_training_rows_are_left_out_and_said(how):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(800, 5))
    test = rows[488:].copy()  # twelve of them are training rows
    if how == "float16":
        test = test.astype(np.float16).astype(float)
    elif how != "exact":
        test += float(how.split()[-1]) * rng.normal(size=test.shape)
    model = fa.as_classifier(lambda X: np.tile([0.6, 0.4], (len(X), 1)))
    left, found = unseen_rows(Context(model, DataSet(test), DataSet(rows[:500])))
    assert found.status == "supported"
    assert left.test.X.tolist() == test[12:].tolist()
    assert left.notes[0].startswith("12 rows left out: also in the training data")
    fresh, found = unseen_rows(Context(model, DataSet(test[12:]), DataSet(rows[:500])))
    assert found.status == "supported"
    assert len(fresh.test) == 300


def test_a_column_that_names_patients_is_asked_about():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"dose": rng.random(200), "subject_id": np.repeat(np.arange(50), 4)})
    y = (frame["dose"] > 0.5).astype(int)
    model = fa.as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]))
    report = fa.evaluate(model, frame[["dose", "subject_id"]].astype(float), y, parts="accuracy")
    ledger = {a.id: a for a in report["accuracy"].assumptions}
    assert "--group subject_id, or --independent" in ledger["independent-rows"].check
    assert ledger["independent-rows"].status == "untestable"
    known = fa.evaluate(model, frame.astype(float), y, parts="accuracy", groups=frame["subject_id"])
    assert "--group" not in str([a.check for a in known["accuracy"].assumptions])


def test_integer_labels_name_the_classes_of_a_model_by_position(cancer):
    model, X, y = cancer
    model = fa.as_classifier(model.predict_proba, classes=("malignant", "benign"))
    report = fa.evaluate(model, X, y, parts="accuracy")
    assert "0 = 'malignant', 1 = 'benign'" in report["accuracy"].claims[0].text
    expected = fa.evaluate(model, X, named(y), parts="accuracy")["accuracy"].estimates
    assert report["accuracy"].estimates["accuracy"] == expected["accuracy"]
    with pytest.raises(FireassayError, match="must contain only classes"):
        fa.evaluate(model, X, y + 1, parts="accuracy")


MODEL = """
import numpy as np

def predict(X):
    p = 1 / (1 + np.exp(-20 * (X[:, 0] - 0.5)))
    return np.column_stack([p, 1 - p])

def labels(X):
    return np.where(X[:, 0] > 0.5, "yes", "no")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "door_model.py").write_text(MODEL)
    x = np.random.default_rng(0).random((200, 2))
    np.savez("test.npz", X=x, y=np.where(x[:, 0] > 0.5, "yes", "no"))
    return tmp_path


def call(*words):
    return CliRunner().invoke(app, list(words))


@pytest.mark.slow
def test_init_and_run_stop_at_a_wrong_order(folder):
    start = ("init", "--model", "door_model:predict", "--data", "test.npz")
    refused = call(*start)
    assert refused.exit_code == 2
    assert "order 'yes', 'no' it would be 100.0 %" in refused.output
    assert "--classes yes,no" in refused.output
    assert call(*start, "--accept-below-baseline").exit_code == 0
    stopped = call("run", "--only", "accuracy")
    assert stopped.exit_code == 2
    assert "order 'yes', 'no' it would be 100.0 %" in stopped.output
    assert "--classes yes,no" in stopped.output
    assert "--accept-below-baseline" in stopped.output
    assert call("run", "--only", "accuracy", "--accept-below-baseline").exit_code == 0
    right = call(*start, "--classes", "yes,no", "--force")
    assert right.exit_code == 0
    assert "the order of the classes is verified: 100.0 % of 22" in right.output
    assert call("run", "--only", "accuracy").exit_code == 0


def test_init_finds_hard_labels(folder):
    found = call("init", "--model", "door_model:labels", "--data", "test.npz")
    assert found.exit_code == 0, found.output
    assert "output      labels" in found.output
    assert "hard labels: what needs probabilities cannot be asked" in found.output
    done = call("run", "--only", "discovery")
    assert done.exit_code == 3
    assert "labels alone" in done.output
