"""scikit-learn estimators: the same numbers, and plain refusals."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import fireassay as fa
from fireassay.core import DataError, ModelError

X, y = load_digits(return_X_y=True)
X, y = X[:600] / 16.0, y[:600]
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])

ESTIMATORS: list[Any] = [
    LogisticRegression(max_iter=200),
    GaussianNB(),
    KNeighborsClassifier(3),
    MLPClassifier((8,), max_iter=5, early_stopping=False, random_state=0),
    DecisionTreeClassifier(max_depth=5, random_state=0),
    RandomForestClassifier(10, random_state=0, n_jobs=2),
    HistGradientBoostingClassifier(max_iter=3, random_state=0),
    GradientBoostingClassifier(n_estimators=2, random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_probabilities_labels_and_classes_are_the_estimators_own(estimator: Any) -> None:
    estimator.fit(X, NAMES[y])
    classifier = fa.as_classifier(estimator)
    np.testing.assert_allclose(
        classifier.predict_proba(X), estimator.predict_proba(X), rtol=0, atol=1e-12
    )
    assert classifier.classes == tuple(sorted(NAMES.tolist()))
    assert (classifier.predict(X) == estimator.predict(X)).mean() > 0.999
    cut = np.concatenate([classifier.predict_proba(X[i : i + 77]) for i in range(0, 600, 77)])
    np.testing.assert_array_equal(cut, classifier.predict_proba(X))
    copy = pickle.loads(pickle.dumps(classifier))
    assert copy.sha256 == classifier.sha256
    np.testing.assert_array_equal(copy.predict_proba(X[:9]), cut[:9])


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LinearRegression().fit(X, y), "a regressor"),
        (KMeans(2, n_init=1).fit(X), "a clusterer"),
        (IsolationForest(n_estimators=2).fit(X), "an? outlier detector"),
        (StandardScaler().fit(X), "a transformer"),
        (LogisticRegression(), "fitted"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "fitted"),
        (Perceptron().fit(X, y), "output='labels'"),
        (RandomForestClassifier(2).fit(X, np.column_stack([y, y])), "2 outputs"),
        (DecisionTreeClassifier().fit(X, np.zeros(len(y))), "at least two classes"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_is_no_usable_classifier_is_refused_by_name(estimator: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        fa.as_classifier(estimator)


@pytest.mark.parametrize("classes", [np.int64(7), np.array(7), np.array([[0, 1]])])
def test_classes_that_are_no_list_are_refused(classes: Any) -> None:
    estimator = LogisticRegression().fit(X, y)
    estimator.classes_ = classes
    with pytest.raises(ModelError, match="two classes, in one list"):
        fa.as_classifier(estimator)


def test_an_estimator_without_probabilities_works_with_labels() -> None:
    estimator = LinearSVC(max_iter=5000).fit(X, NAMES[y])
    classifier = fa.as_classifier(estimator, output="labels")
    np.testing.assert_array_equal(classifier.predict(X), estimator.predict(X))
    assert set(np.unique(classifier.predict_proba(X))) == {0.0, 1.0}
    renamed = fa.as_classifier(estimator, output="labels", classes=range(10))
    expected = np.searchsorted(np.sort(NAMES), estimator.predict(X))
    np.testing.assert_array_equal(renamed.predict(X), expected)


@pytest.mark.parametrize("n_classes", [2, 10])
def test_the_softmax_of_the_decision_function_is_logistic_regressions_probability(
    n_classes: int,
) -> None:
    rows, labels = X[y < n_classes], y[y < n_classes]
    estimator = LogisticRegression(max_iter=300).fit(rows, labels)
    classifier = fa.as_classifier(estimator, output="logits")
    np.testing.assert_allclose(
        classifier.predict_proba(rows), estimator.predict_proba(rows), atol=1e-12
    )
    with pytest.raises(ModelError, match="decision_function"):
        fa.as_classifier(GaussianNB().fit(rows, labels), output="logits")


def test_class_names_can_be_given_one_for_each_column() -> None:
    estimator = GaussianNB().fit(X, y)
    named = fa.as_classifier(estimator, classes=NAMES)
    np.testing.assert_array_equal(named.predict(X), NAMES[estimator.predict(X)])
    with pytest.raises(ModelError, match="10 classes"):
        fa.as_classifier(estimator, classes=["a", "b"])


def test_an_estimator_fitted_on_a_frame_gets_its_columns_whatever_their_order() -> None:
    frame = pd.DataFrame(X[:, :5], columns=list("abcde"))
    estimator = LogisticRegression(max_iter=500).fit(frame, y)
    classifier = fa.as_classifier(estimator)
    expected = estimator.predict_proba(frame)
    for rows in (frame, frame[list("edcba")], frame.assign(other=1.0), frame.to_numpy()):
        np.testing.assert_allclose(classifier.predict_proba(rows), expected, atol=1e-12)
    with pytest.raises(DataError, match="without"):
        classifier.predict_proba(frame[["a", "b"]])


def test_a_wrong_number_of_features_is_refused_before_sending() -> None:
    classifier = fa.as_classifier(GaussianNB().fit(X, y))
    with pytest.raises(DataError, match="64 features"):
        classifier.predict_proba(X[:, :3])
    with pytest.raises(DataError, match="64 features"):
        classifier.predict_proba(X.reshape(-1, 8, 8)[:, :4])
    assert classifier.queries == 0


def test_images_go_to_an_estimator_fitted_on_their_pixels() -> None:
    classifier = fa.as_classifier(GaussianNB().fit(X, y))
    images = classifier.predict_proba(X.reshape(-1, 8, 8))
    assert np.array_equal(images, classifier.predict_proba(X))


def test_forests_do_not_depend_on_their_threads_and_stay_as_they_were() -> None:
    estimator = RandomForestClassifier(60, random_state=0, n_jobs=2).fit(X, y)
    classifier = fa.as_classifier(estimator)
    first = classifier.predict_proba(X)
    assert all(np.array_equal(classifier.predict_proba(X), first) for _ in range(5))
    assert estimator.n_jobs == 2


def test_objects_with_predict_proba_alone_and_meta_estimators_work() -> None:
    class Own:
        def predict_proba(self, rows: np.ndarray) -> np.ndarray:
            return np.column_stack([rows[:, 0], 1 - rows[:, 0]])

    own = fa.as_classifier(Own())
    assert own.predict_proba(X[:2]).shape == (2, 2)
    assert own.classes == (0, 1)
    estimator = CalibratedClassifierCV(LinearSVC(max_iter=5000), cv=2).fit(X, y)
    assert fa.as_classifier(estimator).predict_proba(X[:5]).shape == (5, 10)


def test_the_hash_is_of_what_was_learnt() -> None:
    one = fa.as_classifier(RandomForestClassifier(5, random_state=0).fit(X, y)).sha256
    again = fa.as_classifier(RandomForestClassifier(5, random_state=0).fit(X, y)).sha256
    other = fa.as_classifier(RandomForestClassifier(5, random_state=1).fit(X, y)).sha256
    assert one == again != other


def test_texts_reach_a_pipeline_that_reads_them() -> None:
    texts = ["the heart is well", "not well", "well", "no, not at all"]
    estimator = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0])
    expected = estimator.predict_proba(texts)
    for rows in (texts, np.array(texts), np.array(texts, dtype=object)):
        np.testing.assert_allclose(fa.as_classifier(estimator).predict_proba(rows), expected)


def test_frames_with_names_and_holes_reach_the_pipeline_as_they_are() -> None:
    frame = pd.DataFrame({"ward": ["a", None, "b", "a"] * 3, "age": [40.0, 50.0, np.nan, 61.0] * 3})
    both = ColumnTransformer(
        [
            ("n", SimpleImputer(), ["age"]),
            (
                "c",
                make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()),
                ["ward"],
            ),
        ]
    )
    estimator = make_pipeline(both, LogisticRegression()).fit(frame, [0, 1, 1, 0] * 3)
    classifier = fa.as_classifier(estimator)
    expected = estimator.predict_proba(frame)
    for rows in (frame, frame[["age", "ward"]], frame.assign(other="x")):
        np.testing.assert_allclose(classifier.predict_proba(rows), expected)
    one = np.concatenate([classifier.predict_proba(frame[i : i + 1]) for i in range(12)])
    np.testing.assert_array_equal(one, classifier.predict_proba(frame))  # however calls are cut
    with pytest.raises(DataError, match="without \\['ward'\\]"):
        classifier.predict_proba(frame[["age"]])


def test_integers_reach_the_estimator_as_integers() -> None:
    class Seen(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def fit(self, rows: Any, labels: Any) -> Any:
            self.fitted_ = True
            return self

        def predict_proba(self, rows: Any) -> Any:
            kinds.add(rows.dtype.str)
            return np.full((len(rows), 2), 0.5)

    kinds: set[str] = set()
    fa.as_classifier(Seen().fit(None, None)).predict_proba(
        np.arange(6, dtype=np.int32).reshape(3, 2)
    )
    assert kinds == {"<i4"}
