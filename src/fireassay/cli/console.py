"""What commands print: an answer in a few lines, or strict JSON."""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from fireassay.version import __version__

if TYPE_CHECKING:
    from fireassay.core.evidence import Evidence

INTERRUPTED = 130  # what shells say of a program that Ctrl-C ended


def say(text: str = "", *, quiet: bool = False) -> None:
    """Print one line of plain text (markup in names is not interpreted)."""
    if not quiet:
        sys.stdout.write(text + "\n")


def warn(text: str) -> None:
    """Print one line to standard error."""
    sys.stderr.write(text + "\n")


def starting(text: str, *, quiet: bool = False) -> None:
    """The first line, before anything heavy is loaded: a person sees at once that it works."""
    if not quiet:
        warn(f"fireassay {__version__}: {text}")


@contextlib.contextmanager
def goes_on(command: str) -> Iterator[None]:
    """Ctrl-C in a run: what is done is kept, and the same command goes on."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        warn(f"Stopped. What is done is kept: the same command ({command}) goes on from here.")
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
        sure = f", {estimate.confidence:.1%}" if 0 < estimate.confidence < 1 else ""
        say(f"  {labels[name]:<{width}}  {estimate}  ({name}: {estimate.method}{sure})")
    for assumption in evidence.assumptions:
        say(f"  [{assumption.status}] {assumption.statement} {assumption.check}")
    for limit in evidence.limits:
        say(f"  Note: {limit}")


def emit_json(value: Any) -> None:
    """Print strict JSON, NaN and infinities tagged."""
    from fireassay.core import strict_json

    say(strict_json.dumps(value, indent=2))
