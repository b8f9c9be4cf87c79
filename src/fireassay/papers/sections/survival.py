"""Meyers et al., TRASHFIRE: Table I, Figs. 1 to 4 and the claims on depth, epochs and cost."""

from typing import Any

from fireassay.papers.sections.section import Claim, Results, Row, Section, not_run
from fireassay.papers.verdicts import NOT_RUN, PaperVerdict, above, decided, near, never, sign

ARCHIVE = "studies/survival_archive.py"
CAMPAIGN = "studies/survival_campaign.py"
_OTHER_TABLE = "their CIFAR-100 archive; Table I is of CIFAR-10"
_NESTED = {"exponential": "weibull", "weibull": "gengamma", "lognormal": "gengamma"}
_SHOWN = ("concordance", "test_concordance", "ici", "test_ici", "e50", "test_e50")


def section(results: Results) -> Section:
    """The section from the archived table and the stored campaign."""
    archive = results("survival_archive")
    campaign = results("survival_cifar10")
    rows: list[Row] = []
    if archive:
        rows += [family_row(name, archive) for name in archive["printed"]]
        rows.append(likelihood_row(archive))
        rows += figure_rows(archive)
    else:
        rows.append(not_run("Table I", "six families", ARCHIVE, "six rows"))
    claims = archive_claims(archive) if archive else []
    claims += campaign_claims(campaign)
    cpu, clock = float(archive.get("cpu_seconds", 0.0)), float(campaign.get("task_seconds", 0.0))
    settings = (_OTHER_TABLE, campaign_setting(campaign))
    return Section("Meyers et al., TRASHFIRE (survival)", rows, claims, cpu, clock, settings)


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
        PaperVerdict(verdict.word, f"farthest {far} {verdict.because}"),
    )  # fmt: skip


def likelihood_row(archive: dict[str, Any]) -> Row:
    """Printed AIC against what maximum likelihood allows: a larger family cannot fit worse."""
    printed = archive["printed"]
    wrong = []
    for small, large in _NESTED.items():
        a, b = printed[small]["aic"], printed[large]["aic"]
        if a is not None and b is not None and b > a + 2:
            wrong.append(f"{large} {b:,.0f} above {small} {a:,.0f} + 2, which it contains")
    wrong += [
        f"{name}: BIC equals AIC, which needs e² = 7.4 rows"
        for name, row in printed.items()
        if row["aic"] is not None and row["aic"] == row["bic"]
    ]
    return Row(
        "Table I, AIC and BIC", "maximum likelihood never fits a larger family worse", ARCHIVE,
        "exponential smallest", _ranks(archive["families"]), never(wrong, 2 * len(_NESTED)),
    )  # fmt: skip


def figure_rows(archive: dict[str, Any]) -> list[Row]:
    """Figs. 1 to 4 as drawn from the archive."""
    ours = archive["families"]
    best = min(("exponential", "weibull", "lognormal", "loglogistic", "gengamma"),
               key=lambda name: ours[name]["test_ici"])  # fmt: skip
    cost = archive["cost"]
    accuracy = {a: row["adv_accuracy"] for a, row in archive["by_attack"].items()}
    low, high = min(accuracy.values()), max(accuracy.values())
    names = ("papers/survival_fig_1.svg", "papers/survival_fig_2.svg",
             "papers/survival_fig_3.svg", "papers/survival_fig_4.svg")  # fmt: skip
    return [
        Row("Fig. 1", "accuracy and failure rate by attack", ARCHIVE,
            "attacks more or less equally effective", f"{archive['rows']} rows",
            decided(high - low <= 0.05, f"mean adversarial accuracy {low:.3f} to {high:.3f}",
                    _OTHER_TABLE), names[0]),
        Row("Fig. 2", "quantiles of each family", ARCHIVE, "Weibull fits best (ICI)",
            f"smallest test ICI: {best} {ours[best]['test_ici']:.4f}, weibull "
            f"{ours['weibull']['test_ici']:.4f}",
            decided(best == "weibull", f"{best} is nearer", _OTHER_TABLE), names[1]),
        Row("Fig. 3", "effects on the time to failure", ARCHIVE, "layers lengthen it",
            _effect(archive["effects"], "layers"),
            _sign(archive["effects"], "layers", positive=True), names[2]),
        Row("Fig. 4", "cost ratio", ARCHIVE, "ResNet-18 tends to do better than -50 and -152",
            f"{len(cost)} pairs of attack and model", small_is_better(cost), names[3]),
    ]  # fmt: skip


