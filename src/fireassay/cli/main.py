"""The program: ``fireassay COMMAND``. Scientific libraries load only when a command needs them."""

import contextlib
import warnings
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from fireassay.cli import ambiguity, label, supervision, survival
from fireassay.cli.check import check
from fireassay.cli.compare import compare
from fireassay.cli.console import only_answers, say, starting, warn
from fireassay.cli.curation import curation
from fireassay.cli.demo import demo
from fireassay.cli.discovery import discovery
from fireassay.cli.doctor import doctor
from fireassay.cli.init import init
from fireassay.cli.plain_help import SETTINGS, PlainGroup
from fireassay.cli.plan import plan
from fireassay.cli.reliability import reliability
from fireassay.cli.report import report
from fireassay.cli.run import run
from fireassay.cli.serve import serve
from fireassay.cli.watch import watch
from fireassay.version import __version__

USAGE_ERROR = 2
VERBS = (
    "init",
    "plan",
    "run",
    "check",
    "report",
    "compare",
    "label",
    "serve",
    "watch",
    "demo",
    "doctor",
)
QUESTIONS = ("curation", "ambiguity", "supervision", "discovery", "reliability", "survival")


class Commands(PlainGroup):
    """Turns the library's errors into one readable message and exit code 2."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The verbs in the order of their use, then the questions in the order of the report."""
        known = super().list_commands(ctx)
        ordered = [*VERBS, *QUESTIONS]
        return sorted(known, key=lambda name: ordered.index(name) if name in ordered else 99)

    def sections(self, ctx: Any) -> dict[str, list[str]]:
        """The whole assessment, then each question alone."""
        names = self.list_commands(ctx)
        return {
            "Commands": [name for name in names if name not in QUESTIONS],
            "One question alone": [name for name in names if name in QUESTIONS],
        }

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        _say_at_once([*ctx._protected_args, *ctx.args])
        # Bad input is a message, not a traceback; a bug still shows its traceback.
        from fireassay.core.errors import FireassayError
        from fireassay.core.patience import exit_if_stuck

        exit_if_stuck()
        with _plain_warnings(), _only_answers(ctx):
            try:
                return super().invoke(ctx)
            except FireassayError as error:
                warn(f"Error: {error}")
                raise typer.Exit(USAGE_ERROR) from error


def _say_at_once(words: list[str]) -> None:
    """A question asked alone says at once that it works; other commands say what they do first."""
    silent = {"--help", "--json", "--quiet", "-q", "names", "--labelers", "--searches", "-"}
    if words and words[0] in (*QUESTIONS, "check") and not silent & set(words[1:]):
        starting(" ".join(word for word in words[:2] if not word.startswith("-")))


def _only_answers(ctx: Any) -> contextlib.AbstractContextManager[None]:
    """Where a program reads what a command prints, what a model prints goes elsewhere."""
    words = [*ctx._protected_args, *ctx.args]
    read_by_programs = ("--json" in words or "-" in words) and "--help" not in words
    return only_answers() if read_by_programs else contextlib.nullcontext()


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show each of the library's warnings once, as a sentence; other warnings as always."""
    from fireassay.core.errors import FireassayWarning

    said: set[str] = set()
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
            if not issubclass(category, FireassayWarning):
                others(message, category, *place, **more)
            elif str(message) not in said:
                said.add(str(message))
                warn(f"Warning: {message}")

        warnings.showwarning = show
        yield


app = typer.Typer(
    cls=Commands,
    context_settings=SETTINGS,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Test a trained classifier before anyone relies on it. Start with: fireassay demo",
)

# The whole assessment, then each question alone.
for command in (init, plan, run, check, report, compare, serve, watch, demo, doctor):
    app.command()(command)
for question in (curation, discovery, reliability):
    app.command()(question)
label.app.command()(serve)
app.add_typer(label.app, name="label", cls=PlainGroup)
for name, group in (("ambiguity", ambiguity), ("supervision", supervision), ("survival", survival)):
    app.add_typer(group.app, name=name, cls=PlainGroup)


def _version(value: bool) -> None:
    if value:
        say(f"fireassay {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Test a trained classifier before anyone relies on it. Start with: fireassay demo."""
    del version
