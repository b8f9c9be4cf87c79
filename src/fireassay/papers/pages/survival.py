"""Meyers et al., TRASHFIRE: Table I, Figs. 1 to 4 and the claims on depth, epochs and cost."""

from dataclasses import replace
from statistics import NormalDist
from typing import Any

from fireassay.papers.pages.section import (
    Claim,
    Ladder,
    Results,
    Row,
    Section,
    grouped,
    not_run,
)
from fireassay.papers.pages.survival_fits import (
    fit_claims,
    fit_rows,
    likelihood_ladder,
    printed_claims,
)
from fireassay.papers.verdicts import NOT_RUN, PaperVerdict, above, decided, near, sign

ARCHIVE = "studies/survival_archive.py"
CAMPAIGN = "studies/survival_campaign.py"
_OTHER_TABLE = "961 rows of CIFAR-100 in their archive, not the pooled tens of thousands"
_FIG_1 = "Section VI-A, p. 7, Fig. 1"
_SAME = {
    "More epochs raise the failure rate.":
        "More epochs raise the failure rate, counted in queries.",
    "Noise on the output (Gauss-out) tends to do worse than no defence.":
        "Noise on the output does worse than no defence.",
}  # fmt: skip
"""Claims on their pooled fits that this product's campaign judges, too."""
_TRIALS = 9_936_000  # studies/survival_paper_grid.toml
_SHOWN = ("concordance", "test_concordance", "ici", "test_ici", "e50", "test_e50")


def section(results: Results) -> Section:
    """The section from the pooled fits, the archived table and the stored campaign."""
    archive = results("survival_archive")
    campaign = results("survival_cifar10")
    pooled = results("authors_archives").get("survival", {})
    rows: list[Row] = []
    details: list[Row] = []
    ladders: list[Ladder] = []
    if archive and pooled:
        rows += fit_rows(pooled, archive["printed"])
        ladders.append(likelihood_ladder(pooled, archive))
    if archive:
        details = [family_row(name, archive) for name in archive["printed"]]
        rows.append(grouped("Table I", details))
        rows += figure_rows(archive)
    else:
        rows.append(not_run("Table I", "six families", ARCHIVE, "six rows"))
    told = [*fit_claims(pooled), *printed_claims(archive["printed"], pooled)] if rows[1:] else []
    ours = {claim.text: claim for claim in campaign_claims(campaign)}
    claims = [
        replace(claim, also=ours.pop(same).verdict)
        if (same := _SAME.get(claim.text, claim.text)) in ours else claim
        for claim in told
    ]  # fmt: skip
    claims += archive_claims(archive) if archive else []
    claims += ours.values()
    cpu, clock = float(archive.get("cpu_seconds", 0.0)), float(campaign.get("task_seconds", 0.0))
    return Section(
        "Meyers et al., TRASHFIRE (survival)", rows, claims, cpu, clock,
        (_OTHER_TABLE, campaign_setting(campaign)), ladders, price(campaign), details,
    )  # fmt: skip


def price(campaign: dict[str, Any]) -> str:
    """The whole grid of the paper at the pace of our narrow networks."""
    if not campaign:
        return ""
    pace = campaign["task_seconds"] / campaign["trials"]
    return (
        f"{_TRIALS * pace / 3600:,.0f} hours for {_TRIALS:,} trials at {pace:.1f} seconds, more at "
        "full width"
    )


def family_row(name: str, archive: dict[str, Any]) -> Row:
    """Scores of one family beside the printed ones; the farthest decides."""
    ours, theirs = archive["families"][name], archive["printed"][name]
    both = [s for s in _SHOWN if theirs[s] is not None and ours[s] is not None]
    far = max(both, key=lambda s: abs(ours[s] - theirs[s]))
    verdict = near(ours[far], theirs[far], 0.02, (ours[far], ours[far]), _OTHER_TABLE)
    shown = ("aic", "bic", *_SHOWN)
    return Row(
        f"Table I, {name}", "AIC / BIC / concordance, test / ICI, test / E50, test", ARCHIVE,
        " / ".join(_number(theirs[s]) for s in shown), " / ".join(_number(ours[s]) for s in shown),
        PaperVerdict(verdict.finding, f"farthest {far} {verdict.because}", verdict.differs),
    )  # fmt: skip


