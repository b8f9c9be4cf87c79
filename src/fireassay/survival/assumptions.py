"""What survival numbers rest on, each with its id, said once."""

from fireassay.core.evidence import Assumption

STRONGEST_ATTACKS = Assumption(
    "The attacks are the strongest an adversary would use.",
    "untestable",
    "Attacks bound survival from above: a better one can only be faster.",
    id="strongest-attacks",
)


def gradient_price(forward_queries: float) -> Assumption:
    """What a gradient costs an attacker, which times in forward-equivalents rest on."""
    return Assumption(
        f"One gradient query costs as much as {forward_queries:g} forward queries, besides its "
        "forward pass.",
        "untestable",
        "Forward and gradient queries are also given apart, in the table.",
        id="gradient-price",
    )


def censored_times(censored_share: float) -> Assumption:
    """Whether there is anything that a survival model adds."""
    return Assumption(
        "Times are censored, not all observed: otherwise this is a regression of log time.",
        "supported" if censored_share > 0 else "contradicted",
        f"{censored_share:.1%} of rows are right-censored.",
        id="censored-times",
    )


def independent_rows(groups: str | None, n_groups: int) -> Assumption:
    """Whether rows that belong together were kept together."""
    return Assumption(
        "Rows of one group may depend on each other, groups may not.",
        "untestable" if groups else "contradicted",
        f"{n_groups} groups by '{groups}'."
        if groups
        else "No column of groups was given: every row counts as independent.",
        id="independent-rows",
    )
