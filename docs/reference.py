"""Reference pages that are made from the program while the docs are built.

A page says what stands where:

    <!-- reference: commands -->
    <!-- reference: configuration -->
    <!-- reference: standard numbers -->
    <!-- reference: numbers of the parts -->

Formulas stand in ``docs/limits.toml``: one line for each number that a limit can name.
"""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_MARK = re.compile(r"<!-- reference: ([\w ]+) -->\n")
_TYPES = {"int": "whole number", "float": "number", "str": "text", "path": "path", "bool": "flag"}
LIMITS = Path(__file__).with_name("limits.toml")


def _cell(text: Any) -> str:
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *(f"| {' | '.join(map(_cell, row))} |" for row in rows)])


def every_command() -> Iterator[tuple[str, Any]]:
    """Each command of the program with its whole name, in the order of ``fireassay --help``."""
    import typer

    from fireassay.cli.main import app

    def of(group: Any, before: str) -> Iterator[tuple[str, Any]]:
        for name in group.list_commands(None):
            command, whole = group.commands[name], f"{before} {name}"
            yield from of(command, whole) if hasattr(command, "commands") else [(whole, command)]

    yield from of(typer.main.get_command(app), "fireassay")


def _kind(parameter: Any) -> str:
    if getattr(parameter, "is_flag", False):
        return "flag"
    annotation = parameter.type_descriptor.annotation
    inner = next(iter(getattr(annotation, "__args__", ())), annotation)
    several = ", repeatable" if parameter.multiple or parameter.nargs == -1 else ""
    return _TYPES.get(inner.__name__.lower(), "text") + several


def _default(parameter: Any) -> str:
    found = parameter.default
    if parameter.required:
        return "required"
    return "" if found in (None, False, ()) or callable(found) else f"`{found}`"


def commands() -> str:
    """Every command: what it does, an example, and its options."""
    written = []
    for name, command in every_command():
        if command.hidden:
            continue
        about = [" ".join(p.split()) for p in (command.help or "").split("\n\n")]
        example = [p.removeprefix("Example: ") for p in about if p.startswith("Example: ")]
        text = "\n\n".join(p.replace("<", "&lt;") for p in about if not p.startswith("Example: "))
        rows = [
            (
                f"`{', '.join(p.opts)}`", _kind(p), _default(p), p.help or "",
            )
            for p in command.params if p.name != "help" and not getattr(p, "hidden", False)
        ]  # fmt: skip
        shown = "".join(f"```sh\n{line}\n```\n\n" for line in example)
        table = _table(("option", "kind", "default", "meaning"), rows)
        written.append(f"## {name}\n\n{text}\n\n{shown}{table}\n")
    return "\n".join(written)


def _of_schema(found: dict[str, Any], whole: dict[str, Any]) -> str:
    """The kind of a value, in words."""
    if "$ref" in found:
        return "table"
    if "enum" in found:
        return " or ".join(f"`{value}`" for value in found["enum"])
    if "const" in found:
        return f"`{found['const']}`"
    if "anyOf" in found:
        kinds = [_of_schema(each, whole) for each in found["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    words = {"string": "text", "integer": "whole number", "number": "number",
             "boolean": "true or false", "array": "list", "object": "table"}  # fmt: skip
    return words.get(found.get("type", ""), "any")


def every_key() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each table of ``fireassay.toml`` with its keys and what the schema says of them."""
    from fireassay.assessment.init import config_schema

    schema = config_schema()

    def of(table: str, found: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
        refs = [found, *found.get("anyOf", [])]
        found = next((schema["$defs"][r["$ref"].rpartition("/")[2]] for r in refs if "$ref" in r),
                     found)  # fmt: skip
        if "properties" not in found:
            yield table, "", found
        for key, value in found.get("properties", {}).items():
            inner = [value, *value.get("anyOf", [])]
            if any("$ref" in each for each in inner):
                yield from of(f"{table}.{key}", value)
            else:
                yield table, key, value

    for table, found in schema["properties"].items():
        yield from of(table, found)


def configuration() -> str:
    """Every key of ``fireassay.toml``, table by table."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for table, key, value in every_key():
        default = value.get("default")
        shown = "" if default in (None, [], {}) else f"`{default}`"
        about = value.get("description") or ""
        found.setdefault(table, []).append(
            (f"`{key or 'NAME'}`", _of_schema(value, {}), shown, about)
        )
    return "\n".join(
        f"## [{table}]\n\n{_table(('key', 'value', 'default', 'meaning'), rows)}\n"
        for table, rows in found.items()
    )


def limits() -> dict[str, Any]:
    """Formulas and intervals by name, as they stand in the file."""
    return tomllib.loads(LIMITS.read_text(encoding="utf-8"))


def standard_numbers() -> str:
    """The standard numbers of predictions: name, formula, interval."""
    from fireassay.statistics.numbers.number_registry import NUMBERS

    formulas = limits()["standard"]
    rows = []
    for number in NUMBERS:
        also = ", ".join(f"`{alias}`" for alias in number.aliases)
        name = f"`{number.name}{'[c]' if number.per_class else ''}`"
        shown = number.label if number.gated else f"{number.label} (shown, no limit)"
        rows.append((name, shown, also, formulas[number.name], number.interval))
    return _table(("limit", "number", "also", "formula", "interval"), rows)


def part_numbers() -> Iterator[tuple[str, Any]]:
    """Each declared number of each part that is no standard number."""
    from fireassay.assessment.parts.table import PARTS
    from fireassay.statistics.numbers.number_registry import BY_NAME

    for name, part in PARTS.items():
        for measure in part.measures or ():
            standard = name == "accuracy" and measure.name.split("[")[0] in BY_NAME
            if not standard:
                yield name, measure


def numbers_of_the_parts() -> str:
    """What a limit on a part can be called: name, meaning, formula, interval."""
    described = limits()
    tables: dict[str, list[tuple[Any, ...]]] = {}
    for part, measure in part_numbers():
        formula, interval = described[part].get(measure.name, (measure.meaning, ""))
        better = {"high": "high", "low": "low", "neither": ""}[measure.better]
        row = (f"`{part}.{measure.name}`", measure.label, formula, interval, better)
        tables.setdefault(part, []).append(row)
    head = ("limit", "number", "formula", "interval", "better")
    return "\n".join(
        f"## {part.title()}\n\n{_table(head, rows)}\n" for part, rows in tables.items()
    )


KINDS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "configuration": configuration,
    "standard numbers": standard_numbers,
    "numbers of the parts": numbers_of_the_parts,
}


def current(text: str) -> str:
    """A page with every marked piece as the program has it now."""
    return _MARK.sub(lambda found: f"{KINDS[found[1]]()}\n", text)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page."""
    return current(markdown)
