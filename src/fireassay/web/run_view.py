"""A run's report for the pages: read once per change, charts and samples and all."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fireassay.core import Chart
from fireassay.core.drawing import axis, rounded
from fireassay.core.drawing.axes import WIDTH, told_apart
from fireassay.core.errors import FireassayError
from fireassay.core.evidence import Table

if TYPE_CHECKING:
    from fireassay.report import Report, Verdict

MOST_ROWS = 2000


@dataclass(frozen=True)
class RunView:
    """The report, the verdict on its gates, and why charts are missing, if they are."""

    report: "Report"
    verdict: "Verdict"
    problem: str


class RunViews:
    """Reports by folder, read again when ``result.json`` changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Path, tuple[int, RunView]] = {}

    def get(self, folder: Path) -> RunView | None:
        """The report of a run; None while there is none."""
        path = folder / "result.json"
        if not path.is_file():
            return None
        changed = path.stat().st_mtime_ns
        with self._lock:
            kept = self._kept.get(folder)
            if kept is None or kept[0] != changed:
                kept = changed, _read(folder)
                self._kept[folder] = kept
        return kept[1]


def _read(folder: Path) -> RunView:
    from fireassay.assessment.run_folder import read_gates, read_report
    from fireassay.report import Report

    problem = ""
    try:
        report = read_report(folder)
    except (FireassayError, ImportError) as error:
        # The numbers are in result.json; only charts and pictures need the journal.
        problem = f"Charts cannot be read: {error}"
        report = Report.from_json(folder / "result.json")
    return RunView(report, report.verdict(read_gates(folder)), problem)


def table_chart(table: Table) -> Chart | None:
    """A table's numeric columns as points, two at a time; the page has boxes to choose them."""
    numeric = [i for i in range(len(table.columns)) if _is_numeric(table, i)]
    if len(numeric) < 2 or len(table.rows) < 3:
        return None
    values = [
        {f"c{k}": rounded(row[i]) for k, i in enumerate(numeric)}
        | {"text": "; ".join(_named(table, row))[:300]}
        for row in table.rows[:MOST_ROWS]
    ]
    names = told_apart(str(table.columns[i]) for i in numeric)
    fields = [f"c{k}" for k in range(len(numeric))]
    chosen = [
        {
            "name": name,
            "value": fields[k],
            "bind": {"input": "select", "options": fields, "labels": names, "name": f"{name} "},
        }
        for k, name in enumerate(("across", "up"))
    ]
    spec = {
        "width": WIDTH,
        "height": 260,
        "params": chosen,
        "data": {"values": values},
        "transform": [
            {"calculate": "datum[across]", "as": "x"},
            {"calculate": "datum[up]", "as": "y"},
        ],
        "mark": {"type": "point", "size": 30},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "axis": axis("")},
            "y": {"field": "y", "type": "quantitative", "axis": axis("")},
            "tooltip": [{"field": "text", "type": "nominal", "title": " "}],
        },
    }
    return Chart(spec, "Each point is a row: choose what to draw.", "A cloud of points.")


def _named(table: Table, row: tuple[Any, ...]) -> list[str]:
    return [f"{name}: {_short(value)}" for name, value in zip(table.columns, row, strict=True)]


def _is_numeric(table: Table, column: int) -> bool:
    values = [row[column] for row in table.rows]
    return bool(values) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
