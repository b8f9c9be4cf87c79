"""What commands print: an answer in a few lines, or strict JSON."""

import contextlib
import gc
import os
import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from fireassay.core.words import visible
from fireassay.version import __version__

if TYPE_CHECKING:
    from fireassay.core.evidence import Evidence
    from fireassay.report import Report, Verdict
    from fireassay.report.first_screen import FirstScreen

_answers: Any = None
_TOGETHER = re.compile(r"(?<=\d) (?=%)|(?<=\bn) (?==)|(?<=\bn =) (?=\d)")  # "95 %", "n = 500"
_PATIENCE_S = 0.5
INTERRUPTED = 130  # what shells say of a program that Ctrl-C ended


@dataclass
class _Asked:
    """How the command that runs was asked to answer: with --json, with --quiet."""

    json: bool = False
    quiet: bool = False

    @property
    def silent(self) -> bool:
        """Whether lines for people are left out."""
        return self.json or self.quiet


asked = _Asked()


def say(text: str = "", *, quiet: bool | None = None) -> None:
    """Print one line of plain text; without ``quiet`` as the command was asked to answer."""
    # Neither markup nor a terminal's commands in the text are obeyed.
    if not (asked.silent if quiet is None else quiet):
        out = _answers or sys.stdout
        out.write(visible(text) + "\n")


def say_wrapped(text: str, *, indent: int = 13) -> None:
    """Print one line; a terminal wraps the line between words with a hanging indent."""
    say(_between_words(text, sys.stdout, indent))


def _between_words(text: str, stream: Any, indent: int = 0) -> str:
    if not stream.isatty():
        return text
    width = max(40, shutil.get_terminal_size().columns - 1)
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    lines = _TOGETHER.sub("\N{NO-BREAK SPACE}", text).split("\n")
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent=" " * indent, **options) for line in lines
    )


def say_now(text: str) -> None:
    """Print one line so that it is seen at once, also where lines go into a file or a pipe."""
    say_wrapped(text, indent=12)
    flush()


def flush() -> None:
    """Let whoever reads the answers have what was said so far."""
    (_answers or sys.stdout).flush()


@contextlib.contextmanager
def only_answers() -> Iterator[None]:
    """Send what models and libraries print to standard error: a word of theirs would break JSON."""
    global _answers
    if _answers is not None:
        yield
        return
    answers, real = sys.stdout, _is_real(sys.stdout)
    if real:
        sys.stdout.flush()
        kept = os.dup(1)
        answers = open(  # noqa: SIM115
            kept, "w", buffering=1, encoding=sys.stdout.encoding, errors=sys.stdout.errors
        )
        os.dup2(2, 1)
    _answers = answers
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        _answers = None
        answers.flush()
        if real:
            os.dup2(answers.fileno(), 1)
            answers.close()


def _is_real(stream: Any) -> bool:
    """Whether a stream is this process's own standard output, and no stand-in."""
    try:
        return int(stream.fileno()) == 1
    except (OSError, ValueError, AttributeError):
        return False


def warn(text: str) -> None:
    """Print a message to standard error."""
    sys.stderr.write(_between_words(visible(text), sys.stderr) + "\n")


def starting(text: str) -> None:
    """The first line, before anything heavy is loaded: a person sees at once that it works."""
    if not asked.silent:
        warn(f"fireassay {__version__}: {text}")


@contextlib.contextmanager
def at_work(text: str) -> Iterator[None]:
    """Meanwhile a terminal shows a line with the seconds that have gone by."""
    if asked.silent or not sys.stderr.isatty():
        yield
        return
    begun, over = time.monotonic(), threading.Event()

    def show() -> None:
        if over.wait(_PATIENCE_S):
            return
        from fireassay.engine.progress import DISPLAY

        line = DISPLAY.add(lambda: f"{text}, {time.monotonic() - begun:.0f} s", None)
        over.wait()
        DISPLAY.remove(line)

    shown = threading.Thread(target=show, daemon=True)
    shown.start()
    try:
        yield
    finally:
        over.set()
        shown.join()


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """While libraries load nothing is thrown away, so nobody looks for it: a tenth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # what was loaded stays: later searches for garbage leave it out
        gc.enable()


@contextlib.contextmanager
def goes_on() -> Iterator[None]:
    """Ctrl-C in a run: what is done is kept, and the same command goes on."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        warn("Stopped. What is done is kept: the same command goes on from here.")
        raise typer.Exit(INTERRUPTED) from stopped


