"""Docstrings as the reference shows them: sections with heads, doctests under a heading."""

import re
from typing import Any

import griffe

_FIRST = re.compile(r"^>>>", re.MULTILINE)
_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Warns):\n((?:    .*\n?)+)", re.MULTILINE)
_ENTRY = re.compile(r"^    (?=\S)", re.MULTILINE)
_NAMED = re.compile(r"(\w[\w, ]*|\(.*?\)): ")


def entries(section: str) -> list[tuple[str, str]]:
    """Names of each entry of a section, and what is said about them.

    >>> entries("    low, high: Ends of the\\n        interval.\\n    n: Rows.\\n")
    [('low, high', 'Ends of the interval.'), ('n', 'Rows.')]
    """
    found = []
    for entry in _ENTRY.split(section)[1:]:
        text = " ".join(entry.split())
        named = _NAMED.match(text)
        found.append((named[1], text[named.end() :]) if named else ("", text))
    return found


def expanded(text: str) -> str:
    """A docstring with ``Args:`` and the like in the form that the reference's parser reads."""

    def section(match: re.Match[str]) -> str:
        kind = "Parameters" if match[1] == "Args" else match[1]
        said = entries(match[2])
        if kind == "Returns" and not any(name for name, _ in said):
            said = [("", " ".join(words for _, words in said))]
        listed = "\n".join(f"{name or '_'}\n    {words}" for name, words in said)
        return f"{kind}\n{'-' * len(kind)}\n{listed}\n"

    *_, last = [None, *_SECTION.finditer(text)]
    if last is None:
        return text
    note = text[last.end() :].strip("\n")
    if note and not note.startswith(">>>"):
        text = f"{text[: last.end()]}\nNotes\n-----\n{note}\n"
    return _SECTION.sub(section, text)


class DoctestHeading(griffe.Extension):
    """Expands the sections, and puts "Examples" over the first doctest."""

    def on_object(self, *, obj: griffe.Object, **others: Any) -> None:
        """Change the docstring of one object."""
        del others
        if obj.docstring is None:
            return
        text = expanded(obj.docstring.value)
        first = _FIRST.search(text)
        if first is not None and "Examples\n---" not in text[: first.start()]:
            start = first.start()
            text = f"{text[:start]}Examples\n--------\n{text[start:]}"
        obj.docstring.value = text
