"""What models return in practice: dicts, one column, records, labels."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import fireassay as fa
from fireassay.classifiers.answers import choose_output, in_order, opened
from fireassay.core import ModelError, ProbabilityError

X, Y = load_iris(return_X_y=True)
NAMES = ("setosa", "versicolor", "virginica")
MODEL = LogisticRegression(max_iter=1000).fit(X, Y)
P = MODEL.predict_proba(X)
Z = MODEL.decision_function(X)


def records(rows, order=(2, 0, 1)):
    """Sorted by score, as pipelines give them: the order says nothing."""
    found = MODEL.predict_proba(rows)
    table = [[{"label": NAMES[c], "score": float(p[c])} for c in order] for p in found]
    return [sorted(row, key=lambda r: -r["score"]) for row in table]


@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: {"logits": MODEL.decision_function(rows), "hidden_states": None},
        lambda rows: {"Probabilities": MODEL.predict_proba(rows), "labels": MODEL.predict(rows)},
        lambda rows: {"anything": MODEL.predict_proba(rows)},
    ],
)
def test_the_array_in_a_dict_is_found(answer):
    np.testing.assert_allclose(fa.as_classifier(answer).predict_proba(X), P, atol=1e-12)


@pytest.mark.parametrize(
    "answer",
    [
        records,
        lambda rows: [dict(zip(NAMES, p.tolist(), strict=True)) for p in MODEL.predict_proba(rows)],
        lambda rows: dict(zip(NAMES, MODEL.predict_proba(rows).T, strict=True)),
    ],
)
def test_names_in_the_answer_are_the_classes(answer):
    model = fa.as_classifier(answer, batch_size=7)
    found = model.predict_proba(X)
    assert set(model.classes) == set(NAMES)
    np.testing.assert_allclose(found[:, [model.classes.index(n) for n in NAMES]], P, atol=1e-12)
    declared = fa.as_classifier(answer, classes=NAMES)
    np.testing.assert_allclose(declared.predict_proba(X), P, atol=1e-12)
    with pytest.raises(ModelError, match="name the classes"):
        fa.as_classifier(answer, classes=("a", "b", "c")).predict_proba(X)


def test_one_column_becomes_two():
    p = expit(X[:, 0] - 6)
    for shape in ((-1,), (-1, 1)):
        one = fa.as_classifier(lambda rows, shape=shape: expit(rows[:, 0] - 6).reshape(shape))
        np.testing.assert_allclose(one.predict_proba(X), np.column_stack([1 - p, p]))
        z = fa.as_classifier(lambda rows, s=shape: (rows[:, 0] - 6).reshape(s), output="logits")
        np.testing.assert_allclose(z.predict_proba(X)[:, 1], p)
    with pytest.raises(ProbabilityError, match="output='logits'"):
        fa.as_classifier(lambda rows: rows[:, 0] - 6).predict_proba(X)
    with pytest.raises(ProbabilityError, match="output='labels' and classes"):
        fa.as_classifier(MODEL.predict).predict_proba(X)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda rows: [{"boxes": np.zeros((2, 4)), "scores": np.ones(2)}], "detectors"),
        (lambda rows: {"boxes": np.zeros((len(rows), 4)), "labels": Y}, "detectors"),
        (lambda rows: [{"label": "setosa", "score": 0.9} for _ in rows], "top_k=None"),
        (lambda rows: [{"a": 1.0, "b": 0.0}] + [{"a": 0.5, "c": 0.5}] * (len(rows) - 1), "other"),
    ],
)
def test_what_is_no_classification_is_refused_with_what_to_pass(answer, words):
    with pytest.raises(ProbabilityError, match=words):
        fa.as_classifier(answer).predict_proba(X)


@pytest.mark.extras
def test_torch_modules_with_dicts_and_one_column_keep_their_gradients():
    torch = pytest.importorskip("torch")

    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 3)

        def forward(self, x):
            return {"logits": self.layer(x), "hidden": None}

    torch.manual_seed(0)
    wrapped, rows = Wrapped(), X[:9].astype(np.float32)
    plain = fa.as_classifier(wrapped.layer, output="logits")
    model = fa.as_classifier(wrapped)
    np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(rows), atol=1e-6)
    np.testing.assert_allclose(
        model.loss_gradient(rows, Y[:9])[1], plain.loss_gradient(rows, Y[:9])[1], atol=1e-6
    )
    one = torch.nn.Linear(4, 1)
    binary = fa.as_classifier(one, output="logits")
    z = rows @ one.weight.detach().numpy()[0] + one.bias.item()
    np.testing.assert_allclose(binary.predict_proba(rows)[:, 1], expit(z), atol=1e-6)
    slope = binary.loss_gradient(rows, np.ones(9, dtype=int))[1]
    expected = -expit(-z)[:, None] * one.weight.detach().numpy()
    np.testing.assert_allclose(slope, expected, atol=1e-6)
    both = fa.as_classifier(torch.nn.Sequential(one, torch.nn.Sigmoid()))
    np.testing.assert_allclose(both.predict_proba(rows)[:, 1], expit(z), atol=1e-6)
    assert softmax([[0, z[0]]], axis=1)[0, 1] == pytest.approx(expit(z[0]))


def test_wrapped_answers_are_opened_and_named_columns_ordered():
    assert opened({"logits": [[0.0, 2.0]], "hidden_states": None}, "probabilities", 1).output == (
        "logits"
    )
    assert opened([{"dog": 0.9, "cat": 0.1}], "probabilities", 1).names == ("dog", "cat")
    assert in_order(np.array([[0.9, 0.1]]), ("dog", "cat"), ("cat", "dog")).tolist() == [[0.1, 0.9]]
    shapes = {"label": ["n"], "probabilities": ["n", 3]}
    assert choose_output(shapes, labels=False, source="m.onnx") == "probabilities"
    assert choose_output(shapes, labels=True, source="m.onnx") == "label"
