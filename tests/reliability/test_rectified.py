import numpy as np
import pytest

from fireassay import as_classifier, reliability
from fireassay.core import DataError, ParameterError
from fireassay.reliability import Rectified
from fireassay.reliability.inputs import Inputs
from fireassay.reliability.surrogate import fit_risk
from fireassay.statistics import clopper_pearson

MODEL = as_classifier(
    lambda X: np.column_stack([1 - (X[:, 0] > 0.5), X[:, 0] > 0.5]) * 0.98 + 0.01, classes=[0, 1]
)


def world(n, rng, coin=0.1):
    """A tenth of the inputs (small second feature) has labels by the toss of a coin."""
    X = rng.random((n, 2))
    y = (X[:, 0] > 0.5).astype(int)
    return X, np.where(X[:, 1] < coin, rng.integers(0, 2, n), y)


@pytest.mark.slow
def test_a_good_surrogate_narrows_the_headline_and_a_bad_one_hardly_widens_it():
    narrow, wide, exact = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = world(800, rng)
        field = world(16_000, rng)[0]
        guess = Rectified(surrogate=lambda X: 0.5 * (X[:, 1] < 0.1))
        good = reliability.assess(MODEL, X, y, operational=field, method=guess, seed=seed)
        guess = Rectified(surrogate=lambda X: 0.5 * (X[:, 1] > 0.9))
        bad = reliability.assess(MODEL, X, y, operational=field, method=guess, seed=seed)
        narrow.append(good.pmi_upper - 0.05)
        wide.append(bad.pmi_upper - 0.05)
        exact.append(clopper_pearson(good.n_errors, 800, 0.975, "upper")[1] - 0.05)
    assert np.mean(narrow) < 0.95 * np.mean(exact)
    assert np.mean(wide) < 1.5 * np.mean(exact)


def test_surrogate_from_other_labels_and_from_cells():
    rng = np.random.default_rng(0)
    X, y = world(600, rng)
    field = world(6000, rng)[0]
    elsewhere = Rectified(surrogate=world(1500, rng))
    fitted = reliability.assess(MODEL, X, y, operational=field, method=elsewhere)
    assert fitted.comparison["method"].str.startswith("rectified betting").any()
    grid = reliability.Grid.regular(10, (0, 1), dimensions=2)
    risk = reliability.cells_risk(grid, np.full(100, 0.02))
    found = reliability.assess(MODEL, X, y, operational=field, method=Rectified(surrogate=risk))
    assert found.pmi_upper <= 1
    assert risk(np.array([[2.0, 2.0]]))[0] == 1


def test_a_fitted_risk_is_higher_where_errors_are():
    rng = np.random.default_rng(0)
    X, y = world(2000, rng)
    risk = fit_risk(Inputs(X, MODEL.predict_proba(X)), y)
    fresh, _ = world(2000, rng)
    values = risk(Inputs(fresh, MODEL.predict_proba(fresh)))
    assert values[fresh[:, 1] < 0.08].mean() > 5 * values[fresh[:, 1] > 0.12].mean()


def test_labels_fitted_on_never_rectify_themselves():
    """Changing the last label must not change any earlier value of the game."""
    from fireassay.reliability import betting_bound

    rng = np.random.default_rng(0)
    X, y = world(300, rng)
    field = Inputs((F := world(3000, rng)[0]), MODEL.predict_proba(F))
    labelled = Inputs(X, MODEL.predict_proba(X))

    def values(labels):
        wrong = (labelled.predicted != labels).astype(float)
        args = (labelled, labels, wrong, field, 0.025, None, np.ones(300), 1.0)
        args = (*args, np.random.default_rng(7))
        return betting_bound._Game(*args).play()[0].values

    for row in (299, 170, 60):
        other = y.copy()
        other[row] = 1 - other[row]
        np.testing.assert_array_equal(values(y)[:row], values(other)[:row])
        assert values(y)[row] != values(other)[row]


