"""A run's report for the pages: read once per change, figures and all."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fireassay.core.errors import FireassayError
from fireassay.core.evidence import Evidence, Table

if TYPE_CHECKING:
    from fireassay.report import Report, Verdict

MOST_ROWS = 2000


@dataclass(frozen=True)
class RunView:
    """The report, the verdict on its gates, and why figures are missing, if they are."""

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
        # The numbers are in result.json; only the figures need the journal.
        problem = f"Figures cannot be read: {error}"
        report = Report.from_json(folder / "result.json")
    return RunView(report, report.verdict(read_gates(folder)), problem)


def estimates_chart(part: Evidence) -> dict[str, Any] | None:
    """The numbers of a part as intervals on one axis; None if they are no shares."""
    rows = [
        {"name": name, "value": e.value, "low": e.low, "high": e.high, "text": str(e)}
        for name, e in part.estimates.items()
        if 0.0 <= e.low <= e.high <= 1.0
    ]
    return {"type": "intervals", "rows": rows, "x_label": "share"} if rows else None


def table_chart(table: Table) -> dict[str, Any] | None:
    """A table's first two numeric columns as points, each with its row as text."""
    numeric = [i for i in range(len(table.columns)) if _is_numeric(table, i)]
    if len(numeric) < 2 or len(table.rows) < 3:
        return None
    return {
        "type": "points",
        "columns": [str(table.columns[i]) for i in numeric],
        "values": [[_finite(row[i]) for i in numeric] for row in table.rows[:MOST_ROWS]],
        "texts": [
            "; ".join(f"{c}: {_short(v)}" for c, v in zip(table.columns, row, strict=True))[:300]
            for row in table.rows[:MOST_ROWS]
        ],
    }


def _is_numeric(table: Table, column: int) -> bool:
    values = [row[column] for row in table.rows]
    return bool(values) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
