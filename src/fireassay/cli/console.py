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
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from fireassay.version import __version__
from fireassay.visible import visible

if TYPE_CHECKING:
    from fireassay.core.evidence import Evidence

_answers: Any = None
_TOGETHER = re.compile(r"(?<=\d) (?=%)|(?<=\bn) (?==)|(?<=\bn =) (?=\d)")  # "95 %", "n = 500"
_PATIENCE_S = 0.5
INTERRUPTED = 130  # what shells say of a program that Ctrl-C ended


def say(text: str = "", *, quiet: bool = False) -> None:
    """Print one line of plain text; neither markup nor a terminal's commands in it are obeyed."""
    if not quiet:
        out = _answers or sys.stdout
        out.write(visible(text) + "\n")


def say_wrapped(text: str, *, quiet: bool = False, indent: int = 13) -> None:
    """Print a line that a terminal breaks between words, the rest below its second column.

    In a file or a pipe it stays one line.
    """
    say(_between_words(text, sys.stdout, indent), quiet=quiet)


def _between_words(text: str, stream: Any, indent: int = 0) -> str:
    if not stream.isatty():
        return text
    width = max(40, shutil.get_terminal_size().columns - 1)
    options: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    lines = _TOGETHER.sub("\N{NO-BREAK SPACE}", text).split("\n")
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent=" " * indent, **options) for line in lines
    )


def say_now(text: str, *, quiet: bool = False) -> None:
    """Print one line so that it is seen at once, also where lines go into a file or a pipe."""
    say_wrapped(text, quiet=quiet, indent=12)
    flush()


def flush() -> None:
    """Let whoever reads the answers have what was said so far."""
    (_answers or sys.stdout).flush()


@contextlib.contextmanager
def only_answers() -> Iterator[None]:
    """While inside, standard output has what `say` says, and nothing else.

    What models and libraries print, in Python or by themselves, goes to standard error: a word of
    theirs would make JSON unreadable.
    """
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


def starting(text: str, *, quiet: bool = False) -> None:
    """The first line, before anything heavy is loaded: a person sees at once that it works."""
    if not quiet:
        warn(f"fireassay {__version__}: {text}")


@contextlib.contextmanager
def at_work(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Meanwhile a terminal shows a line with the seconds that have gone by."""
    if quiet or not sys.stderr.isatty():
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


def emit(evidence: "Evidence", *, as_json: bool = False, quiet: bool = False) -> None:
    """Show one answer: headline, every number with its interval, assumptions, limits."""
    if as_json:
        emit_json(evidence.to_dict())
        return
    if quiet:
        return
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
    """Print strict JSON, NaN and infinities tagged."""
    from fireassay.core import strict_json

    say(strict_json.dumps(value, indent=2))
