"""The reference of commands, keys and limits is made from the program, and leaves nothing out."""

import importlib.util
from pathlib import Path

import pytest

from fireassay.assessment.init import config_schema
from fireassay.assessment.parts.table import PARTS
from fireassay.statistics.numbers.number_registry import NUMBERS

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("docs_reference", DOCS / "reference.py")
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)


def page(name):
    return reference.current((DOCS / "reference" / f"{name}.md").read_text(encoding="utf-8"))


def test_every_command_stands_there_with_every_option_and_an_example():
    text = page("commands")
    commands = dict(reference.every_command())
    assert {"fireassay judge", "fireassay label next", "fireassay survival model"} <= set(commands)
    for name, command in commands.items():
        section = text.split(f"## {name}\n", 1)[1].split("\n## ", 1)[0]
        assert "```sh\nfireassay " in section, name
        for parameter in command.params:
            if parameter.name != "help" and not getattr(parameter, "hidden", False):
                assert f"| `{', '.join(parameter.opts)}` |" in section, (name, parameter.name)
    assert "TyperPath" not in text
    assert "typing." not in text


def test_every_key_of_the_configuration_stands_under_its_table():
    text = page("configuration")
    for table, key, value in reference.every_key():
        section = text.split(f"## [{table}]\n", 1)[1].split("\n## ", 1)[0]
        row = next(line for line in section.splitlines() if line.startswith(f"| `{key or 'NAME'}`"))
        assert not row.rstrip().endswith("|  |"), (table, key)  # every key says what it means
        assert value is not None
    named = {table.split(".")[0] for table, _, _ in reference.every_key()}
    assert named == set(config_schema()["properties"])


@pytest.mark.parametrize("part", PARTS)
def test_every_number_of_a_part_has_a_formula_and_an_interval(part):
    text, rows = page("limits"), reference.limits()[part]
    own = [measure for name, measure in reference.part_numbers() if name == part]
    for measure in own:
        assert f"| `{part}.{measure.name}` |" in text
        formula, interval = rows.get(measure.name, ("", ""))
        assert "" not in (formula, interval), f"docs/limits.toml lacks {part}.{measure.name}"


def test_every_standard_number_has_a_formula_and_its_aliases():
    text, formulas = page("limits"), reference.limits()["standard"]
    assert set(formulas) == {number.name for number in NUMBERS}
    for number in NUMBERS:
        (row,) = [
            line
            for line in text.splitlines()
            if line.startswith((f"| `{number.name}` |", f"| `{number.name}[c]` |"))
        ]
        assert number.label in row
        assert all(f"`{alias}`" in row for alias in number.aliases)