def figure_rows(archive: dict[str, Any]) -> list[Row]:
    """Figs. 1 to 4 as drawn from the archive."""
    ours = archive["families"]
    best = min(("exponential", "weibull", "lognormal", "loglogistic", "gengamma"),
               key=lambda name: ours[name]["test_ici"])  # fmt: skip
    cost = archive["cost"]
    accuracy = {a: row["adv_accuracy"] for a, row in archive["by_attack"].items()}
    low, high = min(accuracy.values()), max(accuracy.values())
    names = [f"papers/survival_fig_{number}.svg" for number in (1, 2, 4)]
    return [
        Row("Fig. 1", "accuracy and failure rate by attack", ARCHIVE,
            "attacks more or less equally effective", f"{archive['rows']} rows",
            decided(high - low <= 0.05, f"mean adversarial accuracy {low:.3f} to {high:.3f}",
                    _OTHER_TABLE), names[0]),
        Row("Fig. 2", "quantiles of each family", ARCHIVE, "Weibull fits best (ICI)",
            f"smallest test ICI: {best} {ours[best]['test_ici']:.4f}, weibull "
            f"{ours['weibull']['test_ici']:.4f}",
            decided(best == "weibull", f"{best} is nearer", _OTHER_TABLE), names[1]),
        Row("Fig. 3, 961 rows", "effects on the time to failure", ARCHIVE, "layers lengthen it",
            "layers beside query and training time, intervals for all effects at once",
            simultaneous(archive["effects"], "layers"), "papers/survival_fig_3.svg"),
        Row("Fig. 4", "cost ratio", ARCHIVE, "ResNet-18 tends to do better than -50 and -152",
            f"{len(cost)} pairs of attack and model", small_is_better(cost), names[2]),
    ]  # fmt: skip


def simultaneous(effects: dict[str, Any], name: str) -> PaperVerdict:
    """Sign of one of several effects, by Bonferroni's interval for all of them."""
    row = effects[name]
    error = (row["high"] - row["low"]) / (2 * NormalDist().inv_cdf(0.975))
    arm = NormalDist().inv_cdf(1 - 0.025 / len(effects)) * error
    return sign(row["coef"], (row["coef"] - arm, row["coef"] + arm), True, _OTHER_TABLE)


def archive_claims(archive: dict[str, Any]) -> list[Claim]:
    """What the authors' archived table of one data set says of their claim on cost."""
    white = {
        f"{r['attack']} on {r['model']}": (r["ratio"], r["low"], r["high"])
        for r in archive["cost"]
        if r["attack"] in ("FGM", "PGD")
    }
    return [
        Claim("Every configuration does badly against FGM and PGD (ratio > 1: broken).",
              "Sections IV and VI-D, p. 9, Fig. 4", above(white, 1.0, _OTHER_TABLE),
              {"differs": "Against FGM, yes; on these rows ten steps of PGD on deep models cost "
                          "more than their training per sample."}),
    ]  # fmt: skip


def campaign_setting(campaign: dict[str, Any]) -> str:
    """Images, networks and trials of this product's campaign; empty without one."""
    if not campaign:
        return ""
    depths = len({row[0] for row in campaign["models"]["data"]})
    right = clean_accuracies(campaign["accuracy"])["none"][0]
    return (
        f"`studies/survival_cifar10.py`, {campaign['data']} (theirs 64), {campaign['trials']:,} "
        f"trials, {depths} depths, models right on {right:.2f} of clean images"
    )


