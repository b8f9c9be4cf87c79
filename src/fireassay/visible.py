"""Text for a terminal, in which nothing acts: names may hold the terminal's own commands."""

import re

# Controls but tab and line end, and marks that turn the direction of writing.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with everything that a terminal would obey written out; strict JSON stays equal.

    >>> print(visible("class \\x1b[2Jone"))
    class \\u001b[2Jone
    """
    return _ACTING.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
