import pickle

import numpy as np
import pytest

from fireassay.classifiers import Classifier
from fireassay.classifiers.recorded import RecordedAnswers
from fireassay.core import DataError, ModelError, ProbabilityError

P = np.array([[0.7, 0.3], [0.2, 0.8], [0.55, 0.45]])


def test_it_is_a_classifier_that_gives_back_what_was_recorded():
    model = RecordedAnswers(P, classes=["well", "sepsis"])
    assert isinstance(model, Classifier)
    np.testing.assert_allclose(model.predict_proba(model.rows), P)
    np.testing.assert_allclose(model.predict_proba(model.rows[[2, 0]]), P[[2, 0]])
    assert model.predict(model.rows).tolist() == ["well", "sepsis", "well"]
    assert model.queries == 8


def test_recorded_answers_win_over_the_most_probable_class():
    model = RecordedAnswers(P, [1, 1, 0], classes=["well", "sepsis"])
    assert model.predict(model.rows).tolist() == ["sepsis", "sepsis", "well"]
    assert RecordedAnswers(None, [1, 0], classes=[0, 1]).predict([[0], [1]]).tolist() == [1, 0]


@pytest.mark.parametrize(
    "X", [[[0.5]], [[3]], [[-1]], [[0, 1]], [["a"]], np.zeros((1, 2, 2)), [[np.nan]]]
)
def test_any_other_row_is_refused(X):
    model = RecordedAnswers(P, classes=[0, 1])
    with pytest.raises(ModelError, match="know their 3 rows only"):
        model.predict_proba(X)
    assert model.queries == 0


def test_rows_without_an_answer_cannot_be_asked():
    for model in (
        RecordedAnswers(None, [0, -1], classes=[0, 1]),
        RecordedAnswers([[0.5, 0.5], [np.nan, np.nan]], classes=[0, 1]),
    ):
        assert len(model.predict_proba([[0]])) == 1
        with pytest.raises(ModelError, match="without a recorded answer"):
            model.predict_proba([[1]])


def test_the_hash_is_of_the_content():
    one, same = (RecordedAnswers(P, classes=[0, 1]) for _ in range(2))
    assert one.sha256 == same.sha256 == pickle.loads(pickle.dumps(one)).sha256
    assert one.sha256 != RecordedAnswers(P, [1, 1, 0], classes=[0, 1]).sha256
    assert one.sha256 != RecordedAnswers(P, classes=["a", "b"]).sha256


def test_what_is_no_probability_is_refused():
    with pytest.raises(ProbabilityError):
        RecordedAnswers(P * 2, classes=[0, 1])
    with pytest.raises(DataError):
        RecordedAnswers(classes=[0, 1])
