"""One number over time: a dot with its interval for each run, and its limit."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fireassay.core import Chart
from fireassay.core.drawing import axis, rounded
from fireassay.core.drawing.axes import WIDTH, Unit, level
from fireassay.core.errors import FireassayError
from fireassay.core.estimate import Estimate
from fireassay.core.measure import Measure

if TYPE_CHECKING:
    from fireassay.web.run_rows import RunRow
    from fireassay.web.workspace import Run

Numbers = dict[str, tuple[Measure, dict[Path, Estimate]]]


def trend_numbers(folders: Sequence[Path]) -> Numbers:
    """The numbers of some runs: what each is, and its value in each run that has it.

    Those that answer a question come first, then those that most runs have.
    """
    from fireassay.report import Report

    found: Numbers = {}
    leading: set[str] = set()
    for folder in folders:
        try:
            parts = Report.from_json(folder / "result.json").parts
        except (FireassayError, OSError):
            continue  # the list of runs says why
        for part in parts:
            for name, estimate in part.estimates.items():
                key = f"{part.question}.{name}"
                found.setdefault(key, (part.measure(name), {}))[1][folder] = estimate
            if part.answer:
                leading.add(f"{part.question}.{part.answer}")
    order = sorted(found, key=lambda key: (key not in leading, -len(found[key][1])))
    return {key: found[key] for key in order}


def _limit(row: "RunRow", measure: Measure) -> float | None:
    """The limit that the newest run sets on a number."""
    checks = [c for c in row.verdict.checks if c.measure is not None]
    return next(
        (c.gate.limit for c in checks if c.measure and c.measure.name == measure.name), None
    )


def trend_chart(
    runs: Sequence[tuple["Run", "RunRow"]], measure: Measure, values: dict[Path, Estimate]
) -> Chart | None:
    """The runs from left to right, oldest first; a mark opens its run."""
    shown = [
        {
            "run": f"{i + 1}. {run.label}",
            "value": rounded(values[run.folder].value),
            "low": rounded(values[run.folder].low),
            "high": rounded(values[run.folder].high),
            "text": f"{run.label}: {measure.shown(values[run.folder])}",
            "href": f"/runs/{run.key}",
        }
        for i, (run, _) in enumerate(runs)
        if run.folder in values
    ]
    if not shown:
        return None
    limit = _limit(runs[-1][1], measure)
    unit: Unit = "share" if measure.unit == "share" else "number"
    x = {
        "field": "run",
        "type": "ordinal",
        "sort": None,
        "axis": {"labelAngle": -30, "title": None},
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"zero": False},
        "axis": axis(measure.label, unit),
    }
    hover = {
        "tooltip": [{"field": "text", "type": "nominal", "title": " "}],
        "href": {"field": "href", "type": "nominal"},
    }
    spec = {
        "width": WIDTH,
        "height": 240,
        "data": {"values": shown},
        "layer": [
            {"mark": {"type": "line", "opacity": 0.4}, "encoding": {"x": x, "y": y}},
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "low"},
                    "y2": {"field": "high"},
                    **hover,
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70},
                "encoding": {"x": x, "y": y, **hover},
            },
            *(level("y", limit, "limit", limit=True) if limit is not None else ()),
        ],
    }
    return Chart(
        spec, f"{measure.label}, run by run, each with its interval.", "Dots with intervals."
    )
