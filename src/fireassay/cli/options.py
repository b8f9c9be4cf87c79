"""Options that commands share: one word for one thing. Nothing scientific is imported here.

A command that needs another default gives it; the word, its meaning and its range are these."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from fireassay.cli.console import asked
from fireassay.core.errors import ParameterError


def answering(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options --json and --quiet, which what it prints obeys."""

    @functools.wraps(command)
    def run(json: bool = False, quiet: bool = False, **given: Any) -> None:
        asked.json, asked.quiet = json, quiet
        try:
            command(**given)
        finally:
            asked.json = asked.quiet = False

    taken, own = inspect.signature(command), inspect.signature(run, follow_wrapped=False)
    for name, parameter in taken.parameters.items():
        info: Any = parameter.default
        if getattr(info, "default", None) is False and not info.param_decls:
            info.param_decls = (f"--{name.replace('_', '-')}",)  # a flag has no --no-flag
    more = [own.parameters[name].replace(annotation=_ANSWERS[name]) for name in _ANSWERS]
    made: Any = run
    made.__signature__ = taken.replace(parameters=[*taken.parameters.values(), *more])
    made.__annotations__ = {**command.__annotations__, **_ANSWERS}
    return run


def opt(words: str, default: Any = None, *names: str, **limits: Any) -> Any:
    """An option of one command; ``...`` as the default means that it must be given."""
    return Option(default, *names, help=words, **limits)


def arg(words: str, default: Any = None, **limits: Any) -> Any:
    """An argument of one command; ``...`` as the default means that it must be given."""
    return Argument(default, help=words, **limits)


Config = Annotated[Path, Option("--config", help="The configuration file.")]
_ANSWERS: dict[str, Any] = {
    "json": Annotated[bool, Option("--json", help="Print the result as strict JSON.")],
    "quiet": Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors.")],
}
Output = Annotated[
    Path | None, Option("--output", "-o", help="Folder or file to write results to.")
]
Seed = Annotated[int, Option("--seed", min=0, help="Same seed, same result.")]
FileSeed = Annotated[
    int | None, Option("--seed", min=0, help="Instead of the configuration's seed.")
]
Workers = Annotated[int, Option("--workers", min=1, help="Processes on this machine.")]
Cluster = Annotated[
    str | None, Option("--cluster", help="Address of a Dask scheduler, tcp://host:8786.")
]
Only = Annotated[list[str] | None, Option("--only", help="Only this part (repeatable).")]
Trust = Annotated[
    bool,
    Option(
        "--trust", help="Allow models that run code: pickle, .pt2, package.module:name of a file."
    ),
]
HangMinutes = Annotated[
    float,
    Option(
        "--hang-minutes", min=0.0, help="Most minutes for a model to load, or to answer a block."
    ),
]
Bounds = Annotated[
    tuple[float, float] | None,
    Option("--bounds", help="Smallest and largest input value: LOW HIGH."),
]
ModelOutput = Annotated[str, Option("--model-output", help="probabilities, logits or labels.")]
A_MODEL = "Model: .onnx, .skops, .pt2, package.module:name."
ModelArgument = Annotated[str, Argument(help=A_MODEL)]
LabelsColumn = Annotated[str | None, Option("--label", help="Column of the labels.")]
Confidence = Annotated[
    float, Option("--confidence", min=0.0, max=1.0, help="Of every interval and bound.")
]
LabelColumn = Annotated[str | None, Option("--label", help="The label column of a table.")]
NoSamples = Annotated[
    bool, Option("--no-samples", help="Leave rows of the data out of report.html and result.json.")
]
AcceptBelowBaseline = Annotated[
    bool,
    Option(
        "--accept-below-baseline",
        help="Go on where the model agrees with the labels less than chance does.",
    ),
]


def read_attack(text: str) -> tuple[str, dict[str, Any]]:
    """Attack name and parameters: ('pgd', {'eps': 0.1}) for the text ``pgd:eps=0.1``."""
    start = len("art:") if text.startswith("art:") else 0
    name, _, rest = text[start:].partition(":")
    parameters: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ParameterError("An attack is NAME:KEY=VALUE,KEY=VALUE.", got=repr(text))
        parameters[key.strip()] = read_value(value.strip())
    return text[:start] + name, parameters


def read_defence(text: str) -> tuple[str, float]:
    """Defence name and value: "conf=0.9" is ('conf', 0.9)."""
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError as error:
        raise ParameterError("A defence is NAME=VALUE, e.g. conf=0.9.", got=repr(text)) from error


def read_pairs(texts: list[str] | None, expected: str) -> dict[str, float]:
    """Names and numbers: ``NAME=NUMBER`` for each text."""
    found = {}
    for text in texts or []:
        name, _, value = text.rpartition("=")
        try:
            found[name.strip()] = float(value if name else "?")
        except ValueError as error:
            raise ParameterError(expected, got=repr(text)) from error
    return found


def read_value(text: str) -> Any:
    """A whole number, a number, or the text itself.

    >>> [read_value(text) for text in ("3", "0.5", "linf")]
    [3, 0.5, 'linf']
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