def campaign_claims(campaign: dict[str, Any]) -> list[Claim]:
    """Claims on defences and depth, from this product's campaign on other images."""
    if not campaign:
        return [
            Claim("No defence consistently outperforms the undefended model.", _FIG_1, NOT_RUN, {})
        ]
    rows = dict(zip(campaign["effects"]["index"], campaign["effects"]["data"], strict=True))
    columns = campaign["effects"]["columns"]
    at = {name: columns.index(name) for name in ("coef", "low", "high")}
    differs = campaign_setting(campaign)
    better = {
        name[8:-1]: tuple(row[at[k]] for k in ("coef", "low", "high"))
        for name, row in rows.items()
        if name.startswith("defence[")
    }
    lasting = [name for name, (_, low, _) in better.items() if low > 0]
    winners = [
        "{} {:+.2f} [{:.2f}, {:.2f}] of log time".format(name, *better[name]) for name in lasting
    ]
    found = []
    told = ", ".join(winners) or f"none of {len(better)} lengthens survival beyond chance"
    found.append(
        Claim(
            "No defence consistently outperforms the undefended model.",
            _FIG_1,
            decided(not winners, told, differs),
            {
                "differs": f"{', '.join(lasting)} did lengthen survival here"
                + ("; conf withholds clean answers, too." if "conf" in lasting else ".")
            },
        )
    )
    found.append(
        Claim(
            "… in accuracy on clean inputs either.",
            _FIG_1,
            clean(campaign["accuracy"], differs),
            {},
        )
    )
    for name, text, where, positive in (
        ("defence[gauss-out]", "Noise on the output does worse than no defence.",
         "Section VI-D, p. 9, Fig. 4 left", False),
        ("epochs", "More epochs raise the failure rate, counted in queries.",
         "Section VI-C, p. 9, Fig. 3", False),
    ):  # fmt: skip
        if name in rows:
            c, low, high = (rows[name][at[k]] for k in ("coef", "low", "high"))
            found.append(Claim(text, where, sign(c, (low, high), positive, differs), {}))
    return found


def clean_accuracies(accuracy: dict[str, Any]) -> dict[str, list[float]]:
    """Share of clean inputs that are answered rightly, with its interval, by defence."""
    at = [accuracy["columns"].index(f"benign_accuracy{end}") for end in ("", "_low", "_high")]
    name = accuracy["columns"].index("defence")
    return {row[name]: [row[i] for i in at] for row in accuracy["data"]}


def clean(accuracy: dict[str, Any], differs: str) -> PaperVerdict:
    """Whether a defence has an interval of clean accuracy above that of the undefended model."""
    rows = clean_accuracies(accuracy)
    control = rows.pop("none")
    best = max(rows, key=lambda defence: float(rows[defence][1]))
    told = ", ".join(
        f"{defence} {value:.2f} [{low:.2f}, {high:.2f}]"
        for defence, (value, low, high) in ((best, rows[best]), ("none", control))
    )
    return decided(rows[best][1] <= control[2], told, differs)


def small_is_better(cost: list[dict[str, Any]]) -> PaperVerdict:
    """Attacks and deeper models against which ResNet-18 has the smaller ratio beyond chance."""
    won, lost = [], []
    for attack in dict.fromkeys(r["attack"] for r in cost):
        own = {r["model"]: r for r in cost if r["attack"] == attack}
        for rival in ("ResNet50", "ResNet152"):
            if own["ResNet18"]["high"] < own[rival]["low"]:
                won.append(f"{attack} {rival}")
            elif own[rival]["high"] < own["ResNet18"]["low"]:
                r = own[rival]
                lost.append(f"{attack} {rival} {r['ratio']:.3g} [{r['low']:.3g}, {r['high']:.3g}]")
    told = f"smaller in {len(won)}, larger in {len(lost)} of 12"
    told += f" (e.g. {lost[0]})" if lost else ""
    return decided(None if len(won) == len(lost) else len(won) > len(lost), told, _OTHER_TABLE)


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return (
        f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"
    )
