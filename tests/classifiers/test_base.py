"""What the door does for every model: checks, blocks, counts, budgets."""

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fireassay as fa
from fireassay.classifiers import BaseClassifier, Classifier, GradientClassifier
from fireassay.core import (
    BudgetExceededError,
    DataError,
    ModelError,
    ParameterError,
    ProbabilityError,
)

X = np.random.default_rng(0).random((300, 4))


def two_columns(rows: np.ndarray) -> np.ndarray:
    return np.column_stack([1 - rows[:, 0], rows[:, 0]])


def test_asking_for_a_classifier_sends_nothing_and_rows_are_counted_once() -> None:
    sizes: list[int] = []

    def model(rows: np.ndarray) -> np.ndarray:
        sizes.append(len(rows))
        return two_columns(rows)

    classifier = fa.as_classifier(model)
    assert (classifier.queries, sizes) == (0, [])
    classifier.predict_proba(X)
    classifier.predict(X[:3])
    assert classifier.queries == 303
    assert sizes == [256, 44, 3], "a function's blocks are not filled up"


def test_answers_are_the_models_and_labels_are_the_most_probable_class() -> None:
    classifier = fa.as_classifier(two_columns, classes=["no", "yes"])
    np.testing.assert_array_equal(classifier.predict_proba(X), two_columns(X))
    assert classifier.predict([[0.2, 0, 0, 0], [0.9, 0, 0, 0], [0.5, 0, 0, 0]]).tolist() == [
        "no",
        "yes",
        "no",
    ]


def test_classes_are_known_when_given_or_after_the_first_answer() -> None:
    classifier = fa.as_classifier(two_columns)
    with pytest.raises(ModelError, match="classes="):
        _ = classifier.classes
    assert isinstance(classifier, Classifier), "asking for the type must not read the classes"
    assert not isinstance(classifier, GradientClassifier)
    classifier.predict_proba(X[:1])
    assert classifier.classes == (0, 1)
    assert fa.as_classifier(two_columns, classes=("a", "b")).classes == ("a", "b")


def constant(*row: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda rows: np.tile(np.array(row), (len(rows), 1))


def nan_in_row(number: int) -> Callable[[np.ndarray], np.ndarray]:
    def model(rows: np.ndarray) -> np.ndarray:
        answer = two_columns(rows)
        answer[rows[:, 1] == X[number, 1]] = np.nan
        return answer

    return model


@pytest.mark.parametrize(
    ("model", "options", "error", "message"),
    [
        (constant(np.nan, 1.0), {}, ProbabilityError, "NaN in row 0"),
        (nan_in_row(280), {}, ProbabilityError, "NaN in row 280"),
        (constant(0.5, 0.6), {}, ProbabilityError, "sum to 1"),
        (constant(-2.0, 3.0), {}, ProbabilityError, "output='logits'"),
        (constant(0.2, 0.3, 0.5), {"classes": "ab"}, ParameterError, "sequence"),
        (constant(0.2, 0.3, 0.5), {"classes": ["a", "b"]}, ProbabilityError, "2 columns"),
        (constant(5.0), {}, ProbabilityError, "One column"),
        (constant(1), {"classes": "abc"}, ParameterError, "sequence"),
        (constant(0.5), {"classes": [0, 1, 2]}, ProbabilityError, "3 columns"),
        (constant(0, np.inf), {"output": "logits"}, ProbabilityError, "infinity in row 0"),
        (constant(0, np.nan), {"output": "logits"}, ProbabilityError, "NaN or infinity in row 0"),
        (constant(1, 2, 3), {"output": "logits", "classes": [0, 1]}, ProbabilityError, "2 col"),
        (lambda rows: rows[:, 0].astype(int), {}, ProbabilityError, "output='labels'"),
        (lambda rows: two_columns(rows)[:-1], {}, ProbabilityError, "256 rows"),
        (lambda rows: [two_columns(rows)] * 3, {}, ModelError, "3 outputs"),
        (lambda rows: {"boxes": 1, "scores": 2}, {}, ModelError, "detectors"),
        (lambda rows: [{"boxes": 1}] * len(rows), {}, ModelError, "detectors"),
        (lambda rows: [[0.5, 0.5], [1.0]], {}, ProbabilityError, "ragged"),
        (lambda rows: None, {}, ModelError, "nothing"),
        (lambda rows: ["cat"] * len(rows), {}, ProbabilityError, "dtype"),
        (constant(1, 0), {"output": "labels", "classes": [0, 1]}, ProbabilityError, "per row"),
        (
            lambda rows: np.full(len(rows), 7),
            {"output": "labels", "classes": [0, 1]},
            ProbabilityError,
            "Got 7",
        ),
        (two_columns, {"output": "labels"}, ModelError, "classes="),
        (two_columns, {"output": "scores"}, ParameterError, "'logits'"),
        (two_columns, {"classes": 2}, ParameterError, r"range\(10\)"),
        (two_columns, {"classes": ["a", "a"]}, ParameterError, "each of them once"),
        (two_columns, {"bounds": (1, 0)}, ParameterError, "low < high"),
        (two_columns, {"bounds": 1}, ParameterError, "two numbers"),
        (two_columns, {"batch_size": 0}, ParameterError, "batch_size"),
        (two_columns, {"max_queries": -1}, ParameterError, "max_queries"),
        (two_columns, {"device": "cpu"}, ParameterError, "torch"),
        (two_columns, {"token_env": "T"}, ParameterError, "http"),
        (3, {}, ModelError, r"\.onnx"),
        (dict, {}, ModelError, "not a class"),
    ],
)
def test_what_is_not_a_classification_is_refused(
    model: Any, options: dict[str, Any], error: type[ValueError], message: str
) -> None:
    with pytest.raises(error, match=message) as raised:
        fa.as_classifier(model, **options).predict_proba(X)
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((0, 4)), "at least 1 row"),
        (np.zeros((3, 0)), "at least one feature"),
        (np.zeros(4), "reshape"),
        ([[0.1, np.nan, 0, 0]], "row 0"),
        ([[0.1, np.inf, 0, 0]], "finite"),
        (np.array([["a", "b"]]), "text"),
        (np.zeros((2, 4), dtype=complex), "real"),
        ([[1.0, 2.0], [1.0]], "ragged"),
    ],
)
def test_bad_rows_are_refused_before_they_are_sent(rows: Any, message: str) -> None:
    classifier = fa.as_classifier(two_columns)
    with pytest.raises(DataError, match=message):
        classifier.predict_proba(rows)
    assert classifier.queries == 0


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int64, bool, object])
def test_number_types_are_understood(kind: Any) -> None:
    answer = fa.as_classifier(two_columns).predict_proba(np.array([[0, 1], [1, 1]], dtype=kind))
    assert answer.tolist() == [[1, 0], [0, 1]]
    assert answer.dtype == (np.float32 if kind in (np.float16, np.float32) else np.float64)


