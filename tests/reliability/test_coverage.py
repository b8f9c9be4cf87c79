"""The bound that is called a bound holds: simulated worlds with known error probability."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.tree import DecisionTreeClassifier

from fireassay import as_classifier, reliability
from fireassay.reliability.betting_bound import rectified_bound
from fireassay.reliability.inputs import Inputs
from fireassay.statistics import clopper_pearson

ALPHA = 0.025
pytestmark = pytest.mark.slow


def draw(n, d, noise, rng):
    X = rng.random((n, d))
    gap = X[:, 0] - 0.5 - 0.15 * np.sin(6 * X[:, -1])
    return X, ((gap > 0) ^ (rng.random(n) < noise * np.exp(-8 * np.abs(gap)))).astype(int)


@pytest.mark.parametrize(("d", "rows", "noise"), [(2, 1500, 0.0), (5, 120, 0.4), (20, 400, 0.2)])
def test_default_bound_covers_and_is_hardly_wider_than_clopper_pearson(d, rows, noise):
    rng = np.random.default_rng(d)
    worlds, n, misses = 120, 250, 0
    excess, exact = [], []
    for seed in range(worlds):
        tree = DecisionTreeClassifier(min_samples_leaf=4, random_state=0)
        tree.fit(*draw(rows, d, noise, rng))
        X, y = draw(30_000, d, noise, rng)
        pmi = float((tree.predict(X) != y).mean())
        X, y = draw(n, d, noise, rng)
        field = draw(10 * n, d, noise, rng)[0]
        found = rectified_bound(
            Inputs(X, tree.predict_proba(X)), y, Inputs(field, tree.predict_proba(field)),
            alpha=ALPHA, seed=seed,
        )  # fmt: skip
        misses += found.pmi_upper < pmi
        excess.append(found.pmi_upper - pmi)
        exact.append(found.clopper_pearson_alone - pmi)
    assert misses <= binom.ppf(0.999, worlds, ALPHA)
    assert np.mean(excess) <= 1.05 * np.mean(exact)


def test_betting_part_alone_covers_at_its_own_level():
    """At the whole alpha, so that a broken martingale cannot hide behind Clopper-Pearson."""
    rng = np.random.default_rng(0)
    worlds, n, misses = 300, 150, 0
    for _ in range(worlds):
        X = rng.random((n, 2))
        field = rng.random((10 * n, 2))
        y = (X[:, 0] > 0.5) ^ (rng.random(n) < 0.3 * (X[:, 1] < 0.3))
        guess = lambda inputs: 0.3 * (inputs.X[:, 1] < 0.3)  # noqa: E731
        p = lambda R: 1.0 * np.column_stack([R[:, 0] <= 0.5, R[:, 0] > 0.5])  # noqa: E731
        found = rectified_bound(
            Inputs(X, p(X)), y.astype(int), Inputs(field, p(field)), alpha=0.2, risk=guess
        )
        misses += found.betting < 0.09
    assert misses <= binom.ppf(0.999, worlds, 0.2)


def test_published_bound_does_not_cover():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(10):
        X, y = draw(800, 2, 0.1, rng)
        tree = DecisionTreeClassifier(random_state=0).fit(X[:600], y[:600])
        big, truth = draw(20_000, 2, 0.1, rng)
        pmi = float((tree.predict(big) != truth).mean())
        method = reliability.Ram(cells=100, held_out=(X[600:], y[600:]))
        covered += reliability.assess(tree, X, y, method=method).details.pmi_upper >= pmi
    assert covered == 0


def test_known_weights_cover_under_shift():
    rng = np.random.default_rng(7)
    model = as_classifier(lambda X: np.column_stack([1 - X[:, 0], X[:, 0]]), classes=[0, 1])
    worlds, misses, plain = 80, 0, 0
    for seed in range(worlds):
        X, y = draw(3000, 2, 0.6, rng)
        y = np.where(X[:, 1] < 0.2, rng.integers(0, 2, len(y)), y)
        density = 0.2 + 1.6 * X[:, 1]
        kept = np.flatnonzero(rng.random(3000) < density / 1.8)[:400]
        big, truth = draw(20_000, 2, 0.6, rng)
        truth = np.where(big[:, 1] < 0.2, rng.integers(0, 2, len(truth)), truth)
        pmi = float(((big[:, 0] > 0.5) != truth).mean())
        field = draw(4000, 2, 0.6, rng)[0]
        inputs = Inputs(X[kept], model.predict_proba(X[kept]))
        found = rectified_bound(
            inputs, y[kept], Inputs(field, model.predict_proba(field)), alpha=ALPHA,
            weights=1 / density[kept], weight_bound=5.0, seed=seed,
        )  # fmt: skip
        misses += found.pmi_upper < pmi
        errors = int((inputs.predicted != y[kept]).sum())
        plain += clopper_pearson(errors, 400, 1 - ALPHA, "upper")[1] < pmi
    assert misses <= binom.ppf(0.999, worlds, ALPHA)
    assert plain > misses
