"""Bad inputs get an error that says what to do, or a stated result."""

import numpy as np
import pandas as pd
import pytest

from fireassay import survival
from fireassay.core.errors import (
    AssumptionWarning,
    ConvergenceWarning,
    DataError,
    NotEnoughEvidenceError,
    ParameterError,
)


def rows(n=60, seed=0, **columns):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"duration": rng.exponential(5, n) + 0.1, "event": 1, **columns})
    frame["x"] = rng.normal(size=n)
    return frame


FAMILIES = ("exponential", "weibull", "lognormal", "loglogistic", "gengamma", "cox")


@pytest.mark.parametrize("family", FAMILIES)
def test_all_censored_is_refused(family):
    with pytest.raises(NotEnoughEvidenceError, match="all are censored"):
        survival.fit(rows(event=0), family, ["x"])


@pytest.mark.parametrize("family", FAMILIES)
def test_one_event_is_refused(family):
    frame = rows()
    frame["event"] = (np.arange(60) == 7) * 1
    with pytest.raises(NotEnoughEvidenceError, match="at least"):
        survival.fit(frame, family, ["x"])


def test_ten_events_per_covariate_are_asked_for():
    frame = rows(event=(np.arange(60) < 15) * 1).assign(z=np.arange(60) % 7)
    with pytest.raises(NotEnoughEvidenceError, match="at least 20 observed failure"):
        survival.fit(frame, "weibull", ["x", "z"])
    survival.fit(frame, "weibull", ["x"])
    survival.fit(frame, "weibull", ["x", "z"], min_events_per_covariate=5)


def test_equal_times_are_refused_and_equal_intervals_are_not():
    with pytest.raises(DataError, match="must differ"):
        survival.fit(rows().assign(duration=3.0), "weibull")
    frame = pd.DataFrame({"lower": [0.0] * 30 + [3.0] * 30, "upper": [3.0] * 30 + [np.inf] * 30})
    assert survival.fit(frame, "exponential").survival(frame.head(1), [3.0])[0, 0] == pytest.approx(
        0.5, abs=1e-6
    )


def test_time_that_a_covariate_determines_is_refused():
    frame = rows()
    frame["x"] = np.log(frame["duration"])
    with pytest.raises(DataError, match="scale went to zero"):
        survival.fit(frame, "lognormal", ["x"])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"duration": -1.0}, "negative"),
        ({"duration": 0.0}, "time zero"),
        ({"duration": np.nan}, "missing"),
        ({"event": 2}, "must be 1"),
        ({"duration": "soon"}, "must be numbers"),
    ],
)
def test_impossible_times_are_refused(change, match):
    frame = rows().astype({"duration": object, "event": object})
    frame.loc[3, list(change)] = list(change.values())
    with pytest.raises(DataError, match=match):
        survival.fit(frame, "weibull", ["x"])


def test_swapped_or_missing_ends_are_refused():
    with pytest.raises(DataError, match="above its upper"):
        survival.kaplan_meier(pd.DataFrame({"lower": [2.0], "upper": [1.0]}))
    with pytest.raises(DataError, match="infinite"):
        survival.kaplan_meier(pd.DataFrame({"lower": [np.inf], "upper": [np.inf]}))
    with pytest.raises(DataError, match="at least one row"):
        survival.kaplan_meier(pd.DataFrame({"lower": [], "upper": []}))
    with pytest.raises(DataError, match="'lower' and 'upper'"):
        survival.fit(pd.DataFrame({"time": [1.0]}))


def test_a_censored_time_of_zero_says_nothing_and_changes_nothing():
    frame = rows()
    with_nothing = pd.concat(
        [frame, pd.DataFrame({"duration": [0.0] * 5, "event": 0, "x": [0.1] * 5})]
    )
    ours = survival.fit(with_nothing, "weibull").log_likelihood
    assert ours == pytest.approx(survival.fit(frame, "weibull").log_likelihood)


