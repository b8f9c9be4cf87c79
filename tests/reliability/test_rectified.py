import numpy as np
import pytest

from fireassay import as_classifier, reliability
from fireassay.core import DataError, ParameterError
from fireassay.reliability.rectified_bound import (
    RectifiedValues,
    betting_upper,
    betting_upper_sequence,
    ppi_interval,
)
from fireassay.reliability.surrogate import Inputs, fit_risk
from fireassay.statistics import betting_interval, clopper_pearson

MODEL = as_classifier(
    lambda X: np.column_stack([1 - (X[:, 0] > 0.5), X[:, 0] > 0.5]) * 0.98 + 0.01, classes=[0, 1]
)


def world(n, rng, coin=0.1):
    """A tenth of the inputs (small second feature) has labels by the toss of a coin."""
    X = rng.random((n, 2))
    y = (X[:, 0] > 0.5).astype(int)
    return X, np.where(X[:, 1] < coin, rng.integers(0, 2, n), y)


def test_betting_bound_is_close_to_the_general_one():
    values = np.random.default_rng(0).random(400) ** 3
    game = RectifiedValues(values, np.ones(400), 0.1)
    general = betting_interval(values, 0.99, (0, 1), "upper")[1]
    assert betting_upper(game, 0.01) == pytest.approx(general, rel=0.05)
    assert betting_upper(game, 0.01) > values.mean()


def test_running_bounds_never_rise_and_end_at_the_fixed_bound():
    values = (np.random.default_rng(1).random(300) < 0.1).astype(float)
    game = RectifiedValues(values, np.ones(300), 0.1)
    running = betting_upper_sequence(game, 0.05)
    assert (np.diff(running) <= 0).all()
    assert running[-1] == pytest.approx(betting_upper(game, 0.05), abs=2e-3)


def test_a_useless_surrogate_leaves_the_normal_interval_unchanged():
    rng = np.random.default_rng(0)
    wrong = (rng.random(2000) < 0.1).astype(float)
    estimate, error, _ = ppi_interval(wrong, rng.random(2000), rng.random(40_000), 0.025)
    assert estimate == pytest.approx(wrong.mean(), abs=1e-3)
    assert error == pytest.approx(wrong.std() / np.sqrt(2000), rel=0.02)


def test_a_perfect_surrogate_leaves_only_the_operational_error():
    rng = np.random.default_rng(0)
    risk = (rng.random(500) < 0.1).astype(float)
    field = (rng.random(50_000) < 0.1).astype(float)
    estimate, error, _ = ppi_interval(risk, risk, field, 0.025)
    assert estimate == pytest.approx(field.mean(), abs=2e-3)
    assert error < 0.3 * risk.std() / np.sqrt(500)


def test_a_good_surrogate_narrows_the_headline_and_a_bad_one_hardly_widens_it():
    narrow, wide, exact = [], [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = world(800, rng)
        field = world(16_000, rng)[0]
        good = reliability.assess(
            MODEL, X, y, operational=field, surrogate=lambda X: 0.5 * (X[:, 1] < 0.1), seed=seed
        )
        bad = reliability.assess(
            MODEL, X, y, operational=field, surrogate=lambda X: 0.5 * (X[:, 1] > 0.9), seed=seed
        )
        narrow.append(good.pmi_upper - 0.05)
        wide.append(bad.pmi_upper - 0.05)
        exact.append(clopper_pearson(good.n_errors, 800, 0.975, "upper")[1] - 0.05)
    assert np.mean(narrow) < 0.95 * np.mean(exact)
    assert np.mean(wide) < 1.5 * np.mean(exact)


def test_surrogate_from_other_labels_and_from_cells():
    rng = np.random.default_rng(0)
    X, y = world(600, rng)
    field = world(6000, rng)[0]
    fitted = reliability.assess(MODEL, X, y, operational=field, surrogate=world(1500, rng))
    assert fitted.comparison["method"].str.startswith("rectified betting").any()
    grid = reliability.Grid.regular(10, (0, 1), dimensions=2)
    risk = reliability.cells_risk(grid, np.full(100, 0.02))
    found = reliability.assess(MODEL, X, y, operational=field, surrogate=risk)
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
    from fireassay.reliability import rectified

    rng = np.random.default_rng(0)
    X, y = world(300, rng)
    field = Inputs((F := world(3000, rng)[0]), MODEL.predict_proba(F))
    labelled = Inputs(X, MODEL.predict_proba(X))

    def values(labels):
        wrong = (labelled.predicted != labels).astype(float)
        args = (labelled, labels, wrong, field, 0.025, None, np.ones(300), 1.0)
        args = (*args, np.random.default_rng(7))
        return rectified._play(*args)[0].values

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
    known = reliability.assess(
        MODEL, X[kept], y[kept], weights=weights, weight_bound=10.0, **options
    )
    truth = 0.15
    assert plain.pmi_upper < truth
    assert "Not valid" in plain.headline
    assert any("assumption 3" in a.statement for a in plain.contradicted)
    assert plain.evidence().claims[-1].holds is False
    assert known.pmi_upper > truth
    assert known.is_bound
    as_function = reliability.assess(
        MODEL, X[kept], y[kept], weights=lambda X: 1 / (0.1 + 1.8 * X[:, 1]), weight_bound=10.0,
        **options,
    )  # fmt: skip
    assert as_function.pmi_upper == known.pmi_upper
    guessed = reliability.assess(MODEL, X[kept], y[kept], weights="estimate", **options)
    assert not guessed.is_bound
    assert "no finite-sample claim" in guessed.headline
    assert "pmi_upper" not in guessed.evidence().estimates
    alone = reliability.assess(MODEL, X[kept], y[kept], weights=weights, weight_bound=10.0)
    assert alone.pmi_upper > truth


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"surrogate": 3}, "surrogate"),
        ({"surrogate": lambda X: np.zeros((len(X), 2))}, "one finite risk per row"),
        ({"weights": np.ones(3)}, "per labelled row"),
        ({"weights": np.zeros(100)}, "positive"),
        ({"weights": np.full(100, 2.0), "weight_bound": 1.0}, "weight_bound"),
        ({"weights": "guess"}, "weights"),
        ({"weights": np.ones(100), "mode": "ram"}, "rectified"),
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
