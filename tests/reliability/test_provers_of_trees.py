import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from fireassay import as_classifier
from fireassay.reliability.cell_shares import Certified, ExactTrees, Sampled, estimator_for
from fireassay.reliability.cells import Grid
from fireassay.reliability.provers import exact_class_shares, trees_of

ENSEMBLES = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(7, random_state=0),
    ExtraTreesClassifier(5, random_state=0),
    GradientBoostingClassifier(n_estimators=12, random_state=0),
    HistGradientBoostingClassifier(max_iter=12, random_state=0, min_samples_leaf=5),
]


def data(classes, d=2):
    X, y = make_classification(
        300, d, n_informative=d, n_redundant=0, n_classes=classes, n_clusters_per_class=1,
        random_state=3,
    )  # fmt: skip
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda m: type(m).__name__)
def test_exact_shares_agree_with_many_draws(model, classes):
    X, y = data(classes)
    wrapped = as_classifier(model.fit(X, y))
    grid = Grid.regular(6, (0, 1), dimensions=2)
    predict = lambda rows: wrapped.predict_proba(rows).argmax(axis=1)  # noqa: E731
    shares = exact_class_shares(predict, trees_of(model), grid, classes)
    rng = np.random.default_rng(0)
    points = rng.random((120_000, 2))
    where, found = grid.index(points), predict(points)
    counts = np.zeros((grid.n_cells, classes))
    np.add.at(counts, (where, found), 1)
    drawn = counts / counts.sum(axis=1, keepdims=True)
    assert np.abs(drawn - shares).max() < 0.045  # five standard errors of 3,300 draws
    assert np.abs((drawn - shares).mean()) < 1e-12
    np.testing.assert_allclose(shares.sum(axis=1), 1)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda m: type(m).__name__)
def test_a_proven_class_is_the_class_everywhere_in_the_box(model, classes):
    X, y = data(classes, d=4)
    trees = trees_of(model.fit(X, y))
    rng = np.random.default_rng(1)
    low = rng.random((400, 4)) * 0.9
    high = low + rng.random((400, 1)) * 0.1
    proven = trees.proven_class(low, high)
    assert 0.2 < (proven >= 0).mean() < 1
    points = low[:, None] + (high - low)[:, None] * rng.random((400, 50, 4))
    given = model.predict(points.reshape(-1, 4)).reshape(400, 50)
    sure = proven >= 0
    assert (given[sure] == proven[sure, None]).all()


def test_a_point_is_always_proven():
    X, y = data(3, d=4)
    forest = RandomForestClassifier(9, random_state=0).fit(X, y)
    rows = X.astype(np.float32).astype(np.float64)
    proven = trees_of(forest).proven_class(rows, rows)
    scores = np.sort(forest.predict_proba(rows), axis=1)
    clear = scores[:, -1] - scores[:, -2] > 1e-9
    assert (proven[clear] == forest.predict(rows)[clear]).all()


def test_certificates_agree_with_exact_shares():
    X, y = data(2)
    wrapped = as_classifier(RandomForestClassifier(10, random_state=0).fit(X, y))
    grid = Grid.regular(40, (0, 1), dimensions=2)
    predict = lambda rows: wrapped.predict_proba(rows).argmax(axis=1)  # noqa: E731
    exact = estimator_for(wrapped, 10_000)
    assert isinstance(exact, ExactTrees)
    true = exact(predict, grid, 2, 0)
    certified = Certified(exact.trees)(predict, grid, 2, 0)
    assert np.abs(certified.shares - true.shares).max() < 0.05
    np.testing.assert_allclose(certified.shares.sum(axis=1), 1)
    # What is proven holds exactly: the true share of the winner is at least the proven part.
    assert (true.shares.max(axis=1) >= certified.proven - 1e-9).mean() > 0.99
    sampled = Sampled(1000)(predict, grid, 2, 0)
    assert np.abs(sampled.shares - true.shares).mean() < 0.01
    assert (sampled.variance > 0).all()


def test_other_models_have_no_boxes():
    assert trees_of(LogisticRegression()) is None
    X, y = data(2)
    started = GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()).fit(X, y)
    assert trees_of(started) is None
    assert isinstance(estimator_for(LogisticRegression(), 100), Sampled)


def test_many_features_fall_back_to_certificates():
    X, y = data(2, d=4)
    wrapped = as_classifier(RandomForestClassifier(30, random_state=0).fit(X, y))
    grid = Grid.regular(4, (0, 1), dimensions=4)
    predict = lambda rows: wrapped.predict_proba(rows).argmax(axis=1)  # noqa: E731
    found = estimator_for(wrapped, 1000)(predict, grid, 2, 0)
    assert found.method.startswith("certificates")
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)


def test_points_inside_a_cell_may_follow_another_distribution():
    wrapped = as_classifier(DecisionTreeClassifier(max_depth=1).fit([[0.2], [0.8]], [0, 1]))
    predict = lambda rows: wrapped.predict_proba(rows).argmax(axis=1)  # noqa: E731
    grid = Grid.regular(1, (0, 1), dimensions=1)
    near_zero = lambda low, high, rng: low + (high - low) * rng.random(low.shape) ** 4  # noqa: E731
    found = Sampled(4000, within=near_zero)(predict, grid, 2, 0)
    assert found.shares[0, 0] == pytest.approx(0.5**0.25, abs=0.03)
