"""Percentages as text, and text that is safe to print on a terminal."""

import re


def percent(share: float, decimals: int = 0) -> str:
    """A share in per cent, such as 1.2 %."""
    return f"{100 * share:.{decimals}f} %"


def p_text(p: float) -> str:
    """A p-value in a sentence; how far it is below a thousandth says nothing more."""
    return "p below 0.001" if p < 0.001 else f"p = {p:.2g}"


_NAMES = ("Brier", "Cohen", "Matthews")


def within_a_sentence(text: str) -> str:
    """A sentence or a label as a part of another: lower case, unless it begins with a name."""
    second = text[1:2]
    kept = second.isupper() or second in (" ", "1") or text.startswith(_NAMES)
    return text if kept else text[:1].lower() + text[1:]


# Controls but tab and line end, and marks that turn the direction of writing.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with everything that a terminal would obey written out; strict JSON stays equal."""
    return _ACTING.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
