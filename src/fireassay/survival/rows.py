"""Observations as a frame, budget of an attack, and the assumptions of survival numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fireassay.core import Assumption, DataError, Result
from fireassay.core.arrays import IntArray, is_frame
from fireassay.core.lazy import pd
from fireassay.core.words import percent
from fireassay.statistics import share

if TYPE_CHECKING:
    from fireassay.survival.attacker_checks import GradientCheck


def as_frame(obs: Any) -> pd.DataFrame:
    """The observations as a frame."""
    if is_frame(obs):
        return obs
    if isinstance(obs, Result):
        return obs.frame()
    raise DataError(
        "Observations must be a data frame or the result of survival.observe.",
        got=type(obs).__name__,
    )


def group_codes(frame: pd.DataFrame, groups: str | None) -> IntArray | None:
    """Codes 0…G−1 of a column of groups, None without one."""
    if groups is None:
        return None
    _need_column(frame, groups, "column of groups")
    codes, levels = pd.factorize(frame[groups], sort=True)
    if (codes < 0).any():
        raise DataError(
            f"The column of groups '{groups}' must not have missing values.",
            got=f"{int((codes < 0).sum())} missing",
        )
    if len(levels) < 2:
        raise DataError(
            "Intervals between groups need at least two groups.",
            got=f"one: {levels[0]!r}",
            do="Observe more models, or leave out groups= and read the interval as "
            "conditional on this one model.",
        )
    return codes.astype(np.int64)


def _need_column(frame: pd.DataFrame, name: str, what: str) -> None:
    if name not in frame.columns:
        raise DataError(
            f"The {what} '{name}' must be in the observations.",
            got=", ".join(map(str, frame.columns)),
        )


def arms(
    frame: pd.DataFrame, by: str | Sequence[str] | None
) -> list[tuple[str, NDArray[np.int64]]]:
    """Names and row numbers of what is compared, in sorted order."""
    if by is None:
        return [("all", np.arange(len(frame)))]
    names = [by] if isinstance(by, str) else list(by)
    for name in names:
        _need_column(frame, name, "column")
    found = frame.groupby(names, sort=True, observed=True, dropna=False).indices
    return [
        (", ".join(map(str, key)) if isinstance(key, tuple) else str(key), np.asarray(index))
        for key, index in found.items()
    ]


def recoded(codes: IntArray | None, index: NDArray[np.int64]) -> IntArray | None:
    """Group codes of a part of the rows, again 0…G−1; None if only one is left."""
    if codes is None:
        return None
    _, again = np.unique(codes[index], return_inverse=True)
    return again.astype(np.int64) if again.max(initial=0) > 0 else None


BUDGET = 300  # forward-equivalent queries per sample and attack
GRADIENT_COST = 2.0  # a backward pass does about twice the work of a forward one
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
    """Whether gradients lead to failures where there are any; None: gradients were not tried."""
    # Three signs against it, each if its interval lies above a twentieth: a search by score breaks
    # what gradients left standing; more steps, or a larger ball, leave standing what fewer, or a
    # smaller one, broke.
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
