"""Doctests at the end of a docstring stand under a heading of their own in the reference."""

import re
from typing import Any

import griffe

_FIRST = re.compile(r"^>>>", re.MULTILINE)


class DoctestHeading(griffe.Extension):
    """Puts "Examples" over the first doctest, where the docstring does not."""

    def on_object(self, *, obj: griffe.Object, **others: Any) -> None:
        """Change the docstring of one object."""
        del others
        if obj.docstring is None:
            return
        text = obj.docstring.value
        first = _FIRST.search(text)
        if first is not None and "Examples\n---" not in text[: first.start()]:
            start = first.start()
            obj.docstring.value = f"{text[:start]}Examples\n--------\n{text[start:]}"
