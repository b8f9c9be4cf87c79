"""Tables of the docs that are made from the code when the docs are built.

A page says which table stands where:

    <!-- registry: fireassay.ambiguity:PRESETS -->
    <!-- measures: fireassay.ambiguity:MEASURES -->
    <!-- table: fireassay.supervision.registry:markdown -->
"""

import importlib
import re
from collections.abc import Callable
from typing import Any

_MARK = re.compile(r"<!-- (registry|measures|table): ([\w.]+):(\w+) -->\n")


def _registry(registry: Any) -> str:
    return str(registry.markdown())


def _measures(measures: Any) -> str:
    lines = ["| number | what people read | unit | better | meaning |", "|---|---|---|---|---|"]
    lines += [f"| `{m.name}` | {m.label} | {m.unit} | {m.better} | {m.meaning} |" for m in measures]
    return "\n".join(lines)


def _table(make: Callable[[], str]) -> str:
    return make()


KINDS: dict[str, Callable[[Any], str]] = {
    "registry": _registry,
    "measures": _measures,
    "table": _table,
}


def current(text: str) -> str:
    """A page with every marked table as the code has it now."""

    def table(found: re.Match[str]) -> str:
        kind, module, name = found.groups()
        return f"{KINDS[kind](getattr(importlib.import_module(module), name))}\n"

    return _MARK.sub(table, text)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for every page: the tables are made while the docs are built."""
    return current(markdown)