def emit(evidence: "Evidence") -> None:
    """Show one answer: headline, every number with its interval, assumptions, limits."""
    if asked.json:
        emit_json(evidence.to_dict())
    say(f"{evidence.question}: {evidence.headline}")
    labels = {name: evidence.measure(name).label for name in evidence.estimates}
    width = max(map(len, labels.values()), default=0)
    for name, estimate in evidence.estimates.items():
        sure = f", {100 * estimate.confidence:g} %" if 0 < estimate.confidence < 1 else ""
        say(f"  {labels[name]:<{width}}  {estimate}  ({name}: {estimate.method}{sure})")
    for assumption in evidence.assumptions:
        say(f"  [{assumption.status}] {assumption.statement} {assumption.check}")
    for limit in evidence.limits:
        say(f"  Note: {limit}")


def emit_json(value: Any) -> None:
    """Print strict JSON, NaN and infinities tagged, where it was asked for."""
    if asked.json:
        say_json(value)


def say_json(value: Any) -> None:
    """Print strict JSON, also where it was not asked for."""
    from fireassay.core import json_files

    say(json_files.dumps(value, indent=2), quiet=False)


# Green is for a pass alone.
STYLES = {"pass": "green", "fail": "red", "undecided": "yellow", "not enough evidence": "yellow"}
_WIDTH = 100
_LABEL = 28


def show_verdict(verdict: "Verdict") -> None:
    """The verdict in one line, and what is to be known of its limits and of the model."""
    head = f"{shape(verdict.status)} {verdict.headline}"
    show(head, f"bold {STYLES.get(verdict.status, '')}".strip())
    for said in verdict.said:
        show(said)


def show_answers(report: "Report", verdict: "Verdict") -> None:
    """The first screen of a report: verdict, limits, answers, next steps, what is not known."""
    from rich.text import Text

    from fireassay.report.first_screen import first_screen

    screen = first_screen(report.parts, verdict, report.accepted, report.about)
    show_verdict(screen.verdict)
    if screen.about is not None and screen.about.change:
        show(screen.about.change)
    show_limits(screen)
    show("")
    for answer in screen.answers_shown:
        marks = [*answer.tags, *(["contradicted by the data"] if answer.struck else [])]
        said = Text(f"{visible(answer.part.question.capitalize()):<12} ")
        said += Text(visible(answer.sentence), "strike" if answer.struck else "")
        show(said + Text(f" ({', '.join(marks)})" if marks else "", "yellow"))
    _listed("Do next", [str(action) for action in screen.actions])
    _listed("Do not rely on", [str(doubt) for doubt in screen.doubts])
    _listed("Not known", screen.unknown)


def show_limits(screen: "FirstScreen") -> None:
    """One line for each limit: found, interval, limit, state; below it what it assumes."""
    from rich.text import Text

    rows = [(x.check.label, x.found, x.between, x.check.limit) for x in screen.limits]
    if not rows:
        return
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    wide[0] = min(wide[0], _LABEL)
    for line, (label, *cells) in zip(screen.limits, rows, strict=True):
        row = Text(visible(label if len(label) <= wide[0] else f"{label}\n"))
        row.pad_right(wide[0] - len(label) if len(label) <= wide[0] else wide[0])
        for cell, width in zip(cells, wide[1:], strict=True):
            row += Text("  ") + Text(visible(cell), "strike" if line.struck and cell else "")
            row.pad_right(width - len(cell))
        show(row + Text(f"  {line.state}", STYLES[line.check.status]))
        if line.struck:
            show("  contradicted by the data", "yellow")
        for each in line.assumes:
            show(f"  assumes: {each}")


def _listed(title: str, items: "Sequence[str]") -> None:
    if items:
        show(f"\n{title}")
    for item in items:
        show(f"- {item}")


def show(text: Any, style: str = "", *, wraps: bool = False) -> None:
    """Print a line or styled text; a terminal wraps it between words, or itself."""
    from rich.text import Text

    shown = Text(visible(text), style) if isinstance(text, str) else text
    stdout_console().print(shown, soft_wrap=wraps or not sys.stdout.isatty())


def shape(status: str) -> str:
    """The shape of a state, as on the page."""
    from fireassay.report.first_screen import SHAPES

    return SHAPES[status]


def stdout_console() -> Any:
    """Standard output, in colour where a person looks at it; wide enough for a table elsewhere."""
    from rich.console import Console

    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
