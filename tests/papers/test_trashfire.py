"""The archived experiments of the paper."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fireassay import survival
from fireassay.core.errors import AssumptionWarning, DataError
from fireassay.papers.trashfire import log_time_regression, paper_covariates, paper_rows

THREE = ["weibull", "lognormal", "loglogistic"]


@pytest.fixture(scope="module")
def archive():
    folder = os.environ.get("FIREASSAY_DATA")
    if not folder:
        pytest.skip("FIREASSAY_DATA is not set")
    with pytest.warns(AssumptionWarning, match="No row is censored"):
        return paper_rows(Path(folder) / "deckard" / "cifar100.csv")


def test_concordance_is_that_of_the_paper(archive):
    covariates = paper_covariates(archive)
    found = survival.compare(archive, THREE, covariates=covariates).frame()
    assert found["test_concordance"].to_numpy() == pytest.approx(0.92, abs=0.01)
    assert found["converged"].all()


def test_least_squares_on_log_time_orders_as_well(archive):
    covariates = paper_covariates(archive)
    train, test = archive.iloc[200:], archive.iloc[:200]
    _, plain = log_time_regression(train, test, covariates)
    fitted = survival.fit(train, "weibull", covariates).concordance_on(test)
    assert plain == pytest.approx(fitted, abs=0.01)


def test_all_six_families_stand_side_by_side(archive):
    found = survival.compare(archive, covariates=paper_covariates(archive))
    assert list(found.frame().index) == [
        "exponential", "weibull", "lognormal", "loglogistic", "gengamma", "cox",
    ]  # fmt: skip
    assert found.censored_share == 0.0
    assert found.evidence().assumptions[0].status == "contradicted"
    # Without a reason to prefer one, the smaller of two nested families cannot fit better.
    aic = found.frame()["aic"]
    assert aic["weibull"] < aic["exponential"]


def table(n=200, accuracy=0.5):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "adv_fit_time": rng.exponential(3, n) + 0.1,
            "adv_accuracy": accuracy,
            "accuracy": rng.random(n),
            "epochs": rng.integers(1, 50, n),
            "attack": rng.choice(["FGM", "PGD"], n),
            "attack_value": rng.random(n) * 7,
        }
    )


def test_values_are_scaled_within_each_attack():
    rows = table()
    rows.loc[0, "adv_accuracy"] = 1.0
    found = paper_rows(rows)
    assert found["event"].sum() == len(rows) - 1
    limits = found.groupby("attack")["attack_value"].agg(["min", "max"])
    assert (limits["min"] == 0).all()
    assert (limits["max"] == 1).all()


def test_what_repeats_or_is_missing_is_left_out_and_said():
    rows = table().assign(train_time=lambda d: 3 * d["epochs"] + 1)
    rows.loc[5, "attack_value"] = np.nan
    with pytest.warns(AssumptionWarning, match="only repeats") as caught:
        found = paper_rows(rows)
    assert len(found) == len(rows) - 1
    assert "epochs" not in found or "train_time" not in found
    assert "missing values" in str(caught[0].message)


def test_a_table_of_something_else_is_refused():
    with pytest.raises(DataError, match="adv_fit_time"):
        paper_rows(pd.DataFrame({"x": [1]}))
    with pytest.raises(DataError, match=r"\[0, 1\]"):
        paper_rows(table(accuracy=50.0))


def test_no_model_is_in_both_parts():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"duration": rng.exponential(2, 400), "event": 1})
    frame["model_id"] = np.arange(400) % 20
    frame["x"] = rng.normal(size=400)
    found = survival.compare(frame, ["weibull"], covariates=["x"], test_share=0.25)
    assert found.groups == "model_id"
    assert found.n_test == 100


def test_a_family_that_cannot_be_fitted_is_shown_and_none_is_an_error():
    frame = pd.DataFrame({"duration": np.arange(1.0, 81.0), "event": 1})
    found = survival.compare(frame, ["weibull", "cox"], covariates=[])
    assert "at least one covariate" in found.frame().at["cox", "note"]
    with pytest.raises(ValueError, match="At least one family"):
        survival.compare(frame, ["cox"], covariates=[])
