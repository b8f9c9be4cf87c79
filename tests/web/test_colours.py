import re
from importlib.resources import files

import pytest

CSS = (files("fireassay.web") / "static" / "app.css").read_text()
ON_PAPER_AND_CARD = ("ink", "soft", "accent", "good", "bad", "warn")
PAIRS = [
    *((text, ground, 4.5) for text in ON_PAPER_AND_CARD for ground in ("paper", "card")),
    ("good", "goodbg", 4.5),
    ("bad", "badbg", 4.5),
    ("warn", "warnbg", 4.5),
    ("ink", "plainbg", 4.5),
    ("on-accent", "accent", 4.5),
    ("edge", "paper", 3.0),
    ("edge", "card", 3.0),
    ("focus", "paper", 3.0),
    ("focus", "card", 3.0),
]


def colours():
    light, dark = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
    read = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block)) for block in (light, dark)]
    return {"light": read[0], "dark": {**read[0], **read[1]}}


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground", "least"), PAIRS)
def test_contrast_is_aa(theme, text, ground, least):
    found = colours()[theme]
    high, low = sorted((luminance(found[text]), luminance(found[ground])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= least
