"""Accelerated failure time models."""

import by_hand
from race import Race, rival

_RIGHT, _INTERVAL = "100,000 × 20, right-censored", "100,000 × 20, interval-censored"


def _names():
    from survival import COLUMNS

    return [f"x{i}" for i in range(COLUMNS)]


def _frame(kind: str, quick: bool):
    from survival import simulated

    return simulated(rows=5_000 if quick else 100_000)[kind]


def _lifelines(family: str, kind: str, quick: bool) -> Race:
    import lifelines

    from fireassay import survival

    frame, names = _frame(kind, quick), _names()
    fitter, location = {
        "weibull": (lifelines.WeibullAFTFitter, "lambda_"),
        "lognormal": (lifelines.LogNormalAFTFitter, "mu_"),
        "loglogistic": (lifelines.LogLogisticAFTFitter, "alpha_"),
    }[family]

    def peer():
        if kind == "right":
            return fitter().fit(frame, "duration", "event")
        return fitter().fit_interval_censoring(frame, "lower", "upper")

    def agree(mine, theirs):
        other = theirs.params_[location]
        gap = max(abs(mine.coefficients["coef"][name] - other[name]) for name in names)
        gain = mine.log_likelihood - theirs.log_likelihood_
        return f"coefficients within {gap:.1e}, log-likelihood {gain:+.1e}"

    return Race(lambda: survival.fit(frame, family, names), peer, agree)


@rival("twenty-line Newton, Weibull", "survival", _RIGHT)
def _(quick: bool) -> Race:
    from fireassay import survival

    frame, names = _frame("right", quick), _names()

    def peer():
        arrays = (frame[part].to_numpy(dtype=float) for part in (names, "duration", "event"))
        return by_hand.weibull(*arrays)[0][1:]

    def agree(mine, theirs):
        gap = max(abs(mine.coefficients["coef"][n] - theirs[i]) for i, n in enumerate(names))
        return f"coefficients within {gap:.1e}; ours adds simultaneous intervals and checks"

    return Race(lambda: survival.fit(frame, "weibull", names), peer, agree)


for _name, _family, _kind, _work in (
    ("lifelines Weibull", "weibull", "right", _RIGHT),
    ("lifelines log-normal", "lognormal", "right", _RIGHT),
    ("lifelines log-logistic", "loglogistic", "right", _RIGHT),
    ("lifelines Weibull, intervals", "weibull", "interval", _INTERVAL),
):
    rival(_name, "survival", _work, target=10)(
        lambda quick, family=_family, kind=_kind: _lifelines(family, kind, quick)
    )
