"""Limits drawn into charts: a chart says on which of its axes a number stands."""

from collections.abc import Mapping, Sequence
from typing import Any

from fireassay.core import Chart, Evidence
from fireassay.core.drawing.axes import WIDTH, level
from fireassay.report.verdict import GateCheck


def with_limits(chart: Chart, part: Evidence, checks: Sequence[GateCheck]) -> Chart:
    """The chart with a line for each limit on a number that it shows.

    Parameters
    ----------
    chart
        Its ``usermeta.limits`` names numbers and their axes, e.g. ``{"pmi_upper": "y"}``.
    part
        Whose chart it is.
    checks
        Of a verdict.

    Returns
    -------
    Chart
        The same chart where no limit is on one of its numbers.

    >>> from fireassay.core import Estimate
    >>> from fireassay.core.drawing import axis, curves
    >>> from fireassay.report import Report
    >>> error = Estimate(0.04, 0.02, 0.06, 0.95, 100, "Clopper-Pearson")
    >>> found = Evidence("accuracy", "Right on 96 %.", estimates={"error": error})
    >>> spec = curves({"error": ([1, 2], [0.1, 0.2])}, {"axis": axis("n")}, {"axis": axis("")})
    >>> chart = Chart({**spec, "usermeta": {"limits": {"error": "y"}}})
    >>> checks = Report([found]).verdict({"max": {"accuracy.error": 0.1}}).checks
    >>> drawn = with_limits(chart, found, checks).body["layer"]
    >>> drawn[-1]["data"]["values"]
    [{'at': 0.1, 'word': 'limit: at most 0.1'}]
    """
    axes: Mapping[str, Any] = chart.body.get("usermeta", {}).get("limits", {})
    lines = []
    for check in checks:
        question, _, name = check.gate.number.rpartition(".")
        if name not in axes or question not in ("", part.question):
            continue
        value = part.measure(name).shown_value(check.gate.limit)
        word = f"limit: {'at most' if check.gate.direction == 'max' else 'at least'} {value}"
        width = chart.body.get("width", WIDTH)
        lines += level(axes[name], check.gate.limit, word, width, limit=True)
    if not lines:
        return chart
    body = {**chart.body, "layer": [*chart.body["layer"], *lines]}
    return Chart(body, chart.caption, chart.alternative)
