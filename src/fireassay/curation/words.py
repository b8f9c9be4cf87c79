"""Findings in words for readers who know the patients, not the statistics."""

from fireassay.curation.validation import Trend

_PAPER_RULE = "the rule of the published method (rank correlation over the nested sets)"


def trend_in_words(trend: Trend) -> str:
    """What the calibrated test says, and what to think when the published rule disagrees."""
    said = _verdict_sentence(trend)
    if trend.agrees:
        return f"{said} {_capital(_PAPER_RULE)} says the same."
    return f"{said} {disagreement(trend)}"


def disagreement(trend: Trend) -> str:
    """Why the published rule and the calibrated test may differ, and which one to follow."""
    rule = _RULE_SAYS[trend.definition_3]
    if trend.definition_3 == "none":
        return (
            f"{_capital(_PAPER_RULE)} does not see this: it looks at {len(trend.sizes)} sets "
            "only, while the test above compares every right label with every wrong one. "
            "Follow the test."
        )
    if trend.verdict == "none":
        return (
            f"{_capital(_PAPER_RULE)} would have said that the labels {rule} "
            f"(rho {trend.rho:+.2f}, p = {trend.p_value:.3f}). Do not rely on that: each larger "
            "set contains all cases of the smaller ones, so the same cases are counted again and "
            "again, and about four in ten randomly shuffled lists pass that rule one way or the "
            "other. Counted once each, these cases do not show it. Treat the order as not proven."
        )
    return (
        f"{_capital(_PAPER_RULE)} says the opposite: the labels {rule} "
        f"(rho {trend.rho:+.2f}, p = {trend.p_value:.3f}). It counts the cases of the first sets "
        "again in every later one, so a few unusual cases at the start can turn it around. Follow "
        "the test that counts each case once, and look at the first set by hand."
    )


_RULE_SAYS = {
    "decreasing": "get less reliable from set to set, as hoped",
    "increasing": "get more reliable from set to set, the wrong way round",
    "none": "do not change from set to set",
}


def _verdict_sentence(trend: Trend) -> str:
    low, high = trend.auc_interval
    chance = f"{trend.auc:.0%} ({low:.0%} to {high:.0%})"
    if trend.verdict == "decreasing":
        return (
            "The cases at the end of the list are truly harder: take one correctly and one "
            f"wrongly labelled case, and in {chance} of such pairs the correct one stands earlier."
        )
    if trend.verdict == "increasing":
        return (
            "The list is the wrong way round: wrongly labelled cases stand before correct ones; "
            f"a correct label stands earlier in only {chance} of pairs. Do not use this order."
        )
    if trend.method.startswith("undefined"):
        return f"Nothing can be said about the order ({trend.method.removeprefix('undefined: ')})."
    return (
        "It is not shown that the cases at the end of the list are harder: of a correctly and a "
        f"wrongly labelled case the correct one stands earlier in {chance} of pairs, and 50% "
        "would be a coin toss."
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
