"""What survival numbers rest on, each with its id, said once."""

from __future__ import annotations

from fireassay.core.evidence import Assumption
from fireassay.core.lazy_modules import pd
from fireassay.core.percent import percent
from fireassay.statistics import share
from fireassay.survival.masked_gradients import GradientCheck

_HIDDEN_SHARE = 0.05

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


def gradients_not_masked(
    table: pd.DataFrame, confidence: float, check: GradientCheck | None = None
) -> Assumption | None:
    """Whether gradients lead to failures where there are any; None: they were not tried.

    Three signs against it, each counted if the lower end of its interval is above a twentieth: a
    search by score breaks what gradient attacks left standing; more steps, or a larger ball, leave
    standing what fewer steps, or a smaller ball, broke.
    """
    tried = table[(table["attack"] == "auto") & (table["gradient_queries"] > 0)]
    if tried.empty:
        return None
    by_search = int(tried["made_by"].isin(["square", "discrete"]).sum())
    left = by_search + int((~tried["success"]).sum())
    signs = [(by_search, left)]
    if check is not None:
        signs += [(check.lost_with_steps, check.fell), (check.lost_with_size, check.fell)]
    hidden = any(n and share(count, n, confidence).low > _HIDDEN_SHARE for count, n in signs)
    return Assumption(
        "Gradients are not masked: they lead to failures where there are any.",
        "contradicted" if hidden else "supported",
        f"Of {left} samples that gradient attacks left standing, a search by score broke "
        f"{by_search}.{'' if check is None else ' ' + check.words}",
        id="gradients-not-masked",
    )


def censored_times(censored_share: float) -> Assumption:
    """Whether there is anything that a survival model adds."""
    return Assumption(
        "Times are censored, not all observed: otherwise this is a regression of log time.",
        "supported" if censored_share > 0 else "contradicted",
        f"{percent(censored_share, 1)} of rows are right-censored.",
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
