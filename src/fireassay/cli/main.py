"""The program: ``fireassay COMMAND``. Scientific libraries load only when a command needs them."""

import contextlib
import functools
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.core import TyperGroup

from fireassay.cli import ambiguity, label, supervision, survival
from fireassay.cli.check import check, lock
from fireassay.cli.console import only_answers, say, starting, warn
from fireassay.cli.curation import curation
from fireassay.cli.discovery import discovery
from fireassay.cli.doctor import doctor
from fireassay.cli.dossier import bundle, cite, dossier, schema, verify
from fireassay.cli.init import init
from fireassay.cli.judge import judge
from fireassay.cli.label import serve
from fireassay.cli.options import opt
from fireassay.cli.reliability import reliability
from fireassay.cli.report import compare, report
from fireassay.cli.run import demo, plan, run
from fireassay.cli.watch import watch
from fireassay.version import __version__

SETTINGS = {"max_content_width": 80, "help_option_names": ["-h", "--help"]}
_PLAIN_TYPES = {"str": "text", "float": "number", "float range": "number", "int": "n",
                "int range": "n", "float,float": "low high", "Path": "path"}  # fmt: skip


class PlainGroup(TyperGroup):
    """A group of commands whose help needs neither rich nor pydantic."""

    def get_help_option(self, ctx: Any) -> Any:
        """Whether help was asked for; False by itself, or typer would load pydantic to say so."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option

    def get_command(self, ctx: Any, name: str) -> Any:
        """The command, whose help says what an option takes in words and not as Python types."""
        command: Any = super().get_command(ctx, name)
        for param in () if command is None else command.params:
            kind = getattr(param, "display_type", None)
            if kind is not None:
                param.display_type = functools.partial(_plain_type, kind)
        return command

    def sections(self, ctx: Any) -> dict[str, list[str]]:
        """The names of the commands under their headings."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Each command with its whole first sentence."""
        for heading, names in self.sections(ctx).items():
            known = {name: self.get_command(ctx, name) for name in names}
            rows = [
                (name, command.get_short_help_str(limit=200))
                for name, command in known.items()
                if command is not None and not command.hidden
            ]
            with formatter.section(heading):
                formatter.write_dl(rows, col_max=20)


def _plain_type(kind: Callable[[Any], str], ctx: Any) -> str:
    """``<text>`` for ``<list[str]>``, and so on; choices stay as they are."""
    label = kind(ctx).strip("<>").removeprefix("list[").removesuffix("]")
    known = _PLAIN_TYPES.get(label)
    words = known or " ".join(_PLAIN_TYPES.get(each, each) for each in label.split(","))
    return f"<{words}>"


USAGE_ERROR, CRASHED = 2, 70
VERBS = (
    "judge", "init", "lock", "plan", "run", "check", "report", "compare", "label", "serve", "watch",
    "dossier", "bundle", "verify", "cite", "schema", "demo", "doctor",
)  # fmt: skip
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
        os.umask(0o077)  # what a run holds may be about patients: its owner's alone
        _say_at_once([*ctx._protected_args, *ctx.args])
        # Bad input is a message, not a traceback; a bug still shows its traceback.
        from fireassay.core.errors import FireassayError
        from fireassay.core.memory import is_out_of_memory
        from fireassay.core.watchdog import exit_if_stuck

        exit_if_stuck()
        with _plain_warnings(), _only_answers(ctx):
            try:
                _need_memory([*ctx._protected_args, *ctx.args])
                return super().invoke(ctx)
            except FireassayError as error:
                warn(f"Error: {error}")
                raise typer.Exit(USAGE_ERROR) from error
            except (MemoryError, ImportError, OSError) as error:
                if not is_out_of_memory(error):
                    raise
                warn("Error: There is not enough memory to go on. Use fewer workers or fewer rows.")
                raise typer.Exit(USAGE_ERROR) from error


def _need_memory(words: list[str]) -> None:
    """Refuse at once what libraries would later abort over; help and doctor need little."""
    from fireassay.core.memory import DRAWING_GB, LIBRARIES_GB, need_addresses

    if not words or words[0] == "doctor" or {"-h", "--help"} & {*words}:
        return
    draws = words[0] in ("demo", "run", "report", "compare")
    need_addresses(DRAWING_GB if draws else LIBRARIES_GB, f"fireassay {words[0]}")


def _say_at_once(words: list[str]) -> None:
    """A question asked alone says at once that it works; other commands say what they do first."""
    silent = {"-h", "--help", "--json", "--quiet", "-q", "names", "--labelers", "--searches", "-"}
    if words and words[0] in (*QUESTIONS, "check") and not silent & set(words[1:]):
        starting(" ".join(word for word in words[:2] if not word.startswith("-")))


def _only_answers(ctx: Any) -> contextlib.AbstractContextManager[None]:
    """Where a program reads what a command prints, what a model prints goes elsewhere."""
    words = [*ctx._protected_args, *ctx.args]
    read_by_programs = {"--json", "-"} & {*words} and not {"-h", "--help"} & {*words}
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


class Program(typer.Typer):
    """The program; options of shell completion are there before the first command alone."""

    def __call__(self, *args: Any, **more: Any) -> Any:
        """Run; a command named at once is spared the options' library, a crash ends with 70."""
        words = args[0] if args and args[0] is not None else sys.argv[1:]
        self._add_completion = not words or words[0].startswith("-")
        try:
            return super().__call__(*args, **more)
        except Exception:  # noqa: BLE001  Python ends with 1, which says: a limit is not met
            traceback.print_exc()
            sys.exit(CRASHED)
        finally:
            self._add_completion = True


app = Program(
    cls=Commands,
    context_settings=SETTINGS,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
    help="Test a trained classifier before anyone relies on it. Start with: fireassay demo",
)

# The whole assessment, then each question alone.
for command in (
    *(judge, init, lock, plan, run, check, report, compare, serve, watch),
    *(dossier, bundle, verify, cite, schema, demo, doctor),
):
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
    version: bool = opt(
        "Print the version.", False, "-V", "--version", callback=_version, is_eager=True
    ),
) -> None:
    """Test a trained classifier before anyone relies on it. Start with: fireassay demo."""
    del version