def test_known_weights_undo_a_shift_and_missing_ones_are_reported():
    rng = np.random.default_rng(3)
    X, y = world(20_000, rng, coin=0.3)
    density = 0.1 + 1.8 * X[:, 1]
    kept = np.flatnonzero(rng.random(len(X)) < density / 1.9)[:1500]
    field = world(30_000, rng)[0]
    options = {"operational": field, "seed": 0}
    plain = reliability.assess(MODEL, X[kept], y[kept], **options)
    weights = 1 / density[kept]
    ten = Rectified(weight_bound=10.0)
    known = reliability.assess(MODEL, X[kept], y[kept], weights=weights, method=ten, **options)
    truth = 0.15
    assert plain.pmi_upper < truth
    assert "Not valid" in plain.headline
    assert any(a.id == "labels-from-the-field" for a in plain.contradicted)
    assert plain.evidence().claims[-1].holds is False
    assert known.pmi_upper > truth
    assert known.is_bound
    assert 0 < known.pmi_lower < truth
    assert "weights-right" in known.evidence().estimates["pmi_upper"].rests_on
    as_function = reliability.assess(
        MODEL, X[kept], y[kept], weights=lambda X: 1 / (0.1 + 1.8 * X[:, 1]), method=ten,
        **options,
    )  # fmt: skip
    assert as_function.pmi_upper == known.pmi_upper
    guessed = reliability.assess(MODEL, X[kept], y[kept], weights="estimate", **options)
    assert not guessed.is_bound
    assert "no finite-sample claim" in guessed.headline
    assert "pmi_upper" not in guessed.evidence().estimates
    alone = reliability.assess(MODEL, X[kept], y[kept], weights=weights, method=ten)
    assert alone.pmi_upper > truth


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": Rectified(surrogate=3)}, "surrogate"),
        ({"method": Rectified(lambda X: np.zeros((len(X), 2)))}, "one finite risk per row"),
        ({"weights": np.ones(3)}, "per labelled row"),
        ({"weights": np.zeros(100)}, "positive"),
        ({"weights": np.full(100, 2.0), "method": Rectified(weight_bound=1.0)}, "weight_bound"),
        ({"method": Rectified(weight_bound=1.0)}, "no weights"),
        ({"weights": "guess"}, "weights"),
        ({"weights": np.ones(100), "method": "ram"}, "rectified"),
    ],
)
def test_bad_surrogates_and_weights_are_refused(options, message):
    X, y = world(100, np.random.default_rng(0))
    field = world(1000, np.random.default_rng(1))[0]
    with pytest.raises((DataError, ParameterError), match=message):
        reliability.assess(MODEL, X, y, operational=field, **options)


def test_labelled_rows_among_the_operational_ones_are_left_out():
    rng = np.random.default_rng(0)
    X, y = world(200, rng)
    field = world(2000, rng)[0]
    alone = reliability.assess(MODEL, X, y, operational=field)
    mixed = reliability.assess(MODEL, X, y, operational=np.vstack([field, X]))
    assert mixed.pmi_upper == alone.pmi_upper
    assert mixed.n_operational == 2000
    assert any("left out" in note for note in mixed.notes)
    same = reliability.assess(MODEL, X, y, operational=X)
    assert same.n_operational == 0
    # Features that repeat may coincide by chance: nothing is dropped.
    coarse = np.round(X, 1)
    found = reliability.assess(MODEL, coarse, y, operational=np.round(field, 1))
    assert found.n_operational == 2000


def test_a_profile_object_stands_for_its_rows():
    rng = np.random.default_rng(0)
    X, y = world(200, rng)
    field = world(2000, rng)[0]
    profile = reliability.KdeProfile(0.1, (0, 1)).fit(field)
    by_rows = reliability.assess(MODEL, X, y, operational=field)
    assert reliability.assess(MODEL, X, y, operational=profile).pmi_upper == by_rows.pmi_upper


def test_weights_without_a_bound_claim_nothing():
    """Rare heavy weights: the largest one seen is not the largest possible one (covered .53)."""
    rng = np.random.default_rng(0)
    X, y = world(300, rng)
    weights = np.ones(300)
    loose = reliability.assess(MODEL, X, y, weights=weights)
    assert not loose.is_bound
    assert "no finite-sample claim" in loose.headline
    assert "pmi_upper" not in loose.evidence().estimates
    assert loose.frame()["claim"][0] == "none"
    held = reliability.assess(MODEL, X, y, weights=weights, method=Rectified(weight_bound=3.0))
    assert held.is_bound
    assert "pmi_upper" in held.evidence().estimates


def test_a_surrogate_that_has_seen_the_labels_is_refused():
    rng = np.random.default_rng(1)
    X, y = world(300, rng)
    field = world(3000, rng)[0]
    with pytest.raises(DataError, match="300 of its 300 rows among the labelled"):
        reliability.assess(MODEL, X, y, field, method=Rectified(surrogate=(X, y)))
    other = reliability.assess(MODEL, X, y, field, method=Rectified(surrogate=world(300, rng)))
    guess = Rectified(surrogate=lambda X: np.full(len(X), 0.05))
    for found, status in (
        (other, "supported"),
        (reliability.assess(MODEL, X, y, field, method=guess), "untestable"),
    ):
        entry = next(a for a in found.assumptions if a.id == "surrogate-unseen-labels")
        assert entry.status == status
        assert entry.id in found.evidence().estimates["pmi_upper"].rests_on


@pytest.mark.parametrize("confidence", [0.975, 0.9])
def test_the_interval_between_two_bounds_has_the_confidence_of_both(confidence):
    rng = np.random.default_rng(2)
    X, y = world(300, rng)
    found = reliability.assess(MODEL, X, y, confidence=confidence).evidence().estimates
    assert found["pmi"].confidence == pytest.approx(2 * confidence - 1)
    assert (found["pmi"].low, found["pmi"].high) == (
        found["pmi_lower"].value, found["pmi_upper"].value
    )  # fmt: skip
