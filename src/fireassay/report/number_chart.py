"""The numbers of a part on one axis: shares with their intervals, by what they are called."""

from fireassay.core import Chart, Evidence
from fireassay.core.drawing import IntervalRow, intervals

_MOST = 20


def numbers_chart(part: Evidence) -> Chart | None:
    """Every share of a part as a dot with its interval; None if it has none.

    Parameters
    ----------
    part
        What a part found.

    Returns
    -------
    Chart or None

    >>> from fireassay.core import Estimate
    >>> share = Estimate(0.9, 0.8, 0.95, confidence=0.95, n=50, method="Clopper-Pearson")
    >>> found = Evidence("accuracy", "Right on nine of ten.", estimates={"accuracy": share})
    >>> numbers_chart(found).body["data"]["values"][0]["text"]
    '0.90 [0.80, 0.95]'
    """
    rows = []
    for name, estimate in part.estimates.items():
        measure = part.measure(name)
        if 0.0 <= estimate.low <= estimate.high <= 1.0 and 0.0 <= estimate.value <= 1.0:
            known = estimate.kind == "interval"
            rows.append(
                IntervalRow(
                    measure.label,
                    estimate.value,
                    estimate.low if known else None,
                    estimate.high if known else None,
                    text=measure.shown(estimate),
                )
            )
    if not rows:
        return None
    return Chart(
        intervals(rows[:_MOST], domain=(0.0, 1.0), width=260),
        "Shares with their intervals.",
        f"A dot with an interval for each number of {part.question}.",
    )