def test_read_only_strided_and_mapped_rows_give_the_same_answer(tmp_path: Any) -> None:
    classifier = fa.as_classifier(two_columns)
    expected = classifier.predict_proba(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.repeat(X, 2, axis=1)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for rows in (frozen, wide[:, ::2], np.asfortranarray(X), mapped, X.tolist()):
        np.testing.assert_array_equal(classifier.predict_proba(rows), expected)


def test_a_model_that_writes_into_its_input_does_not_change_the_callers_rows() -> None:
    def rude(rows: np.ndarray) -> np.ndarray:
        rows[:] = 0.5
        return two_columns(rows)

    for size in (256, None):
        rows = X.copy()
        fa.as_classifier(rude, batch_size=size).predict_proba(rows)
        np.testing.assert_array_equal(rows, X)


def test_certain_tied_constant_and_labels_only_models_are_fine() -> None:
    assert fa.as_classifier(constant(1.0, 0.0)).predict_proba(X)[0].tolist() == [1.0, 0.0]
    assert set(fa.as_classifier(constant(0.25, 0.25, 0.25, 0.25)).predict(X).tolist()) == {0}
    labels = fa.as_classifier(
        lambda rows: np.where(rows[:, 0] > 0.5, "b", "a"), classes=["a", "b"], output="labels"
    )
    answer = labels.predict_proba(X)
    np.testing.assert_array_equal(answer[:, 1], X[:, 0] > 0.5)
    np.testing.assert_array_equal(labels.predict(X) == "b", X[:, 0] > 0.5)


def test_logits_get_the_softmax() -> None:
    from scipy.special import softmax

    logits = np.random.default_rng(1).normal(scale=400, size=(300, 5))
    classifier = fa.as_classifier(lambda rows: logits, output="logits", batch_size=None)
    np.testing.assert_allclose(classifier.predict_proba(X), softmax(logits, axis=1), atol=1e-15)
    impossible = fa.as_classifier(constant(0.0, -np.inf), output="logits")
    assert impossible.predict_proba(X[:1]).tolist() == [[1.0, 0.0]]


def test_the_number_of_classes_cannot_change_between_calls() -> None:
    widths = iter([2, 3])

    def model(rows: np.ndarray) -> np.ndarray:
        width = next(widths)
        return np.full((len(rows), width), 1 / width)

    classifier = fa.as_classifier(model)
    classifier.predict_proba(X[:2])
    with pytest.raises(ProbabilityError, match="2 columns"):
        classifier.predict_proba(X[:2])


def test_bounds_refuse_other_scales_but_not_rounding() -> None:
    classifier = fa.as_classifier(two_columns, bounds=(0, 1))
    assert classifier.bounds == (0.0, 1.0)
    with pytest.raises(DataError, match="0–255"):
        classifier.predict_proba(X * 255)
    with pytest.raises(DataError, match="bounds"):
        classifier.predict_proba(X - 1.5)
    rounded = np.array([[1.0 + 5e-7, 0.0], [-5e-8, 0.0]])
    assert classifier.predict_proba(rounded).shape == (2, 2)
    assert classifier.queries == 2


def test_the_budget_is_hard_and_nothing_is_sent_beyond_it() -> None:
    sent: list[int] = []

    def model(rows: np.ndarray) -> np.ndarray:
        sent.append(len(rows))
        return two_columns(rows)

    classifier = fa.as_classifier(model, max_queries=10, batch_size=4)
    classifier.predict_proba(X[:7])
    before = len(sent)
    with pytest.raises(BudgetExceededError, match="3 are left"):
        classifier.predict_proba(X[:4])
    assert (classifier.queries, len(sent)) == (7, before)
    classifier.predict_proba(X[:3])
    with pytest.raises(BudgetExceededError, match="0 are left"):
        classifier.predict_proba(X[:1])
    with pytest.raises(BudgetExceededError):
        fa.as_classifier(model, max_queries=0).predict_proba(X[:1])


def test_a_model_that_fails_on_call_100_says_which_rows_and_why() -> None:
    calls = 0

    def model(rows: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        if calls == 100:
            raise OSError("sensor unplugged")
        return two_columns(rows)

    classifier = fa.as_classifier(model, batch_size=2)
    with pytest.raises(ModelError, match=r"rows 198 to 199.*sensor unplugged") as raised:
        classifier.predict_proba(X)
    assert isinstance(raised.value.__cause__, OSError)
    assert classifier.queries == 200, "rows that were never sent are not counted"


def test_counts_are_exact_with_many_threads() -> None:
    classifier: Any = fa.as_classifier(two_columns, batch_size=8, max_queries=16 * 50 * 3)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: classifier.predict_proba(X[:3]), range(16 * 50)))
    assert classifier.queries == 16 * 50 * 3
    with pytest.raises(BudgetExceededError):
        classifier.predict_proba(X[:1])


