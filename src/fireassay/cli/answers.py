"""The end of a run on a terminal: question, answer, interval, limits; the words of the page."""

import sys
from typing import TYPE_CHECKING, Any

from fireassay.visible import visible

if TYPE_CHECKING:
    from fireassay.core.evidence import Evidence
    from fireassay.report import GateCheck, Report, Verdict

# Green is for a pass alone.
STYLES = {"pass": "green", "fail": "red", "undecided": "yellow", "not enough evidence": "yellow"}
_WIDTH = 110


def show_answers(report: "Report", verdict: "Verdict") -> None:
    """One row per question, then the verdict and what would change it."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("question", "answer", "interval", "limits"):
        table.add_column(column)
    for part in report.parts:
        checks = [c for c in verdict.checks if c.part == part.question]
        limits = Text("\n").join(_limit(check) for check in checks) if checks else Text("none set")
        table.add_row(
            Text(visible(part.question)),
            _answer(part, report),
            Text(visible(_interval(part))),
            limits,
        )
    console = stdout_console()
    console.print(table)
    show_verdict(verdict)


def show_verdict(verdict: "Verdict") -> None:
    """The verdict in one line, then what would change it."""
    from rich.text import Text

    console = stdout_console()
    line = Text(visible(f"verdict: {shape(verdict.status)} {verdict.headline}"))
    line.stylize(f"bold {STYLES.get(verdict.status, '')}".strip())
    in_file = not sys.stdout.isatty()
    console.print(line, soft_wrap=in_file)
    for item in verdict.advice:
        console.print(Text(visible(f"to settle {item}")), soft_wrap=in_file)


def shape(status: str) -> str:
    """The shape of a state, as on the page."""
    from fireassay.report.page_environment import SHAPES

    return SHAPES[status]


def stdout_console() -> Any:
    """Standard output, in colour where a person looks at it; wide enough for a table elsewhere."""
    from rich.console import Console

    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDTH, highlight=False)


def _limit(check: "GateCheck") -> Any:
    from rich.text import Text

    return Text(visible(f"{shape(check.status)} {check.word}: {check.limit}"), STYLES[check.status])


def _answer(part: "Evidence", report: "Report") -> Any:
    from rich.text import Text

    doubts = part.contradicted(part.answer) if part.answer else ()
    against = any(a.id not in report.accepted for a in doubts)
    marks = [word for word in ("stale", "partial") if getattr(part, word)]
    marks += ["contradicted by the data"] if against else []
    answer = Text(visible(part.sentence or part.headline), "strike" if against else "")
    return answer + Text(f" ({', '.join(marks)})" if marks else "", "yellow")


def _interval(part: "Evidence") -> str:
    if not part.answer:
        return "–"
    estimate = part.estimates[part.answer]
    return f"{part.measure(part.answer).shown(estimate)}, n = {estimate.n:,}"