def archive_claims(archive: dict[str, Any]) -> list[Claim]:
    """Claims that the authors' own table decides."""
    effects, alone = archive["effects"], archive["without_query_time"]
    ratios = {
        f"{r['attack']} on {r['model']}": (r["ratio"], r["low"], r["high"]) for r in archive["cost"]
    }
    white = {n: v for n, v in ratios.items() if n.startswith(("FGM", "PGD"))}
    return [
        Claim("What is counted as a failure is a failure under attack.",
              caused(archive),
              {"refuted": "Errors that were there before the attack are counted as its success: "
                          "their survival times are run times."}),
        Claim("Deeper models survive longer …", _sign(alone, "layers", positive=True),
              {"reproduced": "In seconds, yes."}),
        Claim("… because a query takes longer, not because they are more robust.",
              latency(effects), {}),
        Claim("More epochs shorten survival.", _sign(effects, "epochs", positive=False),
              {"not decided": "Their table does not show it once models are taken as clusters."}),
        Claim("More accuracy shortens survival.", _sign(effects, "accuracy", positive=False),
              {"not decided": "Their table does not show it."}),
        Claim("Training time has no general relation to survival.",
              decided(not _apart(effects, "train_time"), _effect(effects, "train_time")),
              {"refuted": "Models that were trained longer were attacked longer."}),
        Claim("Every model is broken: training costs more than an attack (ratio > 1).",
              above(ratios, 1.0),
              {"refuted": "Only the one-step attack is cheaper than training everywhere; the "
                          "searches (HopSkipJump, Pixel, Threshold) cost hundreds of times more."}),
        Claim("… at least against FGM and PGD.", above(white, 1.0),
              {"refuted": "Against FGM, yes; ten steps of PGD on the deep models cost more than "
                          "their training per sample."}),
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
        return [Claim("No defence consistently outperforms the undefended model.", NOT_RUN, {})]
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
            decided(not winners, told, differs),
            {
                "other setting": f"{', '.join(lasting)} did lengthen survival here"
                + ("; conf withholds clean answers, too." if "conf" in lasting else ".")
                if lasting
                else "So here."
            },
        )
    )
    found.append(
        Claim("… in accuracy on clean inputs either.", clean(campaign["accuracy"], differs), {})
    )
    for name, text, positive in (
        ("defence[gauss-out]", "Noise on the output does worse than no defence.", False),
        ("layers", "Depth adds robustness per query.", True),
        ("epochs", "More epochs shorten survival, counted in queries.", False),
    ):
        if name in rows:
            c, low, high = (rows[name][at[k]] for k in ("coef", "low", "high"))
            found.append(Claim(text, sign(c, (low, high), positive, differs), {}))
    cost = campaign["cost"]
    place = {n: cost["columns"].index(n) for n in ("model", "defence", "trash", "low", "high")}
    ratios = {
        f"{r[place['model']]} behind {r[place['defence']]}": tuple(
            r[place[n]] for n in ("trash", "low", "high")
        )
        for r in cost["data"]
        if r[place["low"]] is not None and r[place["high"]] is not None
    }
    if ratios:
        found.append(
            Claim(
                "Every model is broken (ratio > 1), counted over all attacks.",
                above(ratios, 1.0, differs),
                {},
            )
        )
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


def caused(archive: dict[str, Any]) -> PaperVerdict:
    """Experiments with errors in which no prediction had changed."""
    unchanged, rows = archive["unchanged"], archive["rows"]
    told = f"in {unchanged} of {rows} rows no prediction changed; {archive['censored']} censored"
    return decided(unchanged == 0, told)


def latency(effects: dict[str, Any]) -> PaperVerdict:
    """With the query time in the model, layers should add nothing and the query time should."""
    if "predict_time" not in effects:
        return NOT_RUN
    time, layers = effects["predict_time"], effects["layers"]
    told = f"query time {_effect(effects, 'predict_time')}, layers {_effect(effects, 'layers')}"
    if layers["low"] > 0 or time["high"] < 0:
        return decided(False, told)
    return decided(True if time["low"] > 0 else None, told)


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


def _sign(effects: dict[str, Any], name: str, positive: bool) -> PaperVerdict:
    if name not in effects:
        return NOT_RUN
    row = effects[name]
    return sign(row["coef"], (row["low"], row["high"]), positive)


def _apart(effects: dict[str, Any], name: str) -> bool:
    row = effects[name]
    return bool(row["low"] > 0 or row["high"] < 0)


def _effect(effects: dict[str, Any], name: str) -> str:
    row = effects[name]
    return f"{row['coef']:+.3g} [{row['low']:.3g}, {row['high']:.3g}] of log time"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return (
        f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2g}" if value < 0.1 else f"{value:.2f}"
    )


def _ranks(families: dict[str, Any]) -> str:
    known = {n: r["aic"] for n, r in families.items() if r["aic"] is not None}
    return ", ".join(f"{n} {known[n]:,.0f}" for n in sorted(known, key=lambda n: known[n]))