@pytest.mark.parametrize("family", FAMILIES)
def test_separation_is_said(family):
    frame = rows(group=["a"] * 40 + ["b"] * 20)
    frame.loc[frame["group"] == "b", "event"] = 0
    with pytest.warns(AssumptionWarning, match="Separation"):
        fit = survival.fit(frame, family, ["group"])
    assert np.isfinite(fit.log_likelihood)
    assert fit.coefficients.at["group[b]", "effect"] == "longer"
    assert any("Separation" in note for note in fit.evidence().limits)


def test_collinear_covariates_are_named():
    frame = rows()
    frame["twice"] = 2 * frame["x"] + 1
    with pytest.raises(DataError, match="collinear columns: x, twice"):
        survival.fit(frame, "weibull", ["x", "twice"])
    dummies = rows(a=[1] * 30 + [0] * 30, b=[0] * 30 + [1] * 30)
    with pytest.raises(DataError, match="reference"):
        survival.fit(dummies, "weibull", ["a", "b"])


def test_constant_missing_and_unknown_covariates_are_named():
    frame = rows(same=3, word="only")
    for names, match in ((["same"], "must vary"), (["word"], "two levels"), (["y"], "'y' must be")):
        with pytest.raises(DataError, match=match):
            survival.fit(frame, "weibull", names)
    frame.loc[2, "x"] = np.inf
    with pytest.raises(DataError, match="'x' must be finite"):
        survival.fit(frame, "weibull", ["x"])
    with pytest.raises(ParameterError, match="list of column names"):
        survival.fit(frame, "weibull", "x")


def test_no_convergence_is_said(monkeypatch):
    monkeypatch.setattr("fireassay.survival.aft._MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        fit = survival.fit(rows(), "weibull", ["x"])
    assert not fit.converged


def test_training_that_cost_nothing_is_refused():
    fit = survival.fit(rows(), "weibull")
    for seconds in (0.0, -1.0, np.nan):
        with pytest.raises(ParameterError, match="train_seconds_per_sample"):
            survival.trash(fit, train_seconds_per_sample=seconds)


def test_success_without_a_change_is_refused():
    frame = pd.DataFrame(
        {
            "lower": [1.0, 2.0],
            "upper": [2.0, np.inf],
            "success": [True, False],
            "distance": [0.0, 1],
        }
    )
    with pytest.raises(DataError, match="no prediction changed"):
        survival.kaplan_meier(frame)
    with pytest.raises(DataError, match="must go together"):
        survival.kaplan_meier(frame.assign(success=[True, True]))


def test_too_few_groups_for_their_covariates_are_refused_or_said():
    frame = rows(model_id=np.arange(60) % 2, depth=np.arange(60) % 2)
    with pytest.raises(NotEnoughEvidenceError, match="need at least 3"):
        survival.fit(frame, "weibull", ["depth"], groups="model_id")
    frame = rows(model_id=np.arange(60) % 6, depth=(np.arange(60) % 6 > 2) * 1)
    with pytest.warns(AssumptionWarning, match="Only 6 groups"):
        survival.fit(frame, "weibull", ["depth"], groups="model_id")
    with pytest.raises(DataError, match="at least two groups"):
        survival.fit(rows(model_id="one"), "weibull", ["x"], groups="model_id")


def test_a_level_that_one_group_alone_has_gets_no_interval():
    frame = rows(model_id=np.arange(60) % 6, odd=(np.arange(60) % 6 == 0) * 1)
    with pytest.warns(AssumptionWarning):
        fit = survival.fit(frame, "weibull", ["odd"], groups="model_id")
    assert np.isinf(fit.coefficients.at["odd", "cluster_se"])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"family": "normal"}, "family"),
        ({"ridge": -1.0}, "ridge"),
        ({"confidence": 1.0}, "confidence"),
        ({"correction": "hc0"}, "correction"),
    ],
)
def test_parameters_are_checked(options, match):
    with pytest.raises(ParameterError, match=match):
        survival.fit(rows(), covariates=["x"], **options)
