"""Evidence of a single part; `Curation.answer` puts the parts together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fireassay.core.estimate import Estimate
from fireassay.core.evidence import Claim, Evidence, Table

if TYPE_CHECKING:
    import pandas as pd

LIMITS = (
    (
        "The order tells which samples are hard for the labelling functions, which need not be "
        "those that are hard for a classifier."
    ),
    (
        "The interval of a weak label is a score to order by, not a confidence interval: how often "
        "it holds the true probability depends on the labelling functions."
    ),
)


def lone_evidence(
    text: str, holds: bool | None, estimates: Mapping[str, Estimate], frame: "pd.DataFrame"
) -> Evidence:
    """One finding with its numbers and its table."""
    return Evidence(
        question="curation",
        headline=text,
        claims=(Claim(text, holds),),
        estimates=estimates,
        tables={"table": Table.from_frame(frame, index=False)},
        limits=LIMITS,
    )