def test_row_numbers_in_messages_do_not_mix_between_threads() -> None:
    classifier = fa.as_classifier(nan_in_row(280), batch_size=16)
    barrier = threading.Barrier(4)

    def ask(_: int) -> str:
        barrier.wait()
        with pytest.raises(ProbabilityError) as raised:
            classifier.predict_proba(X)
        return str(raised.value)

    with ThreadPoolExecutor(4) as pool:
        assert all("row 280" in message for message in pool.map(ask, range(4)))


def test_adapters_travel_to_other_processes() -> None:
    classifier = fa.as_classifier(two_columns, classes=["a", "b"], bounds=(0, 1), max_queries=500)
    classifier.predict_proba(X[:5])
    copy = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(copy.predict_proba(X), two_columns(X))
    assert (copy.classes, copy.bounds, copy.sha256) == (("a", "b"), (0, 1), classifier.sha256)
    assert (classifier.queries, copy.queries) == (5, 305)


def test_a_classifier_is_returned_as_it_is_unless_options_conflict() -> None:
    classifier = fa.as_classifier(two_columns, classes=["a", "b"], bounds=(0, 1))
    assert fa.as_classifier(classifier) is classifier
    assert fa.as_classifier(classifier, classes=["a", "b"], bounds=(0, 1)) is classifier
    for options in (
        {"classes": ["b", "a"]},
        {"bounds": (0, 2)},
        {"output": "logits"},
        {"max_queries": 3},
        {"batch_size": 3},
    ):
        with pytest.raises(ParameterError, match=next(iter(options))):
            fa.as_classifier(classifier, **options)  # type: ignore[arg-type]


def test_the_hash_follows_content_and_options() -> None:
    base = fa.as_classifier(two_columns).sha256
    assert len(base) == 64
    assert fa.as_classifier(two_columns, batch_size=7, max_queries=3).sha256 == base
    others = {
        base,
        fa.as_classifier(constant(0.5, 0.5)).sha256,
        fa.as_classifier(constant(0.4, 0.6)).sha256,
        fa.as_classifier(two_columns, output="logits").sha256,
        fa.as_classifier(two_columns, classes=["a", "b"]).sha256,
        fa.as_classifier(two_columns, classes=["b", "a"]).sha256,
        fa.as_classifier(two_columns, bounds=(0, 1)).sha256,
    }
    assert len(others) == 7
    settled = fa.as_classifier(two_columns)
    settled.predict_proba(X)
    assert settled.sha256 == base, "the first answer does not change what the model is"


def test_functions_get_frames_and_texts_as_they_are() -> None:
    seen = []

    def model(rows: Any) -> Any:
        seen.append(rows)
        return np.full((len(rows), 2), 0.5)

    classifier = fa.as_classifier(model)
    classifier.predict_proba(["a", "b", "c"])
    assert seen[-1][:3] == ["a", "b", "c"]
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=[7, 9])
    classifier.predict_proba(frame)
    pd.testing.assert_frame_equal(seen[-1][:2], frame.reset_index(drop=True))
    assert classifier.queries == 5


def test_a_model_of_numbers_refuses_text() -> None:
    class Numbers(BaseClassifier):
        def _raw(self, block: Any) -> Any:
            return np.full((len(block), 2), 0.5)

        def _content_hash(self) -> str:
            return "0"

    with pytest.raises(DataError, match=r"This model takes numbers\. Got text"):
        Numbers().predict_proba(["a", "b"])
