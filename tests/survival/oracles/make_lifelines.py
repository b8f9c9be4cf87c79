"""Write lifelines.json: data sets that ship with lifelines, and what lifelines 0.30.3 says on them.

Run in an environment of its own (lifelines needs pandas < 3):

    python -m venv peers && peers/bin/pip install lifelines==0.30.3
    peers/bin/python tests/survival/oracles/make_lifelines.py
"""

import json
import warnings
from pathlib import Path

import lifelines
import numpy as np
from lifelines.datasets import load_diabetes, load_lung
from lifelines.statistics import multivariate_logrank_test, proportional_hazard_test
from lifelines.utils import concordance_index, restricted_mean_survival_time

warnings.simplefilter("ignore")
FITTERS = {
    "weibull": lifelines.WeibullAFTFitter,
    "lognormal": lifelines.LogNormalAFTFitter,
    "loglogistic": lifelines.LogLogisticAFTFitter,
}


def aft(family, fitter):
    location = {"weibull": "lambda_", "lognormal": "mu_", "loglogistic": "alpha_"}[family]
    spread = {"weibull": "rho_", "lognormal": "sigma_", "loglogistic": "beta_"}[family]
    sign = 1.0 if family == "lognormal" else -1.0
    return {
        "coef": fitter.params_[location].to_dict(),
        "se": fitter.standard_errors_[location].to_dict(),
        "log_scale": float(sign * fitter.params_[spread].iloc[0]),
        "log_likelihood": float(fitter.log_likelihood_),
        "aic": float(fitter.AIC_),
        "concordance": float(fitter.concordance_index_)
        if fitter._censoring_type.value == "right"
        else None,
    }


def fit_intervals(fitter, frame):
    return fitter.fit_interval_censoring(frame, lower_bound_col="lower", upper_bound_col="upper")


def main():
    lung = load_lung()[["time", "status", "age", "sex", "ph.karno"]].dropna()
    lung.columns = ["duration", "event", "age", "sex", "karno"]
    lung["event"] = (lung["event"] > 0).astype(int)
    diabetes = load_diabetes()
    diabetes["male"] = (diabetes.pop("gender") == "male").astype(int)
    diabetes.columns = ["lower", "upper", "male"]
    # A lower end of 0 makes lifelines' log-normal gradient NaN; follow-up is cut at 20.
    diabetes["lower"] = diabetes["lower"].clip(lower=1e-3)
    late = diabetes["upper"] > 20
    diabetes.loc[late, "lower"] = diabetes.loc[late, "lower"].clip(upper=20.0)
    diabetes.loc[late, "upper"] = np.inf
    result = {
        "lifelines": lifelines.__version__,
        "lung": {"data": lung.to_dict("list")},
        "diabetes": {"data": diabetes.replace(np.inf, 1e99).to_dict("list")},
    }
    for family, kind in FITTERS.items():
        result["lung"][family] = aft(family, kind().fit(lung, "duration", "event"))
        result["diabetes"][family] = aft(family, fit_intervals(kind(), diabetes))
    gamma = lifelines.GeneralizedGammaFitter().fit(lung["duration"], lung["event"])
    result["lung"]["gengamma"] = {
        "mu": gamma.mu_,
        "log_sigma": gamma.ln_sigma_,
        "shape": gamma.lambda_,
        "log_likelihood": gamma.log_likelihood_,
    }
    cox = lifelines.CoxPHFitter().fit(lung, "duration", "event")
    robust = lifelines.CoxPHFitter().fit(
        lung.assign(cluster=np.arange(len(lung)) % 20), "duration", "event", cluster_col="cluster"
    )
    check = proportional_hazard_test(cox, lung, time_transform="rank")
    result["lung"]["cox"] = {
        "coef": cox.params_.to_dict(),
        "se": cox.standard_errors_.to_dict(),
        "cluster_se": robust.standard_errors_.to_dict(),
        "log_likelihood": cox.log_likelihood_,
        "concordance": cox.concordance_index_,
        "proportionality": dict(zip(check.name, check.test_statistic.tolist(), strict=True)),
        "survival_300": cox.predict_survival_function(lung.head(5), times=[300]).iloc[0].tolist(),
    }
    curve = lifelines.KaplanMeierFitter().fit(lung["duration"], lung["event"])
    at = [100, 300, 600]
    band = curve.confidence_interval_survival_function_
    value = restricted_mean_survival_time(curve, t=500)
    test = multivariate_logrank_test(lung["duration"], lung["sex"], lung["event"])
    result["lung"]["curve"] = {
        "times": at,
        "survival": [float(curve.predict(t)) for t in at],
        "low": [float(band.iloc[:, 0].asof(t)) for t in at],
        "high": [float(band.iloc[:, 1].asof(t)) for t in at],
        "median": float(curve.median_survival_time_),
        "rmst_500": float(value),
        "log_rank_sex": float(test.test_statistic),
    }
    rng = np.random.default_rng(9)
    middle, before, after = rng.exponential(10, 60), rng.random(60) * 4, rng.random(60) * 4
    lower, upper = np.maximum(middle - before, 0.0), middle + after
    curve = lifelines.KaplanMeierFitter().fit_interval_censoring(lower, upper, tol=1e-7)
    at = [2.0, 5.0, 9.0, 14.0, 25.0]
    estimate = curve.survival_function_
    result["turnbull"] = {
        "lower": lower.tolist(),
        "upper": upper.tolist(),
        "times": at,
        "survival": [sorted(float(estimate.iloc[:, j].asof(t)) for j in (0, 1)) for t in at],
    }
    rng = np.random.default_rng(5)
    durations = rng.integers(1, 40, 300)
    events, scores = rng.integers(0, 2, 300), rng.integers(0, 25, 300)
    result["concordance"] = {
        "duration": durations.tolist(),
        "event": events.tolist(),
        "score": scores.tolist(),
        "value": concordance_index(durations, scores, events),
    }
    path = Path(__file__).with_name("lifelines.json")
    path.write_text(json.dumps(result, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
