"""The list of all runs: each with its verdict and one small interval per question."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fireassay.core.errors import FireassayError
from fireassay.core.evidence import Evidence

if TYPE_CHECKING:
    from fireassay.report import Verdict
    from fireassay.report.interval_bar import IntervalBar


@dataclass(frozen=True)
class Answer:
    """The number that answers one question, as a small interval with its words."""

    part: str
    number: int
    words: str
    short: str
    bar: "IntervalBar | None"
    state: str


@dataclass(frozen=True)
class RunRow:
    """One run in the list of all: what it is about, its verdict, an interval for each question."""

    title: str
    model: str
    day: str
    began: str
    project: str
    verdict: "Verdict"
    answers: tuple[Answer, ...]


class RunRows:
    """Rows of the list of runs, read again when their results, limits or configuration change."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Path, tuple[tuple[int, ...], RunRow | str]] = {}

    def get(self, folder: Path) -> RunRow | str | None:
        """The row of a run; why it cannot be read; or None while there is no result."""
        if not (folder / "result.json").is_file():
            return None
        changed = tuple(
            path.stat().st_mtime_ns if path.is_file() else 0
            for path in (
                folder / "result.json",
                folder / "gates.json",
                folder.parent / "fireassay.toml",
            )
        )
        with self._lock:
            kept = self._kept.get(folder)
            if kept is None or kept[0] != changed:
                kept = changed, _row(folder)
                self._kept[folder] = kept
        return kept[1]


def _row(folder: Path) -> RunRow | str:
    from fireassay.assessment.run_folder import project_folder, read_gates, read_report

    try:
        report = read_report(folder, charts=False)
        verdict = report.verdict(read_gates(folder))
        project = str(project_folder(folder))
    except (FireassayError, ImportError, OSError) as error:
        return str(error)
    about = report.about
    return RunRow(
        report.title,
        "" if about is None else about.model,
        "" if about is None else about.day,
        "" if about is None else about.began,
        project,
        verdict,
        tuple(_answer(part, i, verdict) for i, part in enumerate(report.parts)),
    )


def _answer(part: Evidence, number: int, verdict: "Verdict") -> Answer:
    from fireassay.report.interval_bar import interval_bar

    checks = [c for c in verdict.checks if c.part == part.question]
    order = ("fail", "undecided", "pass")
    state = min((c.status for c in checks), key=order.index, default="none")
    if part.status != "done" or not part.answer:
        return Answer(part.question, number, part.reason or part.status, "", None, part.status)
    measure = part.measure(part.answer)
    estimate = part.estimates[part.answer]
    gate = next((c.gate for c in checks if c.measure and c.measure.name == part.answer), None)
    return Answer(
        part.question,
        number,
        f"{measure.label}: {measure.shown(estimate)}",
        measure.shown_value(estimate.value, measure.decimals(estimate)),
        interval_bar(measure, part.estimates, gate),
        "stale" if part.stale else state,
    )
