"""TRASHFIRE's own pooled fits: coefficients, the table of scores, and what they say."""

import math
from typing import Any

from fireassay.papers.pages.section import Claim, Ladder, Row, as_printed
from fireassay.papers.verdicts import PaperVerdict, decided, equal_cells, sign

COMMAND = "studies/authors_archives.py"
_FIG_3 = "Section VI-C, p. 9, Fig. 3"
_Z = 1.959964
_SCORES = {"aic": "AIC", "bic": "BIC", "concordance": "Concordance",
           "test_concordance": "Test Concordance", "ici": "ICI", "test_ici": "Test ICI",
           "e50": "E50", "test_e50": "Test E50"}  # fmt: skip
_NAMES = {"gengamma": "gamma", "loglogistic": "log logistic", "lognormal": "log normal"}
_DEPTHS = (18, 152)
_DIGIT = 0.005


def fit_rows(pooled: dict[str, Any], printed: dict[str, Any]) -> list[Row]:
    """Fig. 3 and Table I beside the files of their repository."""
    told = ", ".join(
        f"{name} {own['model_layers'][0]:+.4f}" for name, own in pooled["fits"].items()
    )
    return [
        Row("Fig. 3", "layers lengthen the time to failure", COMMAND, "positive", told,
            every_family(pooled)),
        Row("Table I", "all families, beside the table in their repository", COMMAND,
            "as printed", "published_comparison.csv, rounded alike", scores(pooled, printed)),
        Row("Table I, BIC", "BIC = AIC + k (ln n - 2)", COMMAND, "BIC equals AIC",
            "differs from AIC unless n = e² = 7.4 rows", same_criteria(pooled)),
    ]  # fmt: skip


def every_family(pooled: dict[str, Any]) -> PaperVerdict:
    """Whether layers lengthen survival beyond chance in every fit; a hazard has the other sign."""
    ends = {
        family: (-1 if family == "cox" else 1) * own["model_layers"][0]
        - _Z * own["model_layers"][1]
        for family, own in pooled["fits"].items()
    }
    longer = sum(low > 0 for low in ends.values())
    return decided(longer == len(ends), f"in {longer} of {len(ends)} families beyond chance")


def scores(pooled: dict[str, Any], printed: dict[str, Any]) -> PaperVerdict:
    """Printed cells against those of the repository, to the printed digits."""
    ours, theirs, names = [], [], []
    for family, row in printed.items():
        stored = pooled["scores"][_NAMES.get(family, family)]
        for key, name in _SCORES.items():
            if row[key] is not None and stored[name] is not None:
                digits = "{:.3g}" if key in ("aic", "bic") else "{:.2f}"
                ours.append(digits.format(stored[name]))
                theirs.append(digits.format(row[key]))
                names.append(f"{family}, {name}")
    verdict = equal_cells(ours, theirs, names)
    at = names.index("weibull, Test ICI")
    told = f"{verdict.because}; Weibull's test ICI {ours[at]}, printed {theirs[at]}"
    return PaperVerdict(verdict.finding, told)


def same_criteria(pooled: dict[str, Any]) -> PaperVerdict:
    """Families whose BIC equals AIC in the repository's own table."""
    both = {n: (r["AIC"], r["BIC"]) for n, r in pooled["scores"].items() if r["AIC"] is not None}
    same = [name for name, (aic, bic) in both.items() if aic == bic]
    return decided(not same, f"equal to two decimals in {len(same)} of {len(both)} families")


def effect(pooled: dict[str, Any], name: str, positive: bool) -> PaperVerdict:
    """Sign of a coefficient of the Weibull fit, by its own standard error."""
    value, error = pooled["fits"]["weibull"][name]
    return sign(value, (value - _Z * error, value + _Z * error), positive)


def fit_claims(pooled: dict[str, Any]) -> list[Claim]:
    """What they say of Fig. 3, beside the coefficients that it draws."""
    independent = "By their standard errors, which take trials of one model as independent."
    return [
        Claim("Deeper models survive longer …", "Section VI-B, p. 8",
              effect(pooled, "model_layers", positive=True), {"agrees": independent}),
        Claim("… which is driven more by the query time than by the layers.",
              "Sections VI-B and VI-C, p. 8 f.", latency(pooled),
              {"open": "The ranges of both are not published, so their shares cannot be told."}),
        Claim("More epochs raise the failure rate.", _FIG_3,
              effect(pooled, "Epochs", positive=False), {"agrees": independent}),
        Claim("More accuracy goes with shorter survival.", _FIG_3,
              effect(pooled, "accuracy", positive=False),
              {"open": "Their own interval holds 0."}),
        Claim("Training time has no general relation to survival.", _FIG_3, scale(pooled),
              {"open": "They argue by the scale of the coefficient; the interval excludes 0."}),
        Claim("Noise on the output (Gauss-out) tends to do worse than no defence.",
              "Section VI-D, p. 9, Fig. 4 left", noise(pooled),
              {"open": "They speak of the ratio in Fig. 4, whose numbers are not published; their "
                       "coefficients of survival point the other way."}),
    ]  # fmt: skip


