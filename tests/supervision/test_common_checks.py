"""What every supervisor promises; adding one is one row in the registry."""

import numpy as np
import pytest
from sklearn.base import clone

from fireassay import supervision
from fireassay.core import DataError, ParameterError
from fireassay.statistics import mann_whitney_auc

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("second_probability")]
BUILT_IN = supervision.names()
NAMES = (*BUILT_IN, "second-probability")
FAST = {"autoencoder": {"epochs": 10, "dims": 8}, "knn": {"k": 10}, "dissector": {"max_rows": 500}}


def build(name, members):
    parameters = dict(FAST.get(name, {}))
    if "dropout" in supervision.SUPERVISORS[name].needs:
        parameters["n_samples"] = 15
    if "ensemble" in supervision.SUPERVISORS[name].needs:
        parameters["members"] = members
    return supervision.make(name, seed=0, **parameters)


@pytest.fixture(scope="module")
def fitted(torch_model, members, digit_rows, second_probability):
    X, y, _, _ = digit_rows
    return {name: build(name, members).fit(torch_model, X, y) for name in NAMES}


@pytest.fixture(scope="module")
def scores(fitted, digit_rows):
    X = digit_rows[2][:300]
    return {name: s.score(X) for name, s in fitted.items()}


def test_names_are_the_documented_ones():
    documented = """max-softmax pcs softmax-entropy deep-gini mc-dropout-variation-ratio
    mc-dropout-mean-softmax mc-dropout-mutual-information mc-dropout-predictive-entropy
    ensemble-mean-softmax ensemble-mutual-information ensemble-predictive-entropy dissector dsa
    lsa mdsa autoencoder energy max-logit gen knn mahalanobis relative-mahalanobis vim react ash
    scale gradnorm gmm-density"""
    assert list(BUILT_IN) == documented.split()


@pytest.mark.parametrize("name", NAMES)
def test_one_finite_score_per_row(name, scores):
    assert scores[name].shape == (300,)
    assert scores[name].dtype == np.float64
    assert np.isfinite(scores[name]).all()
    assert np.ptp(scores[name]) > 0


@pytest.mark.parametrize("name", NAMES)
def test_higher_is_more_suspicious(name, fitted, scores, digit_rows, torch_model):
    # Digits turned upside down and mixed with other digits: confusing and off distribution.
    X = digit_rows[2][:300]
    strange = np.clip(0.5 * X[:, ::-1, ::-1] + 0.5 * np.roll(X, 7, axis=0), 0, 1)
    noisy = np.random.default_rng(0).random(X.shape).astype(np.float32)
    # A mix of digits is smooth: an autoencoder rebuilds it well, as it should.
    for other in (noisy,) if name == "autoencoder" else (strange, noisy):
        values = fitted[name].score(other)
        marks = np.repeat([0, 1], [len(X), len(other)])
        auc = mann_whitney_auc(np.concatenate([scores[name], values]), marks)
        assert auc.low > 0.5, (name, auc)


@pytest.mark.parametrize("name", NAMES)
def test_row_order_subset_and_batch_size_do_not_matter(name, fitted, scores, digit_rows):
    X = digit_rows[2][:300]
    order = np.random.default_rng(1).permutation(len(X))
    tolerance = {"rtol": 1e-5, "atol": 1e-7}
    np.testing.assert_allclose(fitted[name].score(X[order]), scores[name][order], **tolerance)
    np.testing.assert_allclose(fitted[name].score(X[40:77]), scores[name][40:77], **tolerance)
    np.testing.assert_allclose(fitted[name].score(X[5:6]), scores[name][5:6], **tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_nan_is_refused(name, fitted, digit_rows):
    X = digit_rows[2][:3].copy()
    X[1, 0, 0] = np.nan
    with pytest.raises(DataError, match="row 1"):
        fitted[name].score(X)


@pytest.mark.parametrize("name", NAMES)
def test_clone_and_refit_are_identical(name, fitted, scores, digit_rows, torch_model):
    X, y, test, _ = digit_rows
    again = clone(fitted[name]).fit(torch_model, X, y)
    np.testing.assert_array_equal(again.score(test[:300]), scores[name])


@pytest.mark.parametrize("name", NAMES)
def test_saved_and_loaded_scores_are_the_same(
    name, fitted, scores, digit_rows, torch_model, tmp_path
):
    fitted[name].threshold(digit_rows[2][300:400])
    path = fitted[name].save(tmp_path / "monitor.npz")
    loaded = supervision.load(path)
    if "ensemble" in loaded.needs:
        loaded.set_params(members=fitted[name].members)
    loaded.attach(torch_model)
    np.testing.assert_array_equal(loaded.score(digit_rows[2][:300]), scores[name])
    assert loaded.rule_ == fitted[name].rule_


@pytest.mark.parametrize("name", NAMES)
def test_before_fit_there_is_no_score(name, digit_rows):
    with pytest.raises(ParameterError, match="fit"):
        supervision.make(name).score(digit_rows[2][:2])


def test_unknown_names_and_parameters_are_refused():
    with pytest.raises(ParameterError, match=r"must be one of max-softmax.*mean knn\?"):
        supervision.make("knnn")
    with pytest.raises(ParameterError, match="parameters of dsa are"):
        supervision.make("dsa", share=0.3)
