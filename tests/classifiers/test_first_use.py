"""Texts and frames go in without a word: the first rows are tried in the ways that there are."""

import contextlib
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import fireassay as fa
from fireassay.classifiers import as_classifier
from fireassay.core import FireassayWarning, ModelError, ParameterError

TEXTS = [f"{'good' if i % 2 else 'bad'} {'abcdefg'[i % 7]} thing" for i in range(120)]
Y = np.arange(120) % 2


def _p(text):
    return 0.9 if "good" in text.lower() else 0.1


def _pipeline(of_frame):
    first = TfidfVectorizer()
    if of_frame:
        first = make_column_transformer((first, "comment"))
    rows = pd.DataFrame({"comment": TEXTS}) if of_frame else TEXTS
    return make_pipeline(first, LogisticRegression()).fit(rows, Y)


def _columns(texts):
    p = np.array([_p(text) for text in texts])
    return np.column_stack([1 - p, p])


@pytest.mark.parametrize(
    ("model", "rows_as"),
    [
        (_pipeline(False), ""),
        (_pipeline(True), "array"),
        (lambda texts: _columns(texts.tolist()), "array"),
        (lambda frame: _columns(frame["text"].str.strip()), "frame"),
        (lambda text: _p(text), "each"),
        (lambda text: {"neg": 1 - _p(text), "pos": _p(text)}, "each"),
        (lambda text: sorted([("neg", 1 - _p(text)), ("pos", _p(text))], key=str), "each"),
        (
            lambda text: [
                SimpleNamespace(lang="pos", prob=np.float32(_p(text))),
                SimpleNamespace(lang="neg", prob=np.float32(1 - _p(text))),
            ],
            "each",
        ),
    ],
)
def test_texts_work_without_a_word(model, rows_as):
    classifier = as_classifier(model)
    found = classifier.predict_proba(TEXTS)
    assert classifier.rows_as == rows_as
    right = list(classifier.classes).index("pos") if "pos" in classifier.classes else 1
    assert ((found[:, right] > 0.5) == Y).all()
    assert classifier.queries <= 2 * len(TEXTS)
    y = np.where(Y, "pos", "neg") if "pos" in classifier.classes else Y
    said = pytest.warns(FireassayWarning, match="handed") if rows_as else contextlib.nullcontext()
    with said:
        report = fa.evaluate(model, TEXTS, y, "accuracy")
    assert report["accuracy"].estimates["accuracy"].value == 1.0


def test_trials_are_on_the_meter_and_at_most_sixteen_rows():
    asked = []

    def one(text):
        asked.append(text)
        return _p(text)

    classifier = as_classifier(one)
    classifier.predict_proba(TEXTS)
    tried = [rows for rows in asked if not isinstance(rows, str)]
    assert len(tried[0]) == len(TEXTS)  # as they are
    assert sum(map(len, tried[1:])) + 2 <= 16
    assert len(asked) - len(tried) == 2 + len(TEXTS)
    assert classifier.rows_delivered == sum(map(len, tried)) + 2 + len(TEXTS)


def test_two_ways_that_fit_are_asked_about():
    def of_objects(rows):
        if isinstance(rows, list):
            raise TypeError("no lists")
        p = 0.3 if hasattr(rows, "columns") else 0.4
        return np.full((len(rows), 2), [p, 1 - p])

    with pytest.raises(ParameterError, match="in one way"):
        as_classifier(of_objects).predict_proba(TEXTS)


def test_a_model_that_takes_no_texts_says_its_own_error():
    def broken(rows):
        raise RuntimeError("weights are missing")

    with pytest.raises(ModelError, match="weights are missing"):
        as_classifier(broken).predict_proba(TEXTS)


def test_classes_that_a_row_does_not_name_have_no_probability():
    short = as_classifier(lambda text: [("pos", 1.0)] if "good" in text.lower() else [("neg", 1.0)])
    with pytest.raises(ModelError):
        short.predict_proba(TEXTS)
    named = as_classifier(
        lambda text: [("pos", 1.0)] if "good" in text.lower() else [("neg", 1.0)],
        classes=["neg", "pos"],
    )
    assert (named.predict(TEXTS) == np.where(Y, "pos", "neg")).all()
    half = as_classifier(
        lambda text: [("pos", 0.4)] if "good" in text.lower() else [("neg", 0.4)],
        classes=["neg", "pos"],
    )
    with pytest.raises(ModelError):
        half.predict_proba(TEXTS)


def test_a_method_of_a_class_is_named_by_its_path(tmp_path, monkeypatch):
    (tmp_path / "detecting.py").write_text(
        "class Detector:\n"
        "    def __init__(self): self.word = 'good'\n"
        "    def probability(self, text): return 0.9 if self.word in text.lower() else 0.1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = as_classifier("detecting:Detector.probability").predict_proba(TEXTS)
    assert ((found[:, 1] > 0.5) == Y).all()