def printed_claims(printed: dict[str, Any], pooled: dict[str, Any]) -> list[Claim]:
    """What they say of Table I beside Table I itself, and beside the file of their repository."""
    aic = sorted((row["aic"], name) for name, row in printed.items() if row["aic"] is not None)
    order = [name for _, name in aic]
    first_two = set(order[:2]) == {"loglogistic", "exponential"}
    gaps = {n: abs(row["concordance"] - row["test_concordance"]) for n, row in printed.items()
            if row["test_concordance"] is not None}  # fmt: skip
    apart = [f"{name} {gap:.2f}" for name, gap in gaps.items() if gap > _DIGIT]
    weibull = printed["weibull"]
    filed = pooled["scores"]
    better = [
        name for name, row in printed.items() for key in ("ici", "test_ici", "e50", "test_e50")
        if row[key] is not None and row[key] < weibull[key]
    ]  # fmt: skip
    return [
        Claim("Log-logistic and exponential are the best two by AIC and BIC.",
              "Section VI-B, p. 7, Table I",
              as_printed(decided(first_two, "AIC " + ", ".join(
                  f"{name} {value:,.0f}" for value, name in aic))), {}),
        Claim("Concordance is identical on training and test rows.", "Section VI-B, p. 7, Table I",
              as_printed(decided(not apart, f"{len(gaps) - len(apart)} of {len(gaps)} identical; "
                                 + (", ".join(apart) or "none") + " apart")), {}),
        Claim("ICI and E50 are best for Weibull, on training and test rows.",
              "Section VI-B, p. 7, Table I",
              as_printed(decided(not better, f"smaller in no other family; in their file its test "
                                 f"ICI is {filed['weibull']['Test ICI']:.2f}, log-logistic's "
                                 f"{filed['log logistic']['Test ICI']:.2f}")),
              {"agrees": "By the printed table. By the file of their repository log-logistic is "
                         "better on test rows."}),
        Claim("No defence consistently outperforms the undefended model.",
              "Section VI-A, p. 7, Fig. 1", no_defence(pooled), {}),
    ]  # fmt: skip


def no_defence(pooled: dict[str, Any]) -> PaperVerdict:
    """Each defence minus the control: beyond chance in every family would be consistent."""
    told, winners = [], []
    for name in ("Gauss-in", "Gauss-out", "Conf", "FSQ"):
        lows = []
        for family, own in pooled["fits"].items():
            turn = -1 if family == "cox" else 1
            value, error = own[f"Def: {name}"]
            base, other = own["Def: Control"]
            lows.append(turn * (value - base) - _Z * math.hypot(error, other))
        won = sum(low > 0 for low in lows)
        told.append(f"{name} in {won} of {len(lows)}")
        winners += [name] if won == len(lows) else []
    return decided(not winners, f"longer survival beyond chance by family: {', '.join(told)}")


def latency(pooled: dict[str, Any]) -> PaperVerdict:
    """Both effects in one fit: neither makes the other vanish."""
    fit = pooled["fits"]["weibull"]
    layers, time = fit["model_layers"], fit["predict_time"]
    times = math.exp(layers[0] * (_DEPTHS[1] - _DEPTHS[0]))
    told = (
        f"in one fit {_told(*time)} a second of query time and {_told(*layers)} a layer "
        f"(× {times:.1f} from {_DEPTHS[0]} to {_DEPTHS[1]} layers)"
    )
    vanishes = layers[0] - _Z * layers[1] <= 0
    return decided(True if vanishes else None, told)


def scale(pooled: dict[str, Any]) -> PaperVerdict:
    """The effect of an hour of training."""
    value, error = pooled["fits"]["weibull"]["train_time"]
    held = None if abs(value) > _Z * error else True
    return decided(held, f"{_told(3600 * value, 3600 * error)} an hour of training")


def noise(pooled: dict[str, Any]) -> PaperVerdict:
    """Gauss-out minus control in each family, so that positive means longer survival."""
    gaps = {}
    for family, own in pooled["fits"].items():
        turn = -1 if family == "cox" else 1
        noisy, control = own["Def: Gauss-out"], own["Def: Control"]
        gaps[family] = (turn * (noisy[0] - control[0]), math.hypot(noisy[1], control[1]))
    longer = sum(value > 0 for value, _ in gaps.values())
    weibull = pooled["fits"]["weibull"]
    told = (
        f"Weibull {weibull['Def: Gauss-out'][0]:+.3f} against {weibull['Def: Control'][0]:+.3f}, "
        f"difference {_told(*gaps['weibull'])}; longer survival in {longer} of {len(gaps)} families"
    )
    return decided(None if longer else True, told)


def likelihood_ladder(pooled: dict[str, Any], archive: dict[str, Any]) -> Ladder:
    """Which family AIC prefers, and why the printed order is no contradiction."""
    known = {n: r["aic"] for n, r in archive["families"].items() if r["aic"] is not None}
    order = sorted(known, key=lambda name: known[name])
    rates = pooled["rates of the exponential"]
    possible = f"possible: theirs is piecewise with {rates} rates, which Weibull does not contain"
    return Ladder(
        "Table I, AIC",
        (
            "exponential smallest as printed",
            possible,
            "with one rate, on 961 archived rows: "
            + ", ".join(f"{name} {known[name]:,.0f}" for name in order),
        ),
    )


def _told(value: float, error: float) -> str:
    return f"{value:+.3g} [{value - _Z * error:.3g}, {value + _Z * error:.3g}]"


def coefficient_table(pooled: dict[str, Any]) -> list[str]:
    """Coefficients of their pooled fits with standard errors, as Fig. 3 draws them."""
    if not pooled:
        return []
    fits = pooled["fits"]
    names = next(iter(fits.values()))
    return [
        "", "## Meyers et al., coefficients of their pooled fits (Fig. 3)", "",
        "± standard error, in the files of their repository: log time, of cox log hazard.", "",
        f"| covariate | {' | '.join(fits)} |", "|---" * (len(fits) + 1) + "|",
        *(
            f"| {name} | "
            + " | ".join("{:+.3g} ± {:.2g}".format(*own[name]) for own in fits.values())
            + " |"
            for name in names
        ),
    ]  # fmt: skip
